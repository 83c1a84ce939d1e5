/* A controller that checks its inputs against what it has requested, and marks a row as failed if it finds a
 * flaw. Its accelerations depend on every byte that it sees, so two runs are equal only if these are. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef MINOR
#define MINOR RW_ABI_MINOR
#endif
#ifndef GROUPS
#define GROUPS (RW_NEED_MOTION | RW_NEED_VEHICLES | RW_NEED_PATH | RW_NEED_NEAR)
#endif
#ifndef KIND
#define KIND RW_KIND_CONTROLLER
#endif
#ifndef CAPS
#define CAPS 0
#endif
#ifndef MOST
#define MOST 60
#endif
#ifndef SPACING
#define SPACING 0.5
#endif
#ifndef NEAR_MOST
#define NEAR_MOST 12
#endif
#ifndef RADIUS
#define RADIUS 40.0
#endif
#ifndef MIN_HOST
#define MIN_HOST 0
#endif
#ifndef NEEDS_SIZE
#define NEEDS_SIZE (MINOR < 4 ? 40 : sizeof(rw_needs))
#endif

struct rw_instance {
  double reach;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != KIND) return RW_E_UNSUPPORTED;
  *out = calloc(1, sizeof **out);
  if (!*out) return RW_E_FAILED;
  (*out)->reach = 20.0;
  return RW_OK;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t needs(rw_instance *self, rw_needs *out) {
  if (out->size < NEEDS_SIZE || (MINOR < 4 && out->size != 40)) return RW_E_ARGUMENT;
  out->groups = GROUPS;
  out->path_most = MOST;
  out->path_distance = self->reach;
  out->path_time = 1.0;
  out->path_spacing = SPACING;
  if (GROUPS & RW_NEED_NEAR) {
    out->near_radius = RADIUS;
    out->near_most = NEAR_MOST;
  }
  return RW_OK;
}

static uint32_t param_count(rw_instance *self) {
  (void)self;
  return 1;
}

static int32_t param_info(rw_instance *self, uint32_t index, rw_param_info *out) {
  (void)self;
  if (index > 0) return RW_E_ARGUMENT;
  memset(out, 0, sizeof *out);
  strcpy(out->key, "reach");
  strcpy(out->unit, "m");
  strcpy(out->doc, "Reach of the path.");
  out->min = 1.0, out->max = 100.0, out->default_value = 20.0;
  return RW_OK;
}

static int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  (void)index;
  *out = self->reach;
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  (void)index;
  self->reach = value;
  return RW_OK;
}

/* ---- what it sees -------------------------------------------------------------------------- */

static void mix(uint64_t *sum, const void *bytes, size_t length) {
  const unsigned char *from = bytes;
  for (size_t at = 0; at < length; at++) *sum = (*sum ^ from[at]) * UINT64_C(0x100000001b3);
}

static int is_zero(const void *bytes, size_t length) {
  const unsigned char *from = bytes;
  for (size_t at = 0; at < length; at++)
    if (from[at]) return 0;
  return 1;
}

static int is_sound_path(const rw_instance *self, const rw_controller_input *in, rw_view path, uint64_t *sum) {
  if (path.count != in->path_count || path.count > MOST) return 0;
  if (path.count == 0) return 1;
  const rw_path_point *first = rw_at(path, 0);
  if (first->s > in->path_s + 1e-9 || first->s < in->path_s - SPACING - 1e-9) return 0;
  const rw_path_point *last = rw_at(path, path.count - 1);
  double reach = fmax(self->reach, in->speed);
  if (path.count < MOST && last->s < in->path_s + reach - 1e-9) return 0;
  for (uint32_t index = 0; index < path.count; index++) {
    const rw_path_point *point = rw_at(path, index);
    double number = point->s / SPACING;
    if (fabs(number - round(number)) > 1e-6 || fabs(point->heading) > 3.1416) return 0;
    if (!(fabs(point->curvature) < 4.0) || !(point->speed >= 0.0) || point->left + point->right <= 0.0) return 0;
    mix(sum, point, sizeof *point);
  }
  return 1;
}

/* Whether the nearby objects of a row are in order, within the limits, and in agreement with the list of objects. */
static int is_sound_near(const rw_batch *batch, uint32_t row, uint64_t *sum) {
  const rw_controller_input *in = rw_input(batch, row);
  rw_view objects = rw_view_of(batch, RW_VIEW_OBJECTS), outlines = rw_view_of(batch, RW_VIEW_OUTLINES);
  rw_view near = rw_part(rw_view_of(batch, RW_VIEW_NEAR), in->near_first, in->near_count);
  if (near.count != in->near_count || near.count > NEAR_MOST) return 0;
  if (in->object == RW_NO_INDEX) return objects.count == 0 && near.count == 0; /* without a world */
  if (in->near_more && near.count != NEAR_MOST) return 0;
  if (in->object >= objects.count) return 0;
  const rw_object *own = rw_at(objects, in->object);
  /* In trials, all agents share the vehicle 100. */
  if ((own->id != batch->agent_ids[row] && own->id != 100) || !(own->flags & RW_OBJECT_IS_AGENT) || own->part) return 0;
  mix(sum, own, sizeof *own);
  const rw_near *last = NULL;
  uint64_t last_id = 0;
  for (uint32_t index = 0; index < near.count; index++) {
    const rw_near *one = rw_at(near, index);
    if (one->object >= objects.count || !(one->distance >= 0.0) || one->distance > RADIUS) return 0;
    const rw_object *object = rw_at(objects, one->object);
    if (object->flags & RW_OBJECT_IS_AGENT && object->id == own->id) return 0;
    if (object->kind == RW_OBJECT_TREE && !(GROUPS & RW_NEED_TREES)) return 0;
    if (object->kind < RW_OBJECT_VEHICLE || object->kind > RW_OBJECT_TREE) return 0;
    rw_view outline = rw_part(outlines, object->outline, object->outline_count);
    if (outline.count != object->outline_count || object->outline_count == 1 || object->outline_count == 2) return 0;
    if (last && (one->distance < last->distance || (one->distance == last->distance && object->id < last_id))) return 0;
    if (GROUPS & RW_NEED_MOTION) {
      double x = in->x + one->ahead * cos(in->heading) - one->left * sin(in->heading);
      double y = in->y + one->ahead * sin(in->heading) + one->left * cos(in->heading);
      if (fabs(x - object->x) + fabs(y - object->y) > 1e-6) return 0;
    }
    for (uint32_t corner = 0; corner < outline.count; corner++) mix(sum, rw_at(outline, corner), sizeof(rw_point));
    mix(sum, object, sizeof *object);
    mix(sum, one, sizeof *one);
    last = one, last_id = object->id;
  }
  return 1;
}

static int is_sound(const rw_instance *self, const rw_batch *batch, uint32_t row, uint64_t *sum) {
  const rw_controller_input *in = rw_input(batch, row);
  mix(sum, in, batch->input_stride < sizeof *in ? batch->input_stride : sizeof *in);
  if (MINOR < 3 || GROUPS == 0) return batch->input_stride == 128 && batch->size == 112;
  uint32_t row_size = MINOR < 4 ? 272 : sizeof *in;
  if (batch->input_stride != row_size || batch->size != offsetof(rw_batch, poses)) return 0;
  if (batch->view_count != (MINOR < 4 ? 3 : MINOR < 5 ? 6 : 9)) return 0;
  rw_view vehicles = rw_view_of(batch, RW_VIEW_VEHICLES), hitches = rw_view_of(batch, RW_VIEW_HITCHES);
  rw_view points = rw_view_of(batch, RW_VIEW_PATH);
  size_t motion = offsetof(rw_controller_input, x), route = offsetof(rw_controller_input, route_version);
  if (!(GROUPS & RW_NEED_MOTION) && !is_zero((const char *)in + motion, route - motion)) return 0;
  if ((GROUPS & RW_NEED_MOTION) && in->x == 0.0 && in->y == 0.0) return 0;
  if (GROUPS & RW_NEED_VEHICLES) {
    if (in->vehicle == RW_NO_INDEX) return points.count == 0; /* without a world */
    if (in->vehicle >= vehicles.count) return 0;
    const rw_vehicle *car = rw_at(vehicles, in->vehicle);
    if (car->wheelbase != in->wheelbase || car->axle_to_front + car->axle_to_rear != car->length) return 0;
    rw_view trailers = rw_part(hitches, car->hitches, car->hitch_count);
    if (trailers.count != car->hitch_count) return 0;
    mix(sum, car, sizeof *car);
  } else if (in->vehicle != RW_NO_INDEX || vehicles.count || hitches.count) return 0;
  if (GROUPS & RW_NEED_NEAR) {
    if (!is_sound_near(batch, row, sum)) return 0;
  } else if (MINOR >= 4) {
    rw_view objects = rw_view_of(batch, RW_VIEW_OBJECTS), near = rw_view_of(batch, RW_VIEW_NEAR);
    if (objects.count || near.count || in->near_first || in->near_count || in->near_more) return 0;
    if (in->object != RW_NO_INDEX) return 0;
  }
  if (GROUPS & RW_NEED_PATH)
    return is_sound_path(self, in, rw_part(points, in->path, in->path_count), sum);
  return points.count == 0 && in->path_count == 0 && in->path_s == 0.0 && in->route_version == 0;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = rw_input(batch, row);
    rw_controller_output *out = rw_output(batch, row);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    int sound = is_sound(self, batch, row, &sum);
    double gap = fmin(fmin(in->leader_gap, in->stop_distance), in->obstacle_distance) - 3.0;
    double wanted = fmin(in->road_speed, sqrt(4.0 * fmax(gap, 0.0)));
    out->acceleration = fmax(-7.0, fmin(1.5, wanted - in->speed)) + 1e-6 * (double)(sum % 1000);
    out->steering = atan(in->wheelbase * 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5));
    batch->status[row] = sound ? RW_ROW_OK : RW_ROW_FAILED;
  }
  return RW_OK;
}

#ifdef PEDALS
/* The drives have to be at the ends of the rows. */
static int32_t press(rw_instance *self, rw_batch *batch, const void *drives, uint32_t stride) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = rw_input(batch, row);
    const rw_drive_input *drive = (const void *)((const char *)drives + (size_t)row * stride);
    rw_pedals_output *out = rw_output(batch, row);
    rw_view path = rw_part(rw_view_of(batch, RW_VIEW_PATH), in->path, in->path_count);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    int sound = is_sound_path(self, in, path, &sum) && drive->full_brake < drive->coasting;
    if (GROUPS & RW_NEED_NEAR) sound = sound && is_sound_near(batch, row, &sum);
    double gap = fmin(fmin(in->leader_gap, in->stop_distance), in->obstacle_distance) - 3.0;
    double wanted = fmin(in->road_speed, sqrt(4.0 * fmax(gap, 0.0)));
    rw_drive_pedals(drive, fmax(-7.0, fmin(1.5, wanted - in->speed)) + 1e-6 * (double)(sum % 1000), out);
    out->steering = atan(in->wheelbase * 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5));
    out->gear = 0.0;
    batch->status[row] = sound ? RW_ROW_OK : RW_ROW_FAILED;
  }
  return RW_OK;
}

#endif

/* With LATER, tables and description are those of a later version: longer, with 0x55 in what is new. */
#ifdef LATER
#define NEW unsigned char more[64];
#define NEW_SIZE 64
#define FILLED , "UUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUU"
#else
#define NEW
#define NEW_SIZE 0
#define FILLED
#endif

#ifdef PEDALS
static const struct {
  rw_pedals_extension known;
  NEW
} PRESS = {{sizeof(rw_pedals_extension) + NEW_SIZE, 0, press} FILLED};
#endif
static const struct {
  rw_needs_extension known;
  NEW
} NEEDS = {{sizeof(rw_needs_extension) + NEW_SIZE, 0, needs} FILLED};

static int is(const char *id, uint64_t length, const char *known) {
  return length == strlen(known) && memcmp(id, known, length) == 0;
}

static const void *get_extension(const char *id, uint64_t length) {
#ifdef PEDALS
  if (is(id, length, RW_PEDALS_EXTENSION)) return &PRESS;
#endif
  return is(id, length, RW_NEEDS_EXTENSION) ? &NEEDS : NULL;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
#ifdef EXITS
  exit(77); /* its code may not run */
#endif
  rw_api api = {.create = create,
                .destroy = destroy,
                .step = step,
                .param_count = param_count,
                .param_info = param_info,
                .param_get = param_get,
                .param_set = param_set,
                .get_extension = get_extension};
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  memcpy(out, &api, api.size);
  return RW_OK;
}

#ifdef LATER
/* The symbol of the description, which is longer than the header knows. */
RW_EXPORT extern const struct later_info described __asm__("rw_plugin_info_v1");
const struct later_info {
  rw_plugin_info known;
  NEW
} described = {{
#else
const rw_plugin_info rw_plugin_info_v1 = {
#endif
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info) + NEW_SIZE,
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = MINOR,
    .min_host_minor = MIN_HOST,
    .kinds = KIND,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC | RW_CAP_ALONG_BEND | CAPS,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Needs",
    .id = "org.roadwright.needs",
    .version = "1.0.0",
    .doc = "Checks what it sees.",
#ifdef LATER
} FILLED
#endif
};

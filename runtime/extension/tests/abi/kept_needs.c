/* A controller that checks what it sees against what it has asked for by interface 1.3, and marks a row as failed
 * if it finds a flaw, such as longer rows or more views. Its accelerations depend on every byte that it sees, so two
 * runs are equal only if these are. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef MINOR
#define MINOR 3
#endif
#ifndef GROUPS
#define GROUPS (RW_NEED_MOTION | RW_NEED_VEHICLES | RW_NEED_PATH)
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
#ifdef PEDALS
#define STRIDE 376
#define ID "org.roadwright.kept.needs.pedals"
#else
#define STRIDE 272
#define ID "org.roadwright.kept.needs"
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
  if (out->size != 40) return RW_E_ARGUMENT;
  out->groups = GROUPS;
  out->path_most = MOST;
  out->path_distance = self->reach;
  out->path_time = 1.0;
  out->path_spacing = SPACING;
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

static int is_sound(const rw_instance *self, const rw_batch *batch, uint32_t row, uint64_t *sum) {
  const rw_controller_input *in = rw_input(batch, row);
  mix(sum, in, 272);
  if (MINOR < 3 || GROUPS == 0) return batch->input_stride == 128 && batch->size == 112;
  if (batch->input_stride != STRIDE || batch->size != 128 || batch->view_count != 3) return 0;
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
    int sound = batch->input_stride == STRIDE && is_sound_path(self, in, path, &sum) && drive->full_brake < drive->coasting;
    double gap = fmin(fmin(in->leader_gap, in->stop_distance), in->obstacle_distance) - 3.0;
    double wanted = fmin(in->road_speed, sqrt(4.0 * fmax(gap, 0.0)));
    rw_drive_pedals(drive, fmax(-7.0, fmin(1.5, wanted - in->speed)), out);
    out->steering = atan(in->wheelbase * 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5));
    out->gear = 0.0;
    batch->status[row] = sound ? RW_ROW_OK : RW_ROW_FAILED;
  }
  return RW_OK;
}

static const rw_pedals_extension PRESS = {sizeof PRESS, 0, press};
#endif

static const rw_needs_extension NEEDS = {sizeof NEEDS, 0, needs};

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

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = MINOR,
    .kinds = KIND,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC | RW_CAP_ALONG_BEND | CAPS,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Needs",
    .id = ID,
    .version = "1.0.0",
    .doc = "Checks what it sees.",
};

/* A law over the path and nearby objects that takes less than a microsecond, as a plugin and as a plain function, to measure the
 * cost of the interface. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rw_instance {
  int unused;
};

/* The law for one row. */
RW_EXPORT void law_row(const rw_controller_input *in, rw_view path, rw_view near, rw_controller_output *out);

RW_EXPORT void law_row(const rw_controller_input *in, rw_view path, rw_view near, rw_controller_output *out) {
  double push = 0.0, turn = 0.0, room = RW_NOTHING;
  for (uint32_t index = 0; index < path.count; index++) {
    const rw_path_point *point = rw_at(path, index);
    const double x = point->x - in->x, y = point->y - in->y, away = 1.0 + sqrt(x * x + y * y);
    turn += sin(point->heading - in->heading) / away + point->curvature / away;
    push += (point->speed - in->speed) / (away * away);
  }
  for (uint32_t index = 0; index < near.count; index++) {
    const rw_near *other = rw_at(near, index);
    if (other->path_distance > 0.0 && fabs(other->path_offset) < 2.0) room = fmin(room, other->distance);
    push -= other->velocity_ahead < 0.0 ? 0.1 / (1.0 + other->distance) : 0.0;
  }
  out->acceleration = fmin(1.5, fmax(-8.0, fmin(push, 0.5 * (room - 3.0) - in->speed * 0.1)));
  out->steering = fmin(0.5, fmax(-0.5, atan(in->wheelbase * 0.05 * turn)));
}

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  *out = calloc(1, sizeof **out);
  return *out ? RW_OK : RW_E_FAILED;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t needs(rw_instance *self, rw_needs *out) {
  (void)self;
  out->groups = RW_NEED_MOTION | RW_NEED_PATH | RW_NEED_NEAR;
  out->path_distance = 15.0, out->path_time = 1.5, out->path_spacing = 0.5, out->path_most = 40;
  out->near_radius = 40.0, out->near_most = 8;
  return RW_OK;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  (void)self;
  const rw_view points = rw_view_of(batch, RW_VIEW_PATH), pairs = rw_view_of(batch, RW_VIEW_NEAR);
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = rw_input(batch, row);
    law_row(in, rw_part(points, in->path, in->path_count), rw_part(pairs, in->near_first, in->near_count),
            rw_output(batch, row));
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static const rw_needs_extension NEEDS = {sizeof NEEDS, 0, needs};

static const void *get_extension(const char *id, uint64_t length) {
  return length == strlen(RW_NEEDS_EXTENSION) && memcmp(id, RW_NEEDS_EXTENSION, length) == 0 ? &NEEDS : NULL;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {.create = create, .destroy = destroy, .step = step, .get_extension = get_extension};
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = RW_ABI_MINOR,
    .min_host_minor = 4,
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS | RW_CAP_PARALLEL_SLICES | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Law",
    .id = "org.roadwright.law",
    .version = "1.0.0",
    .doc = "A law to be measured.",
};

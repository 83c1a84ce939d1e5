/* new_controller: a controller for Roadwright.
 *
 * A controller that wants throttle, brake and gears instead of an acceleration also offers
 * rw_pedals_extension: see the header. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACCELERATION, BRAKING, HEADWAY };

/* ---- parameters ---------------------------------------------------------------------------- */

typedef struct parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
} parameter;

static const parameter PARAMETERS[] = {
    {"acceleration", "m/s^2", "Acceleration on a free road from rest.", 0.1, 5.0, 1.5},
    {"braking", "m/s^2", "Comfortable deceleration.", 0.5, 8.0, 2.5},
    {"headway", "s", "Time gap to the leader.", 0.2, 4.0, 1.2},
};
enum { PARAMETER_COUNT = sizeof PARAMETERS / sizeof PARAMETERS[0] };

struct rw_instance {
  double values[PARAMETER_COUNT];
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  (void)kind;
  rw_instance *self = (rw_instance *)malloc(sizeof *self);
  if (!self) return RW_E_FAILED;
  for (int i = 0; i < PARAMETER_COUNT; i++) self->values[i] = PARAMETERS[i].default_value;
  *out = self;
  return RW_OK;
}

static void destroy(rw_instance *self) { free(self); }

static uint32_t param_count(rw_instance *self) {
  (void)self;
  return PARAMETER_COUNT;
}

static int32_t param_info(rw_instance *self, uint32_t index, rw_param_info *out) {
  (void)self;
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  const parameter *p = &PARAMETERS[index];
  memset(out, 0, sizeof *out);
  strncpy(out->key, p->key, sizeof out->key - 1);
  strncpy(out->label, p->key, sizeof out->label - 1);
  strncpy(out->unit, p->unit, sizeof out->unit - 1);
  strncpy(out->doc, p->doc, sizeof out->doc - 1);
  out->min = p->min;
  out->max = p->max;
  out->default_value = p->default_value;
  return RW_OK;
}

static int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  *out = self->values[index];
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  self->values[index] = value;
  return RW_OK;
}

static double squared_ratio(double wanted, double distance) {
  double ratio = wanted / fmax(distance, 0.1);
  return ratio * ratio;
}

/* The intelligent driver model, steered along a circle through a point ahead. */
static void control(const rw_instance *self, const rw_controller_input *in,
                    rw_controller_output *out) {
  double a = self->values[ACCELERATION], b = self->values[BRAKING];
  double closing = in->speed * (in->speed - in->leader_speed) / (2.0 * sqrt(a * b));
  double follow = 2.0 + fmax(0.0, in->speed * self->values[HEADWAY] + closing);
  double stop = 0.5 + 0.5 * in->speed + in->speed * in->speed / (2.0 * b);
  /* A desired speed of 0 means stop. */
  double free_road = in->road_speed > 0.0 ? fmin(in->speed / in->road_speed, 2.0)
                                          : (in->speed > 0.0 ? 2.0 : 1.0);
  double hindered = fmax(squared_ratio(follow, in->leader_gap),
                         fmax(squared_ratio(stop, in->stop_distance),
                              squared_ratio(stop, in->obstacle_distance)));
  out->acceleration = fmax(-8.0, a * (1.0 - pow(free_road, 4.0) - hindered));
  double curvature = 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5);
  out->steering = atan(in->wheelbase * curvature);
}

/* ---- the law ------------------------------------------------------------------------------- */

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = (const rw_controller_input *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out = (rw_controller_output *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    control(self, in, out);
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api;
  memset(&api, 0, sizeof api);
  api.size = sizeof api < out->size ? (uint32_t)sizeof api : out->size;
  api.create = create;
  api.destroy = destroy;
  api.step = step;
  api.param_count = param_count;
  api.param_info = param_info;
  api.param_get = param_get;
  api.param_set = param_set;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    RW_MAGIC, sizeof(rw_plugin_info), RW_ABI_MAJOR, RW_ABI_MINOR, 0, 0,
    RW_KIND_CONTROLLER, RW_CAP_STATELESS | RW_CAP_DETERMINISTIC, RW_ROW_SCHEMA,
    "new_controller", "com.example.new_controller", "0.1.0", "", "c", "", "The intelligent driver model."};

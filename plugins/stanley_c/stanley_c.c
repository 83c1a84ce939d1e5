/* Stanley's steering (Hoffmann, Tomlin, Montemerlo and Thrun, 2007) for Roadwright, in C.
 *
 * The front wheels turn against the heading error, and towards the lane's centre by an angle
 * that grows with the lateral offset and shrinks with the speed. Off the lanes the vehicle is
 * steered along the circle through the waypoint. It keeps a time gap and stops by a braking law. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---------------------------------------------------------------------------- */

typedef struct parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
} parameter;

enum { CROSS_TRACK_GAIN, SOFTENING, LOOKAHEAD_TIME, LOOKAHEAD, SPEED_GAIN, HEADWAY, BRAKING };

static const parameter PARAMETERS[] = {
    {"cross_track_gain", "1/s", "Gain of steering towards the lane's centre.", 0.0, 10.0, 1.2},
    {"softening", "m/s", "Added to the speed, so that steering is calm at low speeds.", 0.1, 10.0, 1.5},
    {"lookahead_time", "s", "Lookahead time for the lane's curvature.", 0.0, 3.0, 0.4},
    {"lookahead", "m", "Minimum lookahead distance.", 1.0, 30.0, 3.0},
    {"speed_gain", "1/s", "Acceleration per unit of speed error.", 0.1, 5.0, 0.9},
    {"headway", "s", "Time gap to the leader.", 0.2, 4.0, 1.2},
    {"braking", "m/s^2", "Deceleration for planning stops.", 0.5, 8.0, 2.5},
};
enum { PARAMETER_COUNT = sizeof PARAMETERS / sizeof PARAMETERS[0] };

struct rw_instance {
  double values[PARAMETER_COUNT];
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  rw_instance *self = malloc(sizeof *self);
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

/* ---- the law ------------------------------------------------------------------------------- */

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

static double steering(const double *p, const rw_controller_input *in) {
  if (in->lane_offset == 0.0 && in->heading_error == 0.0 && in->path_curvature == 0.0) {
    double curvature = 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5);
    return atan(in->wheelbase * curvature);
  }
  /* The law uses the position of the front axle. */
  double front = in->lane_offset + in->wheelbase * sin(in->heading_error);
  double correction = atan2(p[CROSS_TRACK_GAIN] * front, p[SOFTENING] + in->speed);
  double bend = atan(in->wheelbase * in->path_curvature);
  return clamp(bend - in->heading_error - correction, -0.9, 0.9);
}

/* Highest speed from which the vehicle can slow down to another speed within a gap. */
static double safe_speed(double braking, double gap, double speed) {
  return sqrt(speed * speed + 2.0 * braking * fmax(gap, 0.0));
}

static double acceleration(const double *p, const rw_controller_input *in) {
  double gap = in->leader_gap - 2.0 - 0.5 * p[HEADWAY] * in->speed;
  double aside = in->obstacle_distance * sin(fmin(fabs(in->obstacle_angle), 1.5));
  double obstacle = aside < 1.5 ? in->obstacle_distance - 2.0 : RW_NOTHING;
  double wanted = in->road_speed;
  wanted = fmin(wanted, safe_speed(p[BRAKING], gap, in->leader_speed));
  wanted = fmin(wanted, safe_speed(p[BRAKING], in->stop_distance - 0.5 - 0.3 * in->speed, 0.0));
  wanted = fmin(wanted, safe_speed(p[BRAKING], obstacle - 0.3 * in->speed, 0.0));
  double missing = wanted - in->speed;
  return clamp((missing < 0.0 ? 4.0 : 1.0) * p[SPEED_GAIN] * missing, -8.0, 1.8);
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  const char *inputs = batch->inputs;
  char *outputs = batch->outputs;
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = (const void *)(inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out = (void *)(outputs + (size_t)row * batch->output_stride);
    out->steering = steering(self->values, in);
    out->acceleration = acceleration(self->values, in);
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static int32_t lookahead(rw_instance *self, double *distance, double *time) {
  *distance = self->values[LOOKAHEAD];
  *time = self->values[LOOKAHEAD_TIME];
  return RW_OK;
}

/* ---- exports ------------------------------------------------------------------------------ */

static const rw_controller_extension CONTROLLER = {sizeof CONTROLLER, 0, lookahead};

static const void *get_extension(const char *id, uint64_t length) {
  const char *known = RW_CONTROLLER_EXTENSION;
  return length == strlen(known) && memcmp(id, known, length) == 0 ? &CONTROLLER : NULL;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {
      .create = create,
      .destroy = destroy,
      .step = step,
      .param_count = param_count,
      .param_info = param_info,
      .param_get = param_get,
      .param_set = param_set,
      .get_extension = get_extension,
  };
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = RW_ABI_MINOR,
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS | RW_CAP_PARALLEL_SLICES | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Stanley",
    .id = "com.example.stanley_c",
    .version = "1.0.0",
    .author = "Roadwright",
    .language = "c",
    .doc = "Stanley's steering by heading error and lateral offset.",
};

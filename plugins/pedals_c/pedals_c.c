/* A controller with pedals, in C: throttle, brake and gears for Roadwright.
 *
 * It steers along the circle through the waypoint and plans its speed with a braking law. It then
 * presses the pedals that give the wanted acceleration at this speed, in this gear and on this
 * slope, but never more than the tyres can transmit. It shifts early, as fuel-saving drivers do.
 * A host that does not know pedals calls step, which returns the equivalent acceleration. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---------------------------------------------------------------------------- */

typedef struct parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
} parameter;

enum { SPEED_GAIN, HEADWAY, BRAKING, LOOKAHEAD_TIME, LOOKAHEAD, UP, DOWN };

static const parameter PARAMETERS[] = {
    {"speed_gain", "1/s", "Acceleration per unit of speed error.", 0.1, 5.0, 0.9},
    {"headway", "s", "Time gap to the leader.", 0.2, 4.0, 1.2},
    {"braking", "m/s^2", "Deceleration for planning stops.", 0.5, 8.0, 2.5},
    {"lookahead_time", "s", "Lookahead time of the waypoint.", 0.0, 3.0, 0.6},
    {"lookahead", "m", "Minimum lookahead distance.", 1.0, 30.0, 4.5},
    {"up", "", "Shifts up at this fraction of the engine's range.", 0.3, 1.0, 0.7},
    {"down", "", "Shifts down at this fraction of the engine's range.", 0.05, 0.9, 0.25},
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

static double steering(const rw_controller_input *in) {
  double curvature = 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5);
  return atan(in->wheelbase * curvature);
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

/* The gear for the engine's speed; 0 if there is no gearbox to shift. */
static double gear(const double *p, const rw_drive_input *drive) {
  if (drive->gear < 1.0) return 0.0;
  double range = drive->limit_rpm - drive->idle_rpm;
  double share = range > 0.0 ? (drive->rpm - drive->idle_rpm) / range : 0.0;
  if (share > p[UP] && drive->gear < drive->gears) return drive->gear + 1.0;
  if (share < p[DOWN] && drive->gear > 1.0) return drive->gear - 1.0;
  return drive->gear;
}

static void press(const double *p, const rw_controller_input *in, const rw_drive_input *drive,
                  rw_pedals_output *out) {
  /* Leave a tenth of the grip for the bend. */
  double most = 0.9 * drive->grip;
  double wanted = clamp(acceleration(p, in), drive->coasting - most, drive->coasting + most);
  rw_drive_pedals(drive, wanted, out);
  if (in->speed < 0.2 && wanted <= 0.0) {
    /* Keep the brake pressed while waiting, on slopes as well. */
    out->throttle = 0.0;
    out->brake = 1.0;
  }
  out->hand_brake = 0.0;
  out->gear = gear(p, drive);
  out->steering = steering(in);
}

static const rw_controller_input *input(const rw_batch *batch, uint32_t row) {
  return (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
}

static void *output(const rw_batch *batch, uint32_t row) {
  return (char *)batch->outputs + (size_t)row * batch->output_stride;
}

static int32_t step_pedals(rw_instance *self, rw_batch *batch, const void *drives,
                           uint32_t drive_stride) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_drive_input *drive = (const void *)((const char *)drives + (size_t)row * drive_stride);
    press(self->values, input(batch, row), drive, output(batch, row));
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    rw_controller_output *out = output(batch, row);
    out->steering = steering(input(batch, row));
    out->acceleration = acceleration(self->values, input(batch, row));
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
static const rw_pedals_extension PEDALS = {sizeof PEDALS, 0, step_pedals};

static int is_named(const char *id, uint64_t length, const char *known) {
  return length == strlen(known) && memcmp(id, known, length) == 0;
}

static const void *get_extension(const char *id, uint64_t length) {
  if (is_named(id, length, RW_CONTROLLER_EXTENSION)) return &CONTROLLER;
  if (is_named(id, length, RW_PEDALS_EXTENSION)) return &PEDALS;
  return NULL;
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
    .name = "Pedals",
    .id = "com.example.pedals_c",
    .version = "1.0.0",
    .author = "Roadwright",
    .language = "c",
    .doc = "Drives with throttle, brake and gears.",
};

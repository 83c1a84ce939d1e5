/* A controller with pedals (roadwright.pedals/1) of binary interface 1.1, kept as a binary like those of 1.0: it
 * smooths the throttle for each agent, shifts by the engine's speed, and has a parameter and state. Built once
 * with the header of 1.1:
 *
 *   cc -std=c11 -O2 -s -shared -fPIC -fvisibility=hidden -ffp-contract=off -Iplugins/api/include \
 *     runtime/extension/tests/abi/kept_pedals.c -o pedals-1.1-x86_64-linux.so -lm
 *
 * The test builds it again with today's header and compares both. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef ID
#define ID "org.roadwright.kept.pedals"
#endif

struct rw_instance {
  double *throttle; /* for each agent: its smoothed throttle */
  uint32_t slots;
  double gain;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  *out = calloc(1, sizeof **out);
  if (!*out) return RW_E_FAILED;
  (*out)->gain = 0.8;
  return RW_OK;
}

static void destroy(rw_instance *self) {
  free(self->throttle);
  free(self);
}

static int32_t agents_changed(rw_instance *self, uint32_t slots, const uint32_t *added, uint32_t added_count,
                              const uint32_t *removed, uint32_t removed_count) {
  (void)removed, (void)removed_count;
  double *throttle = realloc(self->throttle, slots * sizeof *throttle);
  if (!throttle && slots) return RW_E_FAILED;
  self->throttle = throttle;
  for (uint32_t i = self->slots; i < slots; i++) throttle[i] = 0.0;
  for (uint32_t i = 0; i < added_count; i++) throttle[added[i]] = 0.0;
  self->slots = slots;
  return RW_OK;
}

static double wanted(const rw_instance *self, const rw_controller_input *in) {
  double gap = fmin(fmin(in->leader_gap, in->stop_distance), in->obstacle_distance) - 3.0;
  double safe = sqrt(4.0 * fmax(gap, 0.0));
  return fmax(fmin(self->gain * (fmin(in->road_speed, safe) - in->speed), 1.5), -7.0);
}

/* Rows of drives lie at their own stride; a host may place them anywhere. */
static int32_t press(rw_instance *self, rw_batch *batch, const void *drives, uint32_t stride) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    const rw_drive_input *drive = (const void *)((const char *)drives + (size_t)row * stride);
    rw_pedals_output *out = (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    if (batch->slots[row] >= self->slots) return RW_E_FATAL;
    double *throttle = &self->throttle[batch->slots[row]];
    rw_drive_pedals(drive, wanted(self, in), out);
    *throttle += 0.5 * (out->throttle - *throttle);
    if (out->throttle > 0.0) out->throttle = *throttle;
    out->hand_brake = 0.0;
    out->gear = drive->gears > 1.0 && drive->rpm > 0.8 * drive->limit_rpm ? fmin(drive->gear + 1.0, drive->gears) : 0.0;
    out->steering = fmax(-0.6, fmin(0.6, in->wheelbase * 2.0 * in->waypoint_angle / (in->waypoint_distance + 0.5)));
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

/* For hosts without pedals. */
static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out = (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->acceleration = wanted(self, in);
    out->steering = 0.0;
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static uint32_t param_count(rw_instance *self) {
  (void)self;
  return 1;
}

static int32_t param_info(rw_instance *self, uint32_t index, rw_param_info *out) {
  (void)self;
  if (index) return RW_E_ARGUMENT;
  memset(out, 0, sizeof *out);
  strcpy(out->key, "gain");
  strcpy(out->unit, "1/s");
  strcpy(out->doc, "Acceleration per unit of speed error.");
  out->max = 5;
  out->default_value = 0.8;
  return RW_OK;
}

static int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  if (index) return RW_E_ARGUMENT;
  *out = self->gain;
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index) return RW_E_ARGUMENT;
  self->gain = value;
  return RW_OK;
}

static int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  *schema = 1;
  return write(ctx, (const uint8_t *)self->throttle, self->slots * sizeof *self->throttle);
}

static int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length, uint32_t schema) {
  if (schema != 1 || length != self->slots * sizeof *self->throttle) return RW_E_STATE;
  if (length) memcpy(self->throttle, bytes, length);
  return RW_OK;
}

static int32_t lookahead(rw_instance *self, double *distance, double *time) {
  (void)self;
  *distance = 5.0;
  *time = 0.5;
  return RW_OK;
}

static const rw_pedals_extension PEDALS = {sizeof PEDALS, 0, press};
static const rw_controller_extension CONTROLLER = {sizeof CONTROLLER, 0, lookahead};

static const void *get_extension(const char *id, uint64_t length) {
  if (length == strlen(RW_PEDALS_EXTENSION) && memcmp(id, RW_PEDALS_EXTENSION, length) == 0) return &PEDALS;
  if (length == strlen(RW_CONTROLLER_EXTENSION) && memcmp(id, RW_CONTROLLER_EXTENSION, length) == 0) return &CONTROLLER;
  return NULL;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {
      .create = create,
      .destroy = destroy,
      .step = step,
      .agents_changed = agents_changed,
      .param_count = param_count,
      .param_info = param_info,
      .param_get = param_get,
      .param_set = param_set,
      .state_save = state_save,
      .state_load = state_load,
      .get_extension = get_extension,
  };
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = 1,
    .abi_minor = 1,
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATE | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Kept pedals",
    .id = ID,
    .version = "1.0.0",
    .author = "Roadwright",
    .language = "c",
    .build_id = "kept",
    .doc = "A controller with pedals of interface 1.1, kept as a binary.",
};

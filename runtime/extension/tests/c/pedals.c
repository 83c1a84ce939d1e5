/* A controller that drives with pedals only, with misbehaviour for tests of the host. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef THROTTLE
#define THROTTLE 0.6
#endif
#ifndef VERSION
#define VERSION "1.0.0"
#endif

struct rw_instance {
  double asked; /* number of rows so far, which is saved state */
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  (void)kind;
  *out = calloc(1, sizeof **out);
  return *out ? RW_OK : RW_E_FAILED;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t press(rw_instance *self, rw_batch *batch, const void *drives, uint32_t stride) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in =
        (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    const rw_drive_input *drive = (const void *)((const char *)drives + (size_t)row * stride);
    rw_pedals_output *out =
        (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    self->asked += 1.0;
#ifdef KEEP
    /* Asks the host to keep its first answer. */
    if (self->asked > KEEP) {
      batch->status[row] = RW_ROW_KEEP;
      continue;
    }
#endif
    double gap = fmin(in->leader_gap, in->stop_distance) - 3.0;
    double safe = sqrt(4.0 * fmax(gap, 0.0));
    double wanted = fmin(2.0 * (fmin(in->road_speed, safe) - in->speed), 1.5);
    rw_drive_pedals(drive, fmax(wanted, -8.0), out);
    if (out->throttle > THROTTLE) out->throttle = THROTTLE;
#ifdef NONSENSE
    out->throttle = 7.0;
#endif
    /* Shifts down and up every second, whatever the gearbox. */
    out->gear = fmod(floor(batch->time), 2.0) + 1.0;
    out->hand_brake = 0.0;
    out->steering = atan(in->wheelbase * 2.0 * sin(in->waypoint_angle) /
                         fmax(in->waypoint_distance, 0.5));
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  *schema = 1;
  return write(ctx, (const uint8_t *)self, sizeof *self);
}

static int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length,
                          uint32_t schema) {
  if (schema != 1 || length != sizeof *self) return RW_E_STATE;
  memcpy(self, bytes, length);
  return RW_OK;
}

#ifdef SHORT
/* A table of an earlier version, which has no function yet. */
static const rw_pedals_extension PEDALS = {8, 0, press};
#else
static const rw_pedals_extension PEDALS = {sizeof PEDALS, 0, press};
#endif

static const void *get_extension(const char *id, uint64_t length) {
  const char *known = RW_PEDALS_EXTENSION;
  return length == strlen(known) && memcmp(id, known, length) == 0 ? &PEDALS : NULL;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {
      .create = create,
      .destroy = destroy,
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
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = RW_ABI_MINOR,
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATE | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Foot",
    .id = "org.roadwright.foot",
    .version = VERSION,
    .doc = "Drives by pedals and by nothing else.",
};

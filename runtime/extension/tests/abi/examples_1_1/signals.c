/* A signal controller: chooses the next stage once more than three vehicles queue for it. Its misbehaviour is
 * selected by definitions, for tests of the host. */
#include "roadwright_plugin.h"

#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION "1.0.0"
#endif
#ifndef MIN_MINOR
#define MIN_MINOR 1
#endif

struct rw_instance {
  double longest;
  uint64_t asked;
  uint32_t slots;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_SIGNAL_CONTROLLER) return RW_E_UNSUPPORTED;
  rw_instance *self = calloc(1, sizeof *self);
  if (!self) return RW_E_FAILED;
  self->longest = 3;
  *out = self;
  return RW_OK;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t decide(rw_instance *self, const rw_signal_input *in) {
  int32_t other = (int32_t)((in->stage + 1) % in->stage_count);
#ifdef EVERY
  /* Decides by its memory, after a number of calls. */
  return self->asked % EVERY == 0 ? other : RW_KEEP_STAGE;
#endif
#ifdef BY_MOVEMENTS
  /* Decides by movements, namely those with green in the other stage. */
  uint32_t queue = 0;
  for (uint32_t i = 0; i < in->movement_count; i++)
    if (in->movements[i].stages & (1u << other)) queue += in->movements[i].queue;
  return queue > self->longest ? other : RW_KEEP_STAGE;
#else
  return in->stages[other].queue > self->longest ? other : RW_KEEP_STAGE;
#endif
}

static int32_t agents_changed(rw_instance *self, uint32_t slots, const uint32_t *added, uint32_t added_count,
                              const uint32_t *removed, uint32_t removed_count) {
  (void)added, (void)added_count, (void)removed, (void)removed_count;
  self->slots = slots;
  return RW_OK;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    /* A plugin with data for each slot would write beyond it. */
    if (batch->slots[row] >= self->slots) return RW_E_FATAL;
    const rw_signal_input *in = (const rw_signal_input *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_signal_output *out = (rw_signal_output *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    self->asked++;
    out->next = decide(self, in);
    batch->status[row] = RW_ROW_OK;
#ifdef WRONG_STAGE
    /* Behaves in its trial, in which no time passes. */
    if (batch->time > 0) out->next = WRONG_STAGE;
#endif
#ifdef LEFT_OPEN
    batch->status[row] = RW_ROW_NOT_WRITTEN;
#endif
#ifdef FAILS
    if (batch->time > 0) return RW_E_FAILED;
#endif
#ifdef CRASH_AFTER
    if (batch->time > CRASH_AFTER) abort();
#endif
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
  strcpy(out->key, "longest");
  strcpy(out->doc, "The longest queue that is left standing.");
  out->max = 100;
  out->default_value = 3;
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index) return RW_E_ARGUMENT;
  self->longest = value;
  return RW_OK;
}

static int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  *schema = 1;
  return write(ctx, (const uint8_t *)&self->asked, sizeof self->asked);
}

static int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length, uint32_t schema) {
  if (schema != 1 || length != sizeof self->asked) return RW_E_STATE;
  memcpy(&self->asked, bytes, sizeof self->asked);
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
  api.agents_changed = agents_changed;
  api.param_count = param_count;
  api.param_info = param_info;
  api.param_set = param_set;
  api.state_save = state_save;
  api.state_load = state_load;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = RW_ABI_MINOR,
    .min_host_minor = MIN_MINOR,
    .kinds = RW_KIND_SIGNAL_CONTROLLER,
    .caps = RW_CAP_STATE | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Signals",
    .id = "org.roadwright.signals",
    .version = VERSION,
    .language = "c",
    .doc = "The next stage once more than three stand for it.",
};

/* new_signal_controller: a signal_controller for Roadwright. */
#include "roadwright_plugin.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST };

/* ---- parameters ---------------------------------------------------------------------------- */

typedef struct parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
} parameter;

static const parameter PARAMETERS[] = {
    {"longest", "s", "Maximum green while other traffic waits.", 5.0, 120.0, 40.0},
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

/* Green lasts while vehicles approach, then goes to the longest queue. */
static int32_t decide(const rw_instance *self, const rw_signal_input *in) {
  if (in->is_extended && in->elapsed < self->values[LONGEST]) return RW_KEEP_STAGE;
  int32_t best = RW_KEEP_STAGE;
  uint32_t longest = 0;
  /* Ties go to the first stage after the current one, so that each gets its turn. */
  for (uint32_t i = 1; i < in->stage_count; i++) {
    uint32_t stage = (in->stage + i) % in->stage_count;
    const rw_signal_stage *other = &in->stages[stage];
    if (!other->is_called || (best != RW_KEEP_STAGE && other->queue <= longest)) continue;
    best = (int32_t)stage;
    longest = other->queue;
  }
  return best;
}

/* ---- the law ------------------------------------------------------------------------------- */

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_signal_input *in = (const rw_signal_input *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_signal_output *out = (rw_signal_output *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->next = decide(self, in);
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
    RW_MAGIC, sizeof(rw_plugin_info), RW_ABI_MAJOR, RW_ABI_MINOR, 1, 0,
    RW_KIND_SIGNAL_CONTROLLER, RW_CAP_STATELESS | RW_CAP_DETERMINISTIC, RW_ROW_SCHEMA,
    "new_signal_controller", "com.example.new_signal_controller", "0.1.0", "", "c", "", "Green goes to the longest queue once no more vehicles arrive."};

/* A fitness in C that scores aspects of a drive other than its speed: collisions, arrival, distance to the
 * goal, shunts, speeding, short headways and time lost. It uses only the fields of conduct, which
 * rw_fitness_input has since 1.2, so it scores a manoeuvre in a car park and a drive through a forest
 * as well as one in traffic. Lower is better; a perfect drive has 0. */
#include "roadwright_plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- parameters ---------------------------------------------------------------------------- */

typedef struct parameter {
  const char *key, *unit, *doc;
  double max, default_value;
} parameter;

enum { COLLISION, MISSED, DISTANCE, SHUNT, SPEEDING, HEADWAY, TIME, PARAMETER_COUNT };

static const parameter PARAMETERS[PARAMETER_COUNT] = {
    {"collision_weight", "", "Weight of each collision.", 100.0, 5.0},
    {"missed_weight", "", "Weight of not arriving.", 100.0, 4.0},
    {"distance_weight", "1/m", "Weight of the remaining distance to the goal.", 10.0, 0.02},
    {"shunt_weight", "", "Weight of each change between driving forwards and backwards.", 10.0, 0.1},
    {"speeding_weight", "", "Weight of the share of time above the limit.", 100.0, 1.0},
    {"headway_weight", "", "Weight of short headways and times to collision.", 100.0, 1.0},
    {"time_weight", "", "Weight of the share of time lost.", 100.0, 1.0},
};

struct rw_instance {
  double weights[PARAMETER_COUNT];
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_FITNESS) return RW_E_UNSUPPORTED;
  rw_instance *self = malloc(sizeof *self);
  if (!self) return RW_E_FAILED;
  for (int i = 0; i < PARAMETER_COUNT; i++) self->weights[i] = PARAMETERS[i].default_value;
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
  strncpy(out->unit, p->unit, sizeof out->unit - 1);
  strncpy(out->doc, p->doc, sizeof out->doc - 1);
  out->max = p->max;
  out->default_value = p->default_value;
  return RW_OK;
}

static int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  *out = self->weights[index];
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  self->weights[index] = value;
  return RW_OK;
}

/* ---- the score ----------------------------------------------------------------------------- */

static double score(const double *weights, const rw_fitness_input *in) {
  double missed = in->has_arrived > 0.0 ? 0.0 : weights[MISSED] + weights[DISTANCE] * in->goal_distance;
  return missed + weights[COLLISION] * in->collisions + weights[SHUNT] * in->shunts +
         weights[SPEEDING] * in->above_limit +
         weights[HEADWAY] * (in->tailgating + in->collision_exposure) +
         weights[TIME] * in->time_lost;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  /* A host that ignores min_host_minor would pass the rows of 1.1, which end before conduct. */
  if (batch->input_stride < sizeof(rw_fitness_input)) return RW_E_UNSUPPORTED;
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_fitness_input *in =
        (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_fitness_output *out = (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->score = score(self->weights, in);
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
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
    .min_host_minor = 2, /* the fields of conduct are there since 1.2 */
    .kinds = RW_KIND_FITNESS,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC | RW_CAP_FULL_CONDUCT,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Watching fitness",
    .id = "com.example.watching_fitness",
    .version = "1.0.0",
    .author = "Roadwright",
    .language = "c",
    .doc = "Collisions, arrival, distance to the goal, shunts, speeding, headways and time lost.",
};

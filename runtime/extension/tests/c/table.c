/* A fitness with a table among its parameters, whose score shows all their values. It offers the functions for
 * parameters of 1.0 as well, which a host that knows tables must not call. */
#include "roadwright_plugin.h"

#include <stdlib.h>
#include <string.h>

#ifndef ROWS
#define ROWS 2
#endif
#ifndef COLUMNS
#define COLUMNS 3
#endif
#ifndef VERSION
#define VERSION "1.0.0"
#endif
enum { CELLS = ROWS * COLUMNS, ROOM = CELLS > 0 && CELLS <= 4096 ? CELLS : 1 };

struct rw_instance {
  double gain;
  double cells[ROOM];
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  (void)kind;
  rw_instance *self = calloc(1, sizeof *self);
  if (!self) return RW_E_FAILED;
  self->gain = 2.0;
  for (int i = 0; i < ROOM; i++) self->cells[i] = 0.5;
  *out = self;
  return RW_OK;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    rw_fitness_output *out = (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->score = 10000.0 * self->gain;
    for (int i = 0; i < ROOM; i++) out->score += (i + 1) * self->cells[i];
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static uint32_t count(rw_instance *self) {
  (void)self;
  return 2;
}

static int32_t info(rw_instance *self, uint32_t index, rw_parameter *out) {
  (void)self;
  if (out->size < sizeof *out) return RW_E_UNSUPPORTED;
  strcpy(out->key, index ? "gain" : "weights");
  out->kind = index ? RW_PARAM_NUMBER : RW_PARAM_TABLE;
  out->rows = ROWS;
  out->columns = COLUMNS;
  out->min = index ? 0.0 : -1.0;
  out->max = index ? 9.0 : 1.0;
  return RW_OK;
}

static uint64_t text(rw_instance *self, uint32_t index, uint32_t what, uint32_t item, char *buffer,
                     uint64_t capacity) {
  (void)self;
  static const char *rows[] = {"low", "high"};
  const char *found = "";
  if (what == RW_TEXT_DOC) found = index ? "Gain." : "Weights.";
  if (what == RW_TEXT_ROW && index == 0 && item < 2) found = rows[item];
  uint64_t length = strlen(found);
  memcpy(buffer, found, length < capacity ? length : capacity);
  return length;
}

static int32_t defaults(rw_instance *self, uint32_t index, double *values, uint32_t length) {
  (void)self;
  for (uint32_t i = 0; i < length; i++) values[i] = index ? 2.0 : 0.5;
  return RW_OK;
}

static int32_t get(rw_instance *self, uint32_t index, double *values, uint32_t length) {
  if (length != (index ? 1 : CELLS)) return RW_E_ARGUMENT;
  memcpy(values, index ? &self->gain : self->cells, length * sizeof *values);
  return RW_OK;
}

static int32_t set(rw_instance *self, uint32_t index, const double *values, uint32_t length) {
  if (length != (index ? 1 : CELLS)) return RW_E_ARGUMENT;
  memcpy(index ? &self->gain : self->cells, values, length * sizeof *values);
  return RW_OK;
}

static const rw_parameters_extension PARAMETERS = {sizeof PARAMETERS, 0, count, info, text, defaults, get, set};

static const void *get_extension(const char *id, uint64_t length) {
  const char *known = RW_PARAMETERS_EXTENSION;
  return length == strlen(known) && memcmp(id, known, length) == 0 ? &PARAMETERS : NULL;
}

static uint32_t param_count(rw_instance *self) {
  (void)self;
  return 1;
}

static int32_t param_info(rw_instance *self, uint32_t index, rw_param_info *out) {
  (void)self;
  (void)index;
  memset(out, 0, sizeof *out);
  strcpy(out->key, "old_gain");
  strcpy(out->doc, "Gain.");
  out->max = 9.0;
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
    .kinds = RW_KIND_FITNESS,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Table",
    .id = "org.roadwright.table",
    .version = VERSION,
    .doc = "A fitness with a table.",
};

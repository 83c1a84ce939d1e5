/* A fitness that returns what it sees of its rows: their stride, and a sum over all numbers of a row. */
#include "roadwright_plugin.h"

#include <stdlib.h>
#include <string.h>

#ifndef MINOR
#define MINOR RW_ABI_MINOR
#endif
#ifndef CAPS
#define CAPS 0
#endif

struct rw_instance {
  int nothing;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  (void)kind;
  *out = calloc(1, sizeof **out);
  return *out ? RW_OK : RW_E_FAILED;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t step(rw_instance *self, rw_batch *batch) {
  (void)self;
  for (uint32_t row = 0; row < batch->count; row++) {
    const double *in = (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_fitness_output *out = (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->score = 1.0e6 * batch->input_stride;
    for (uint32_t at = 0; at < batch->input_stride / 8; at++) out->score += (at + 1) * in[at];
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {.create = create, .destroy = destroy, .step = step};
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = MINOR,
    .kinds = RW_KIND_FITNESS,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC | CAPS,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Rows",
    .id = "org.roadwright.rows",
    .version = "1.0.0",
    .doc = "Returns what it sees of its rows.",
};

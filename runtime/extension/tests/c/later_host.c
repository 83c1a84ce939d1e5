/* Stands between the host and a plugin (TARGET, the path of its library), and shows the plugin a later host: batches, rows,
 * views, records and tables are longer than the plugin knows, there are more views, and everything that it does not know is
 * filled with 0x55. A call fails if the plugin has written beyond the parts that it knows.
 *
 * With OLDER it shows the plugin the first host, of interface 1.0: rows of 128 bytes, no views, and no extension but the one
 * of 1.0. */
#include "roadwright_plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifndef CAPS
#define CAPS 0
#endif

enum { TAIL = 64, UNKNOWN = 0x55, OLD_BATCH = 112, OLD_ROW = 128 };

typedef struct later_api {
  rw_api api;
  unsigned char more[TAIL];
} later_api;
typedef struct later_batch {
  rw_batch batch;
  unsigned char more[TAIL];
} later_batch;
typedef struct later_host {
  rw_host host;
  unsigned char more[TAIL];
} later_host;
typedef struct later_roads {
  rw_roads roads;
  unsigned char more[TAIL];
} later_roads;

static later_api inner;
static later_host known_host;

static int is_unknown(const unsigned char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (bytes[i] != UNKNOWN) return 0;
  return 1;
}

/* A copy of an array whose elements are longer by `more` bytes, with a canary after it. */
static unsigned char *widened(const void *from, size_t count, size_t stride, size_t more) {
  const size_t length = count * (stride + more);
  unsigned char *bytes = malloc(length + TAIL);
  if (!bytes) abort();
  memset(bytes, UNKNOWN, length + TAIL);
  for (size_t i = 0; i < count; i++) memcpy(bytes + i * (stride + more), (const char *)from + i * stride, stride);
  return bytes;
}

/* Copies the known parts of elements back. Returns whether nothing else was written. */
static int narrowed(void *to, const unsigned char *bytes, size_t count, size_t stride, size_t more) {
  int is_sound = is_unknown(bytes + count * (stride + more), TAIL);
  for (size_t i = 0; i < count; i++) {
    const unsigned char *own = bytes + i * (stride + more);
    memcpy((char *)to + i * stride, own, stride);
    is_sound = is_sound && is_unknown(own + stride, more);
  }
  return is_sound;
}

typedef int32_t (*press)(rw_instance *self, rw_batch *batch, const void *drives, uint32_t drive_stride);

static int32_t ask(rw_instance *self, rw_batch *batch, press pedals, const void *drives, uint32_t drive_stride) {
  later_batch later;
  const size_t count = batch->count;
#ifdef OLDER
  const size_t more = 0, more_out = 0, row = batch->input_stride < OLD_ROW ? batch->input_stride : OLD_ROW;
#else
  const size_t more = TAIL, more_out = 24, row = batch->input_stride;
#endif
  memset(&later, UNKNOWN, sizeof later);
  memcpy(&later.batch, batch, batch->size < sizeof *batch ? batch->size : sizeof *batch);
  unsigned char *ids = widened(batch->agent_ids, count, sizeof *batch->agent_ids, 0);
  unsigned char *indices = widened(batch->agent_indices, count, sizeof *batch->agent_indices, 0);
  unsigned char *seeds = widened(batch->seeds, count, sizeof *batch->seeds, 0);
  unsigned char *status = widened(batch->status, count, 1, 0);
  unsigned char *outputs = widened(batch->outputs, count, batch->output_stride, more_out);
  unsigned char *inputs = malloc(count * (row + more) + TAIL);
  if (!inputs) abort();
  memset(inputs, UNKNOWN, count * (row + more) + TAIL);
  for (size_t i = 0; i < count; i++)
    memcpy(inputs + i * (row + more), (const char *)batch->inputs + i * batch->input_stride, row);
  unsigned char *wheels = NULL;
  if (drives) {
    const size_t own = sizeof(rw_drive_input);
    wheels = malloc(count * (own + TAIL) + TAIL);
    if (!wheels) abort();
    memset(wheels, UNKNOWN, count * (own + TAIL) + TAIL);
    for (size_t i = 0; i < count; i++) memcpy(wheels + i * (own + TAIL), (const char *)drives + i * drive_stride, own);
  }
  later.batch.agent_ids = (const void *)ids;
  later.batch.agent_indices = (const void *)indices;
  later.batch.seeds = (const void *)seeds;
  later.batch.inputs = inputs;
  later.batch.outputs = outputs;
  later.batch.input_stride = (uint32_t)(row + more);
  later.batch.output_stride = batch->output_stride + (uint32_t)more_out;
  later.batch.status = status;
  later_roads roads;
  memset(&roads, UNKNOWN, sizeof roads);
  unsigned char *views = NULL, *records[16] = {NULL};
#ifdef OLDER
  later.batch.size = OLD_BATCH;
#else
  later.batch.size = sizeof later;
  if (batch->roads) {
    roads.roads = *batch->roads;
    roads.roads.size = sizeof roads;
    later.batch.roads = &roads.roads;
  }
  if (batch->size < offsetof(rw_batch, poses)) {
    later.batch.views = NULL;
    later.batch.view_count = 0;
  } else if (batch->view_count > 0) {
    /* Two views more, and longer records of views. */
    const size_t stride = sizeof(rw_view) + 8, all = batch->view_count;
    views = malloc((all + 2) * stride);
    if (!views || all > 16) abort();
    memset(views, UNKNOWN, (all + 2) * stride);
    for (size_t i = 0; i < all; i++) {
      rw_view view = rw_view_of(batch, (uint32_t)i);
      records[i] = widened(view.data, view.count, view.stride, 16);
      view.data = records[i];
      view.stride += 16;
      memcpy(views + i * stride, &view, sizeof view);
    }
    later.batch.views = (const void *)views;
    later.batch.view_stride = (uint32_t)stride;
    later.batch.view_count = (uint32_t)all + 2;
  }
  if (batch->size < sizeof *batch) {
    later.batch.poses = NULL;
    later.batch.pose_capacity = later.batch.pose_length = 0;
  }
#endif
  int32_t result = pedals ? pedals(self, &later.batch, wheels, sizeof(rw_drive_input) + TAIL) : inner.api.step(self, &later.batch);
  int is_sound = narrowed(batch->outputs, outputs, count, batch->output_stride, more_out);
  is_sound = narrowed(batch->status, status, count, 1, 0) && is_sound;
  is_sound = is_sound && is_unknown(later.more, TAIL) && is_unknown(inputs + count * (row + more), TAIL);
  batch->route_length = later.batch.route_length;
  if (batch->size >= sizeof *batch) batch->pose_length = later.batch.pose_length;
  free(ids), free(indices), free(seeds), free(status), free(outputs), free(inputs), free(wheels), free(views);
  for (int i = 0; i < 16; i++) free(records[i]);
  return is_sound ? result : RW_E_STATE;
}

static int32_t step(rw_instance *self, rw_batch *batch) { return ask(self, batch, NULL, NULL, 0); }

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  return inner.api.create(&known_host.host, kind, out);
}

#ifndef OLDER
static const void *find(const char *id) { return inner.api.get_extension ? inner.api.get_extension(id, strlen(id)) : NULL; }

static int32_t push(rw_instance *self, rw_batch *batch, const void *drives, uint32_t drive_stride) {
  const rw_pedals_extension *own = find(RW_PEDALS_EXTENSION);
  return ask(self, batch, own->step, drives, drive_stride);
}

/* The needs and the descriptions of parameters, with room for more than the plugin knows. */
static int32_t needs(rw_instance *self, rw_needs *out) {
  const rw_needs_extension *own = find(RW_NEEDS_EXTENSION);
  const uint32_t size = out->size;
  unsigned char *more = widened(out, 1, size, TAIL);
  const uint32_t longer = size + TAIL;
  memcpy(more, &longer, sizeof longer);
  int32_t result = own->needs(self, (rw_needs *)(void *)more);
  memcpy(more, &size, sizeof size);
  int is_sound = narrowed(out, more, 1, size, TAIL);
  free(more);
  return is_sound ? result : RW_E_STATE;
}

static int32_t info(rw_instance *self, uint32_t index, rw_parameter *out) {
  const rw_parameters_extension *own = find(RW_PARAMETERS_EXTENSION);
  unsigned char *more = widened(out, 1, sizeof *out, TAIL);
  const uint32_t size = out->size, longer = size + TAIL;
  memcpy(more, &longer, sizeof longer);
  int32_t result = own->info(self, index, (rw_parameter *)(void *)more);
  memcpy(more, &size, sizeof size);
  int is_sound = narrowed(out, more, 1, sizeof *out, TAIL);
  free(more);
  return is_sound ? result : RW_E_STATE;
}

static const rw_needs_extension NEEDS = {sizeof NEEDS, 0, needs};
static const rw_pedals_extension PEDALS = {sizeof PEDALS, 0, push};
static rw_parameters_extension parameters;

static const void *get_extension(const char *id, uint64_t length) {
  const void *own = inner.api.get_extension(id, length);
  if (!own) return NULL;
  if (length == strlen(RW_NEEDS_EXTENSION) && memcmp(id, RW_NEEDS_EXTENSION, length) == 0) return &NEEDS;
  if (length == strlen(RW_PEDALS_EXTENSION) && memcmp(id, RW_PEDALS_EXTENSION, length) == 0) return &PEDALS;
  if (length == strlen(RW_PARAMETERS_EXTENSION) && memcmp(id, RW_PARAMETERS_EXTENSION, length) == 0) {
    parameters = *(const rw_parameters_extension *)own;
    parameters.info = info;
    return &parameters;
  }
  return own;
}
#else
static const void *get_extension(const char *id, uint64_t length) {
  const int is_known = length == strlen(RW_CONTROLLER_EXTENSION) && memcmp(id, RW_CONTROLLER_EXTENSION, length) == 0;
  return is_known ? inner.api.get_extension(id, length) : NULL;
}
#endif

typedef int32_t (*plugin_main)(const rw_host *host, rw_api *out);

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  void *library = dlopen(TARGET, RTLD_NOW | RTLD_LOCAL);
  if (!library) return RW_E_FAILED;
  union {
    void *found;
    plugin_main call;
  } start = {dlsym(library, "rw_plugin_main_v1")};
  if (!start.found) return RW_E_FAILED;
  memset(&known_host, UNKNOWN, sizeof known_host);
  known_host.host = *host;
#ifdef OLDER
  known_host.host.size = 56;
  known_host.host.abi_minor = 0;
#else
  known_host.host.size = sizeof known_host;
  known_host.host.abi_minor = host->abi_minor + 1;
#endif
#ifndef WRITES_MEMBERS
  /* A smaller table: nothing after it may be written. */
  memset(&inner, UNKNOWN, sizeof inner);
  inner.api.size = offsetof(rw_api, last_error);
  if (start.call(&known_host.host, &inner.api) < 0) return RW_E_FAILED;
  if (!is_unknown((const unsigned char *)&inner + offsetof(rw_api, last_error), TAIL)) return RW_E_STATE;
#endif
  memset(&inner, UNKNOWN, sizeof inner);
  memset(&inner.api, 0, sizeof inner.api);
#ifdef OLDER
  inner.api.size = sizeof inner.api;
#else
  inner.api.size = sizeof inner;
#endif
  int32_t result = start.call(&known_host.host, &inner.api);
  if (result < 0) return result;
  if (!is_unknown(inner.more, TAIL)) return RW_E_STATE;
  rw_api api = inner.api;
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  api.create = create;
  api.step = step;
  if (api.get_extension) api.get_extension = get_extension;
  memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = RW_ABI_MAJOR,
    .abi_minor = MINOR,
    .min_host_minor = 0,
    .kinds = KIND,
    .caps = CAPS,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Later host",
    .id = "org.roadwright.later",
    .version = "1.0.0",
    .doc = "Shows a plugin a later host.",
};

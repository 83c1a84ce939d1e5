/* A controller that does what the environment variable EVIL says, late or where nobody looks. */
#include "roadwright_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rw_host *the_host;

static int is_evil(const char *what) {
  const char *evil = getenv("EVIL");
  return evil && strcmp(evil, what) == 0;
}

__attribute__((constructor)) static void loaded(void) {
  if (is_evil("leave a child") && fork() == 0) {
    setsid();
    sleep(60);
    _exit(0);
  }
  if (is_evil("flood"))
    for (int i = 0; i < 300000; i++) printf("so much to tell\n");
  if (is_evil("claim to be good")) {
    printf("roadwright-probe: good\n");
    fflush(stdout);
    _exit(0);
  }
}

struct rw_instance {
  int calls;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  the_host = host;
  *out = calloc(1, sizeof **out);
  return *out ? RW_OK : RW_E_FAILED;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t step(rw_instance *self, rw_batch *batch) {
  int is_late = ++self->calls == 30;
  if (is_late && is_evil("exit")) exit(0);
  if (is_late && is_evil("crash")) *(volatile int *)0 = 1;
  if (is_late && is_evil("sleep")) sleep(4);
  if (self->calls == 2 && is_evil("exit early")) exit(0);
  if (is_late && is_evil("print")) {
    printf("debug 0.045\n");
    fflush(stdout);
  }
  if (is_late && is_evil("log")) the_host->log(the_host->ctx, 1, "an evil word", 12);
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in =
        (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out =
        (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->acceleration = in->speed < 3.0 ? 0.5 : 0.0;
    out->steering = 0.0;
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
    .abi_minor = RW_ABI_MINOR,
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Evil",
    .id = "com.example.evil",
    .version = "1.0.0",
    .language = "c",
    .doc = "Does what it is told not to.",
};

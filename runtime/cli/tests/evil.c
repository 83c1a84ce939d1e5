#define _GNU_SOURCE
/* A controller that does what the environment variable EVIL says, late or where nobody looks. */
#include "roadwright_plugin.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
  if (is_evil("leave a mark")) fclose(fopen("mark", "w"));
  if (is_evil("claim to be good")) {
    printf("roadwright-probe: good\n");
    fflush(stdout);
    _exit(0);
  }
}

struct rw_instance {
  int calls;
  double gain;
};

static void *wait_for_ever(void *nothing) {
  for (;;) pause();
  return nothing;
}

/* A noise that differs from process to process, or from moment to moment. */
static double noise(const rw_batch *batch) {
  if (is_evil("process id")) return 1e-9 * getpid();
  if (is_evil("late clock") && batch->time > 5.0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e-12 * (double)now.tv_nsec;
  }
  return 0.0;
}

static void waste(void) {
  if (is_evil("leak memory")) memset(malloc(1 << 20), 1, 1 << 20);
  if (is_evil("leak files") && open("/dev/null", O_RDONLY) < 0) abort();
  if (is_evil("leak threads")) {
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_create(&thread, &small, wait_for_ever, NULL);
  }
}

/* Shared by all threads, which it must not be. */
static volatile double scratch;


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
  /* After its trial. */
  if (self->calls == 250 && is_evil("crash later")) *(volatile int *)0 = 1;
  if (is_late && is_evil("sleep")) sleep(4);
  if (is_late && is_evil("hang"))
    for (;;) pause();
  if (is_late && is_evil("hang until given up"))
    while (!the_host->cancelled(the_host->ctx)) usleep(1000);
  if (self->calls == 2 && is_evil("exit early")) exit(0);
  if (is_late && is_evil("print")) {
    printf("debug 0.045\n");
    fflush(stdout);
  }
  if (is_late && is_evil("log")) the_host->log(the_host->ctx, 1, "an evil word", 12);
  if (is_evil("drag")) usleep(200000);
  waste();
  if (is_evil("slow")) usleep(200 * batch->count);
  double extra = noise(batch);
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in =
        (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out =
        (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    if (is_evil("write inputs")) ((rw_controller_input *)in)->speed = 1.0;
    double speed = in->speed;
    if (is_evil("share")) {
      scratch = speed;
      sched_yield();
      speed = scratch;
    }
    out->acceleration = (speed < 3.0 ? 0.5 : 0.01 * speed) + extra;
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
  (void)index;
  memset(out, 0, sizeof *out);
  strcpy(out->key, "gain");
  strcpy(out->label, "gain");
  strcpy(out->doc, "Does nothing.");
  out->max = 2.0;
  out->default_value = 1.0;
  return RW_OK;
}

static int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  (void)index;
  *out = is_evil("lie") ? 42.0 : self->gain;
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  (void)index;
  self->gain = value;
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
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS | RW_CAP_PARALLEL_SLICES,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Evil",
    .id = "com.example.evil",
    .version = "1.0.0",
    .language = "c",
    .doc = "Does what it is told not to.",
};

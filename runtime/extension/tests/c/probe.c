#define _GNU_SOURCE
/* A small controller whose misbehaviour is selected by definitions, for tests of the host. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "1.0.0"
#endif
#ifndef ID
#define ID "org.roadwright.probe"
#endif
#ifndef MAJOR
#define MAJOR RW_ABI_MAJOR
#endif
#ifndef MIN_MINOR
#define MIN_MINOR 0
#endif
#ifndef SCHEMA
#define SCHEMA 1
#endif
#ifndef GAIN
#define GAIN 0.5
#endif

/* An acceleration that no control law produces. */
#define NONSENSE 43.0

struct rw_instance {
  double gain;
  double steps;
};

static const rw_host *the_host;

static void tell(const char *text) { the_host->log(the_host->ctx, RW_LOG_INFO, text, strlen(text)); }

#ifdef HANG_AT
/* Hangs in one of its steps until its call is abandoned, and then answers nonsense. */
static int hang(rw_instance *self) {
  if (the_host->cancelled(the_host->ctx)) tell("cancelled without a reason");
  /* Only once, because a restart resets the steps. */
  static int has_hung;
  if (self->steps != HANG_AT || has_hung) return 0;
#ifdef HEARD
  FILE *heard = fopen(HEARD, "r");
  if (heard) {
    fclose(heard);
    return 0;
  }
#endif
  has_hung = 1;
  while (!the_host->cancelled(the_host->ctx)) continue;
  tell("heard that it is given up");
#ifdef HEARD
  FILE *file = fopen(HEARD, "w");
  if (file) fclose(file);
#endif
  return 1;
}
#endif

#ifdef CRASH_AT_LOAD
/* Volatile twice, or the compiler would optimise the crash away. */
static int *volatile nowhere;
__attribute__((constructor)) static void crash(void) { *(volatile int *)nowhere = 1; }
#endif
#ifdef LOADED
__attribute__((constructor)) static void leave_a_mark(void) {
  FILE *file = fopen(LOADED, "w");
  if (file) fclose(file);
}
#endif
#if defined FAST_MATH_AT_LOAD || defined FAST_MATH_IN_STEP
/* Effect of the code that gcc links in for -ffast-math: flush to zero, denormals are zero. */
static void fast(void) {
  uint32_t mode;
  __asm__ volatile("stmxcsr %0" : "=m"(mode));
  mode |= 0x8040;
  __asm__ volatile("ldmxcsr %0" : : "m"(mode));
}
#endif
#ifdef FAST_MATH_AT_LOAD
__attribute__((constructor)) static void load(void) { fast(); }
#endif
#ifdef MISSING_SYMBOL
extern double a_function_that_nobody_defines(double);
#endif

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)kind;
  the_host = host;
  const char *unknown = "roadwright.unknown/1";
  tell(host->get_extension(host->ctx, unknown, strlen(unknown)) ? "a surprise" : "no such extension");
  if (host->log) host->log(host->ctx, RW_LOG_INFO, "made", 4);
  rw_instance *self = calloc(1, sizeof *self);
  if (!self) return RW_E_FAILED;
  self->gain = GAIN;
  *out = self;
  return RW_OK;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t step(rw_instance *self, rw_batch *batch) {
  const char *inputs = batch->inputs;
  char *outputs = batch->outputs;
  self->steps += 1;
#ifdef EATS
  /* Volatile, so that it is not optimised away. */
  volatile char *volatile more = malloc(64 << 20);
  for (size_t at = 0; at < 64 << 20; at += 4096) more[at] = 1;
#endif
#ifdef FORKS
  if (self->steps == 2 && fork() == 0)
    for (;;) pause();
#endif
#ifdef WRITES
  FILE *endless = fopen(WRITES, "w");
  for (int part = 0; endless && self->steps > 1 && part < 20; part++) {
    fseek(endless, 100L << 20, SEEK_CUR);
    fputc(1, endless);
    fflush(endless);
  }
#endif
#ifdef HANG_AT
  if (hang(self)) {
    for (uint32_t row = 0; row < batch->count; row++) {
      rw_controller_output *out = (void *)(outputs + (size_t)row * batch->output_stride);
      out->acceleration = NONSENSE;
      out->steering = 0.0;
      batch->status[row] = RW_ROW_OK;
    }
    return RW_OK;
  }
#endif
#ifdef FAST_MATH_IN_STEP
  fast();
#endif
#ifdef MISSING_SYMBOL
  self->gain = a_function_that_nobody_defines(self->gain);
#endif
#ifdef NEEDS_LIBM
  self->gain = fmax(self->gain, atan2(self->gain, self->steps));
#endif
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = (const void *)(inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out = (void *)(outputs + (size_t)row * batch->output_stride);
    double curvature = 2.0 * in->waypoint_angle / (in->waypoint_distance + 0.5);
    out->steering = in->wheelbase * curvature;
    if (out->steering > 0.6) out->steering = 0.6;
    if (out->steering < -0.6) out->steering = -0.6;
    out->acceleration = self->gain * (in->road_speed - in->speed);
    if (in->leader_gap < 20.0 || in->stop_distance < 20.0) out->acceleration = -3.0;
    batch->status[row] = RW_ROW_OK;
  }
#ifdef BEYOND
  batch->status[batch->count] = RW_ROW_OK;
#endif
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
#ifdef OTHER_PARAMETER
  strcpy(out->key, "strength");
#else
  strcpy(out->key, "gain");
#endif
  strcpy(out->doc, "Acceleration per unit of speed error.");
  out->min = 0.1;
  out->max = 2.0;
  out->default_value = GAIN;
  return RW_OK;
}

static int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index) return RW_E_ARGUMENT;
  self->gain = value;
  return RW_OK;
}

static int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  *schema = SCHEMA;
  return write(ctx, (const uint8_t *)&self->steps, sizeof self->steps);
}

static int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length,
                          uint32_t schema) {
  if (schema != SCHEMA || length != sizeof self->steps) return RW_E_STATE;
  memcpy(&self->steps, bytes, length);
  return RW_OK;
}

#ifndef NO_MAIN
RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {
      .create = create,
      .destroy = destroy,
      .step = step,
      .param_count = param_count,
      .param_info = param_info,
      .param_set = param_set,
      .state_save = state_save,
      .state_load = state_load,
  };
#ifdef SHORT_API
  /* A plugin built before the later functions existed. */
  api.size = offsetof(rw_api, agents_changed);
#else
  api.size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
#endif
  memcpy(out, &api, api.size);
  return RW_OK;
}
#else
void *unused[] = {create, destroy, step, param_count, param_info, param_set, state_save, state_load};
#endif

#ifndef NO_INFO
const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = MAJOR,
    .abi_minor = RW_ABI_MINOR,
    .min_host_minor = MIN_MINOR,
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATE | RW_CAP_DETERMINISTIC,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Probe",
    .id = ID,
    .version = VERSION,
    .language = "c",
    .doc = "A small controller.",
};
#endif

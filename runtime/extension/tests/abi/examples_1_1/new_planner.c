/* new_planner: a planner for Roadwright. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_CHANGE_TIME };

/* ---- parameters ---------------------------------------------------------------------------- */

typedef struct parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
} parameter;

static const parameter PARAMETERS[] = {
    {"lane_change_time", "s", "Time penalty of a lane change.", 0.0, 60.0, 3.0},
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

/* ---- the law: the fastest route over lanes (Bellman and Ford) --------------------------- */

static int relax(double *best, uint32_t *from, uint32_t at, uint32_t next, double cost) {
  if (best[at] + cost >= best[next]) return 0;
  best[next] = best[at] + cost;
  from[next] = at;
  return 1;
}

static int plan(const rw_instance *self, const rw_roads *roads, const rw_planner_input *in,
                rw_batch *batch, rw_planner_output *out) {
  uint32_t count = roads->strip_count;
  double *best = (double *)malloc(count * sizeof *best);
  uint32_t *from = (uint32_t *)malloc(count * sizeof *from);
  if (!best || !from) {
    free(best);
    free(from);
    return 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    best[i] = HUGE_VAL;
    from[i] = RW_NO_STRIP;
  }
  if (in->strip == in->goal_strip && in->goal_s >= in->s) {
    free(best);
    free(from);
    if (batch->route_length == batch->route_capacity) return 0;
    out->start = batch->route_length;
    out->count = 1;
    out->travel_time = (in->goal_s - in->s) / fmax(roads->strips[in->strip].speed_limit, 0.1);
    batch->route[batch->route_length++] = in->strip;
    return 1;
  }
  if (in->strip == in->goal_strip) {
    /* The goal is behind the start: the route begins with the successors, and may come back. */
    const rw_strip *strip = &roads->strips[in->strip];
    for (uint32_t i = 0; i < strip->successor_count; i++) {
      uint32_t next = roads->successors[strip->first_successor + i];
      best[next] = 0.0;
      from[next] = in->strip;
    }
  } else {
    best[in->strip] = 0.0;
  }
  for (int changed = 1; changed;) {
    changed = 0;
    for (uint32_t at = 0; at < count; at++) {
      if (best[at] == HUGE_VAL) continue;
      const rw_strip *strip = &roads->strips[at];
      double through = strip->length / fmax(strip->speed_limit, 0.1) + roads->delays[at];
      for (uint32_t i = 0; i < strip->successor_count; i++) {
        uint32_t next = roads->successors[strip->first_successor + i];
        if (!(roads->strips[next].flags & RW_STRIP_BUS_ONLY) || in->bus)
          changed |= relax(best, from, at, next, through);
      }
      uint32_t beside[2] = {strip->left, strip->right};
      for (int i = 0; i < 2; i++) {
        int may_change = strip->length > 15.0 && (at != in->strip || in->may_change_first);
        if (may_change && beside[i] != RW_NO_STRIP &&
            (!(roads->strips[beside[i]].flags & RW_STRIP_BUS_ONLY) || in->bus))
          changed |= relax(best, from, at, beside[i], self->values[LANE_CHANGE_TIME]);
      }
    }
  }
  if (best[in->goal_strip] < HUGE_VAL) {
    uint32_t length = 2;
    for (uint32_t at = from[in->goal_strip]; at != in->strip; at = from[at]) length++;
    if (batch->route_length + length <= batch->route_capacity) {
      out->start = batch->route_length;
      out->count = length;
      out->travel_time = best[in->goal_strip];
      batch->route_length += length;
      uint32_t at = in->goal_strip;
      for (uint32_t i = length; i-- > 0; at = from[at]) batch->route[out->start + i] = at;
    }
  }
  free(best);
  free(from);
  return 1;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_planner_input *in =
        (const rw_planner_input *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_planner_output *out =
        (rw_planner_output *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    batch->status[row] = plan(self, batch->roads, in, batch, out) ? RW_ROW_OK : RW_ROW_FAILED;
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
    RW_MAGIC, sizeof(rw_plugin_info), RW_ABI_MAJOR, RW_ABI_MINOR, 0, 0,
    RW_KIND_PLANNER, RW_CAP_STATELESS | RW_CAP_DETERMINISTIC, RW_ROW_SCHEMA,
    "new_planner", "com.example.new_planner", "0.1.0", "", "c", "", "Finds the fastest route over lanes."};

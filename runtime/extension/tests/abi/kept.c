/* Plugins of binary interface 1.0, kept as binaries: they must be loaded for as long as the major
 * version is 1. One file, four plugins; KIND chooses which. Built once with the header of 1.0:
 *
 *   cc -std=c11 -O2 -s -shared -fPIC -fvisibility=hidden -Iplugins/api/include -DKIND=1 \
 *     runtime/extension/tests/abi/kept.c -o planner-1.0-x86_64-linux.so -lm
 *
 * 1: a planner (Dijkstra), 2: a fitness, 3: a controller with a state for each agent, which is
 * saved and loaded, 4: a controller whose slices may run in parallel.
 */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLANNER 1
#define FITNESS 2
#define STATEFUL 3
#define PARALLEL 4

struct rw_instance {
  double *filtered; /* a state for each agent: its smoothed acceleration */
  uint32_t slots;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  (void)kind;
  *out = calloc(1, sizeof **out);
  return *out ? RW_OK : RW_E_FAILED;
}

static void destroy(rw_instance *self) {
  free(self->filtered);
  free(self);
}

#if KIND == PLANNER

static double *costs;
static uint32_t *parents;

static int32_t plan(const rw_roads *roads, const rw_planner_input *in, rw_batch *batch,
                    rw_planner_output *out) {
  uint32_t n = roads->strip_count;
  costs = realloc(costs, n * sizeof *costs);
  parents = realloc(parents, n * sizeof *parents);
  uint8_t *closed = calloc(n, 1);
  if (!costs || !parents || !closed) return RW_E_FAILED;
  for (uint32_t i = 0; i < n; i++) costs[i] = INFINITY;
  costs[in->strip] = 0;
  parents[in->strip] = RW_NO_STRIP;
  if (in->strip == in->goal_strip && in->goal_s < in->s) {
    free(closed);
    return RW_E_UNSUPPORTED;
  }
  for (;;) {
    uint32_t best = RW_NO_STRIP;
    for (uint32_t i = 0; i < n; i++)
      if (!closed[i] && costs[i] < INFINITY && (best == RW_NO_STRIP || costs[i] < costs[best]))
        best = i;
    if (best == RW_NO_STRIP || best == in->goal_strip) break;
    closed[best] = 1;
    const rw_strip *strip = &roads->strips[best];
    double through = costs[best] + strip->length / strip->speed_limit;
    for (uint32_t k = 0; k < strip->successor_count + 2; k++) {
      int aside = k >= strip->successor_count;
      uint32_t next = k < strip->successor_count ? roads->successors[strip->first_successor + k]
                      : k == strip->successor_count ? strip->left
                                                    : strip->right;
      if (next == RW_NO_STRIP || (aside && best == in->strip && !in->may_change_first)) continue;
      if ((roads->strips[next].flags & RW_STRIP_BUS_ONLY) && !in->bus) continue;
      double cost = aside ? costs[best] + 3.0 : through;
      if (cost < costs[next]) {
        costs[next] = cost;
        parents[next] = best;
      }
    }
  }
  free(closed);
  if (costs[in->goal_strip] == INFINITY) return RW_OK;
  uint32_t count = 0;
  for (uint32_t at = in->goal_strip; at != RW_NO_STRIP; at = parents[at]) count++;
  if (batch->route_length + count > batch->route_capacity) return RW_OK;
  out->start = batch->route_length;
  out->count = count;
  out->travel_time = costs[in->goal_strip];
  uint32_t place = out->start + count;
  for (uint32_t at = in->goal_strip; at != RW_NO_STRIP; at = parents[at]) batch->route[--place] = at;
  batch->route_length += count;
  return RW_OK;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  (void)self;
  for (uint32_t row = 0; row < batch->count; row++) {
    const char *in = (const char *)batch->inputs + (size_t)row * batch->input_stride;
    char *out = (char *)batch->outputs + (size_t)row * batch->output_stride;
    int32_t done = plan(batch->roads, (const void *)in, batch, (void *)out);
    batch->status[row] = done == RW_OK ? RW_ROW_OK : RW_ROW_NOT_WRITTEN;
  }
  return RW_OK;
}

#elif KIND == FITNESS

static int32_t step(rw_instance *self, rw_batch *batch) {
  (void)self;
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_fitness_input *in =
        (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_fitness_output *out = (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    out->score = in->crash_rating + sqrt(in->mean_squared_acceleration);
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

#else

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in =
        (const void *)((const char *)batch->inputs + (size_t)row * batch->input_stride);
    rw_controller_output *out =
        (void *)((char *)batch->outputs + (size_t)row * batch->output_stride);
    double curvature = 2.0 * in->waypoint_angle / (in->waypoint_distance + 0.5);
    double wanted = 0.6 * (in->road_speed - in->speed);
    double gap = fmin(in->leader_gap, in->stop_distance) - 3.0;
    if (gap < in->speed * in->speed / 4.0 + in->speed) wanted = gap > 0.0 ? -2.5 : -6.0;
#if KIND == STATEFUL
    double *filtered = &self->filtered[batch->slots[row]];
    *filtered += 0.7 * (wanted - *filtered);
    wanted = *filtered;
#else
    (void)self;
#endif
    out->acceleration = wanted;
    out->steering = fmax(-0.6, fmin(0.6, in->wheelbase * curvature));
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

#endif

#if KIND == STATEFUL

static int32_t agents_changed(rw_instance *self, uint32_t slots, const uint32_t *added,
                              uint32_t added_count, const uint32_t *removed,
                              uint32_t removed_count) {
  (void)removed;
  (void)removed_count;
  double *filtered = realloc(self->filtered, slots * sizeof *filtered);
  if (!filtered && slots) return RW_E_FAILED;
  self->filtered = filtered;
  for (uint32_t i = self->slots; i < slots; i++) filtered[i] = 0.0;
  for (uint32_t i = 0; i < added_count; i++) filtered[added[i]] = 0.0;
  self->slots = slots;
  return RW_OK;
}

static int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  *schema = 1;
  return write(ctx, (const uint8_t *)self->filtered, self->slots * sizeof *self->filtered);
}

static int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length,
                          uint32_t schema) {
  if (schema != 1 || length != self->slots * sizeof *self->filtered) return RW_E_STATE;
  memcpy(self->filtered, bytes, length);
  return RW_OK;
}

#endif

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {.create = create, .destroy = destroy, .step = step};
#if KIND == STATEFUL
  api.agents_changed = agents_changed;
  api.state_save = state_save;
  api.state_load = state_load;
#endif
  uint32_t size = out->size < sizeof api ? out->size : (uint32_t)sizeof api;
  api.size = size;
  memcpy(out, &api, size);
  return RW_OK;
}

RW_EXPORT const rw_plugin_info rw_plugin_info_v1 = {
    .magic = RW_MAGIC,
    .info_size = sizeof(rw_plugin_info),
    .abi_major = 1,
    .row_schema = RW_ROW_SCHEMA,
#if KIND == PLANNER
    .kinds = RW_KIND_PLANNER,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC,
    .id = "org.roadwright.kept.planner",
#elif KIND == FITNESS
    .kinds = RW_KIND_FITNESS,
    .caps = RW_CAP_STATELESS | RW_CAP_DETERMINISTIC,
    .id = "org.roadwright.kept.fitness",
#elif KIND == STATEFUL
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATE | RW_CAP_DETERMINISTIC,
    .id = "org.roadwright.kept.stateful",
#else
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS | RW_CAP_PARALLEL_SLICES | RW_CAP_DETERMINISTIC,
    .id = "org.roadwright.kept.parallel",
#endif
    .name = "Kept",
    .version = "1.0.0",
    .author = "Roadwright",
    .language = "C",
    .build_id = "kept",
    .doc = "A plugin of interface 1.0, kept as a binary.",
};

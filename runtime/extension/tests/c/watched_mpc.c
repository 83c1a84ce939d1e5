/* The predictive controller of the examples, watched: a row is marked as failed if its command is beyond the abilities of
 * its vehicle, or if the last command of the row is not the one that the agent was given, so that the host has changed it.
 * A step fails if it allocates memory. */
#include <stdlib.h>

static unsigned long allocations;

static void *counted_malloc(size_t size) {
  allocations++;
  return malloc(size);
}

#define malloc counted_malloc
#define calloc no_calloc
#define realloc no_realloc
#define rw_plugin_main_v1 own_main
#include "mpc_c.c"
#undef rw_plugin_main_v1

enum { MOST_AGENTS = 4096 };

static struct {
  uint64_t id, step;
  rw_controller_output command;
} given[MOST_AGENTS];

static int is_within_abilities(const rw_controller_input *in, const rw_controller_output *out, const rw_vehicle *car,
                               double period) {
  const double tiny = 1e-9;
  return out->acceleration >= -car->max_braking && out->acceleration <= car->max_acceleration &&
         fabs(out->steering) <= car->max_steering &&
         fabs(out->steering - in->steering) <= car->max_steering_rate * period + tiny;
}

static int32_t watched_step(rw_instance *self, rw_batch *batch) {
  const unsigned long before = allocations;
  int32_t result = step(self, batch);
  const rw_view vehicles = rw_view_of(batch, RW_VIEW_VEHICLES);
  for (uint32_t row = 0; row < batch->count; row++) {
    const uint32_t index = batch->agent_indices[row];
    if (index >= MOST_AGENTS) return RW_E_FAILED;
    const rw_controller_input *in = rw_input(batch, row);
    const rw_controller_output *out = rw_output(batch, row);
    /* The agent has had this command since the last call. */
    const int is_same = given[index].id == batch->agent_ids[row] && given[index].step < batch->step;
    if (is_same && (in->last_acceleration != given[index].command.acceleration ||
                    in->last_steering != given[index].command.steering))
      batch->status[row] = RW_ROW_FAILED;
    given[index].id = 0;
    if (batch->status[row] != RW_ROW_OK) continue;
    if (!is_within_abilities(in, out, rw_at(vehicles, in->vehicle), batch->period)) batch->status[row] = RW_ROW_FAILED;
    given[index].id = batch->agent_ids[row], given[index].step = batch->step, given[index].command = *out;
  }
  return allocations == before ? result : RW_E_FAILED;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  int32_t result = own_main(host, out);
  out->step = watched_step;
  return result;
}

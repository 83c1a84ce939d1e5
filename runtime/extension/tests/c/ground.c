/* A ground planner that checks its inputs against what it has requested, and marks a row as failed if it finds a
 * flaw. The speeds of its paths, which are arcs to the goal, depend on every byte that it sees, so two runs are equal
 * only if these are. Its searches take several steps.
 *
 * With SAVES the speeds depend on what it saw when the search began, moving vehicles included, so it saves its searches.
 * With FORGETS it does not restore them. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef GROUPS
#define GROUPS (RW_NEED_VEHICLES | RW_NEED_NEAR | RW_NEED_TREES | RW_NEED_GRID)
#endif
#ifndef NEAR_MOST
#define NEAR_MOST 12
#endif
#ifndef RADIUS
#define RADIUS 100.0
#endif
#ifndef CELL
#define CELL 0.5
#endif
#ifndef SEARCH
#define SEARCH 20000 /* expansions of a search */
#endif
#define PATH 0
#define OPEN 1
#define NAN_POSE 2
#define REASON 3
#define IDLE 4
#define FAILED 5
#define BENT 6
#ifndef ANSWER
#define ANSWER PATH
#endif
#ifndef TIMES
#define TIMES 0
#endif
#ifndef SAVES
#define SAVES 0
#endif
#ifndef FORGETS
#define FORGETS 0
#endif
#define AGENTS 64

typedef struct search {
  uint64_t number;
  uint64_t expanded;
  uint64_t seen; /* hash of what it saw when it began */
} search;

struct rw_instance {
  search searches[AGENTS]; /* by agent index */
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_GROUND_PLANNER) return RW_E_UNSUPPORTED;
  *out = calloc(1, sizeof **out);
  return *out ? RW_OK : RW_E_FAILED;
}

static void destroy(rw_instance *self) { free(self); }

static int32_t needs(rw_instance *self, rw_needs *out) {
  (void)self;
  if (out->size != sizeof(rw_needs)) return RW_E_ARGUMENT;
  out->groups = GROUPS;
  out->near_radius = RADIUS;
  out->near_most = NEAR_MOST;
  out->grid_cell = CELL;
  return RW_OK;
}

static const rw_needs_extension NEEDS = {sizeof(rw_needs_extension), 0, needs};

static const void *get_extension(const char *id, uint64_t length) {
  const char *known = RW_NEEDS_EXTENSION;
  return length == strlen(known) && memcmp(id, known, length) == 0 ? &NEEDS : NULL;
}

static uint64_t hash;

static void mix(const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void mix_view(rw_view view) {
  for (uint32_t i = 0; i < view.count; i++) mix(rw_at(view, i), view.stride);
}

/* Returns whether the row contains what was asked for, and nothing else. */
static int check(const rw_batch *batch, const rw_ground_planner_input *in) {
  rw_view views[9];
  if (batch->size != sizeof(rw_batch) || batch->input_stride != sizeof *in) return 0;
  if (batch->output_stride != sizeof(rw_ground_planner_output)) return 0;
  if (batch->view_count != (GROUPS ? 9u : 0u)) return 0;
  for (uint32_t i = 0; i < 9; i++) views[i] = rw_view_of(batch, i);
  if (views[RW_VIEW_PATH].count) return 0;
  if (!(in->curvature > 0.0 && in->clearance > 0.0 && in->budget > 0)) return 0;
  if (!(in->min_x < in->start_x && in->start_x < in->max_x && in->min_y < in->goal_y && in->goal_y < in->max_y)) return 0;
  if ((GROUPS & RW_NEED_VEHICLES) != 0) {
    if (in->vehicle >= views[RW_VIEW_VEHICLES].count) return 0;
    const rw_vehicle *vehicle = rw_at(views[RW_VIEW_VEHICLES], in->vehicle);
    if (vehicle->hitch_count < in->hitch_count) return 0;
    if (rw_part(views[RW_VIEW_HITCH_ANGLES], in->hitch_first, in->hitch_count).count != in->hitch_count) return 0;
    mix(vehicle, sizeof *vehicle);
    mix_view(views[RW_VIEW_HITCH_ANGLES]);
  } else if (in->vehicle != RW_NO_INDEX || views[RW_VIEW_VEHICLES].count || in->hitch_count) {
    return 0;
  }
  if ((GROUPS & RW_NEED_NEAR) != 0) {
    rw_view pairs = rw_part(views[RW_VIEW_NEAR], in->near_first, in->near_count);
    if (pairs.count != in->near_count || pairs.count > NEAR_MOST) return 0;
    if (in->object >= views[RW_VIEW_OBJECTS].count) return 0;
    for (uint32_t i = 0; i < pairs.count; i++) {
      const rw_near *near = rw_at(pairs, i);
      if (near->object >= views[RW_VIEW_OBJECTS].count || !(near->distance <= RADIUS)) return 0;
    }
    mix_view(pairs);
    mix_view(views[RW_VIEW_OBJECTS]);
    mix_view(views[RW_VIEW_OUTLINES]);
  } else if (in->near_count || views[RW_VIEW_OBJECTS].count || in->object != RW_NO_INDEX) {
    return 0;
  }
  if ((GROUPS & RW_NEED_GRID) != 0) {
    if (in->grid >= views[RW_VIEW_GRIDS].count) return 0;
    const rw_grid *grid = rw_at(views[RW_VIEW_GRIDS], in->grid);
    rw_view cells = rw_part(views[RW_VIEW_CELLS], grid->first, grid->columns * grid->rows);
    if (cells.count == 0 || cells.stride != 2 || grid->cell != CELL || !grid->version) return 0;
    if (grid->x > in->min_x || grid->x + grid->cell * grid->columns < in->max_x) return 0;
    if (grid->y > in->min_y || grid->y + grid->cell * grid->rows < in->max_y) return 0;
    mix(grid, sizeof *grid);
    mix_view(cells);
  } else if (in->grid != RW_NO_INDEX || views[RW_VIEW_GRIDS].count || views[RW_VIEW_CELLS].count) {
    return 0;
  }
  return 1;
}

static void put(rw_batch *batch, double x, double y, double heading, double speed, double time) {
  rw_plan_pose pose = {x, y, heading, speed, time, 1, 0};
  batch->poses[batch->pose_length++] = pose;
}

/* Continues the saved search of an agent, or begins one. Returns whether it is where the host believes it to be. */
static int go_on(search *own, const rw_ground_planner_input *in) {
  if (own->number != in->search && in->expanded == 0) {
    own->number = in->search;
    own->expanded = 0;
    own->seen = hash;
  }
  if (own->number != in->search || own->expanded != in->expanded) return 0;
  own->expanded += in->budget;
  hash = own->seen;
  return 1;
}

static uint8_t plan(search *own, rw_batch *batch, const rw_ground_planner_input *in, rw_ground_planner_output *out) {
  hash = UINT64_C(0xcbf29ce484222325);
  if (!check(batch, in)) return RW_ROW_FAILED;
  mix(in, sizeof *in);
  if (SAVES && !go_on(own, in)) return RW_ROW_FAILED;
  out->expanded = in->expanded + in->budget;
  if (ANSWER == OPEN) return RW_ROW_NOT_WRITTEN;
  if (ANSWER == FAILED) return RW_ROW_FAILED;
  if (ANSWER == IDLE) {
    out->expanded = in->expanded;
    return RW_ROW_KEEP;
  }
  if (out->expanded < SEARCH) return RW_ROW_KEEP;
  if (ANSWER == REASON) {
    out->reason = RW_NO_PATH_START_WALLED_IN;
    return RW_ROW_OK;
  }
  const double x = in->goal_x - in->start_x, y = in->goal_y - in->start_y, length = hypot(x, y);
  const uint32_t count = (uint32_t)ceil(length / 1.5) + 1;
  const double speed = 4.0 + (double)(hash >> 40) / (1 << 24);
  out->start = batch->pose_length;
  out->count = count + 1;
  out->cost = length;
  if (batch->pose_capacity - batch->pose_length < out->count) return RW_ROW_FAILED;
  /* Along the circle that leads to the goal. */
  const double angle = atan2(y, x) - in->start_heading;
  for (uint32_t i = 0; i <= count; i++) {
    const double share = (double)i / count, turn = share * angle;
    const double chord = fabs(angle) > 1e-9 ? length * sin(turn) / sin(angle) : share * length;
    put(batch, in->start_x + chord * cos(in->start_heading + turn), in->start_y + chord * sin(in->start_heading + turn),
        in->start_heading + 2.0 * turn, TIMES ? RW_NOTHING : speed, TIMES ? share * length / speed : RW_NOTHING);
  }
  if (ANSWER == NAN_POSE) batch->poses[out->start + 1].x = NAN;
  if (ANSWER == BENT) batch->poses[out->start + 1].heading += 1.0;
  return RW_ROW_OK;
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  for (uint32_t row = 0; row < batch->count; row++) {
    search *own = &self->searches[batch->agent_indices[row] % AGENTS];
    batch->status[row] = plan(own, batch, rw_input(batch, row), rw_output(batch, row));
  }
  return RW_OK;
}

static int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  *schema = 1;
  return write(ctx, (const uint8_t *)self->searches, sizeof self->searches);
}

static int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length, uint32_t schema) {
  if (schema != 1 || length != sizeof self->searches) return RW_E_STATE;
  if (!FORGETS) memcpy(self->searches, bytes, sizeof self->searches);
  return RW_OK;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  out->create = create;
  out->destroy = destroy;
  out->step = step;
  if (GROUPS) out->get_extension = get_extension;
  if (SAVES) out->state_save = state_save;
  if (SAVES) out->state_load = state_load;
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    RW_MAGIC, sizeof(rw_plugin_info), RW_ABI_MAJOR, RW_ABI_MINOR, 5, 0,
    RW_KIND_GROUND_PLANNER, (SAVES ? RW_CAP_STATE : RW_CAP_STATELESS) | RW_CAP_DETERMINISTIC, RW_ROW_SCHEMA,
    "Ground", "org.roadwright.ground", "0.1.0", "", "c", "", "A ground planner for tests."};

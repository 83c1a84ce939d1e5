/* A controller in C that drives by a small neural net, whose 300 weights are two tables among its
 * parameters: one layer of twelve hidden units that are linear above 0 and 0 below (ReLU), and two
 * outputs. Its inputs are those of a lane follower and, similar to a lidar, the proximity and the
 * closing speed of the nearest object in each of eight sectors. The default weights follow the lane
 * along the circle through the waypoint, brake for whatever is ahead, and ignore the sectors;
 * roadwright train changes them.
 *
 * It describes its parameters through the extension roadwright.parameters/1, and requests nearby
 * objects through roadwright.needs/1. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECTORS = 8, LANE_INPUTS = 7, INPUTS = LANE_INPUTS + 2 * SECTORS, HIDDEN = 12, OUTPUTS = 2 };
enum { HIDDEN_TABLE, OUTPUT_TABLE, BRAKING, PARAMETER_COUNT };

/* Distance from box to box within which objects are inputs, m, and largest number of them. */
#define RADIUS 20.0
#define MOST 16
/* Closing speed that is an input of 1 for an object that touches the vehicle, m/s. */
#define CLOSING 10.0
#define PI 3.14159265358979323846

/* Sectors are numbered counter-clockwise from the one ahead. */
static const char *const INPUT_NAMES[INPUTS] = {
    "road",           "ahead",          "steer",          "offset",         "heading",        "speed",
    "bias",           "near front",     "near front left", "near left",     "near rear left", "near rear",
    "near rear right", "near right",    "near front right", "closing front", "closing front left",
    "closing left",   "closing rear left", "closing rear", "closing rear right", "closing right",
    "closing front right",
};
static const char *const OUTPUT_NAMES[OUTPUTS] = {"acceleration", "steering"};

/* Rows are hidden units, columns inputs. The first five units pass on the values that the
 * outputs combine: the speed error in both directions, the amount by which the road ahead allows less,
 * and the steering to both sides. The last four respond to objects. Columns that are left out are 0. */
static const double HIDDEN_WEIGHTS[HIDDEN * INPUTS] = {
    [0 * INPUTS] = 1,                                             /* the road allows more */
    [1 * INPUTS] = -1,                                            /* the road allows less */
    [2 * INPUTS] = 1, -1,                                         /* what is ahead allows less than the road */
    [3 * INPUTS + 2] = 1,                                         /* steer left */
    [4 * INPUTS + 2] = -1,                                        /* steer right */
    [5 * INPUTS + 3] = 1,                                         /* left of the lane's centre line */
    [6 * INPUTS + 4] = 1,                                         /* turned to the left of the lane */
    [7 * INPUTS + 5] = 1, -1,                                     /* fast */
    [8 * INPUTS + LANE_INPUTS] = 0, 1, 0, 0, 0, 0, 0, -1,         /* nearer at the left front */
    [9 * INPUTS + LANE_INPUTS] = 0, -1, 0, 0, 0, 0, 0, 1,         /* nearer at the right front */
    [10 * INPUTS + LANE_INPUTS + SECTORS] = 1, 0.5, 0, 0, 0, 0, 0, 0.5, /* something comes from the front */
    [11 * INPUTS + LANE_INPUTS] = 1, 0, 0, 0, 0, 0, 0, 0,         /* something is ahead */
};
/* Rows are outputs, columns hidden units. */
static const double OUTPUT_WEIGHTS[OUTPUTS * HIDDEN] = {
    1, -1, -1, 0, 0,  0, 0, 0, 0, 0, 0, 0, /* the smaller of the two speed errors */
    0, 0,  0,  1, -1, 0, 0, 0, 0, 0, 0, 0,
};

struct rw_instance {
  double hidden[HIDDEN * INPUTS];
  double output[OUTPUTS * HIDDEN];
  double braking;
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  rw_instance *self = malloc(sizeof *self);
  if (!self) return RW_E_FAILED;
  memcpy(self->hidden, HIDDEN_WEIGHTS, sizeof self->hidden);
  memcpy(self->output, OUTPUT_WEIGHTS, sizeof self->output);
  self->braking = 2.0;
  *out = self;
  return RW_OK;
}

static void destroy(rw_instance *self) { free(self); }

/* ---- parameters ---------------------------------------------------------------------------- */

static double *values_of(rw_instance *self, uint32_t index, uint32_t *count) {
  switch (index) {
    case HIDDEN_TABLE: return *count = HIDDEN * INPUTS, self->hidden;
    case OUTPUT_TABLE: return *count = OUTPUTS * HIDDEN, self->output;
    case BRAKING: return *count = 1, &self->braking;
    default: return NULL;
  }
}

static uint32_t parameter_count(rw_instance *self) {
  (void)self;
  return PARAMETER_COUNT;
}

static int32_t parameter_info(rw_instance *self, uint32_t index, rw_parameter *out) {
  (void)self;
  switch (index) {
    case HIDDEN_TABLE:
      strcpy(out->key, "hidden");
      out->kind = RW_PARAM_TABLE, out->rows = HIDDEN, out->columns = INPUTS;
      out->min = -2.0, out->max = 2.0;
      return RW_OK;
    case OUTPUT_TABLE:
      strcpy(out->key, "output");
      out->kind = RW_PARAM_TABLE, out->rows = OUTPUTS, out->columns = HIDDEN;
      out->min = -2.0, out->max = 2.0;
      return RW_OK;
    case BRAKING:
      strcpy(out->key, "braking");
      strcpy(out->unit, "m/s^2");
      out->kind = RW_PARAM_NUMBER, out->min = 0.5, out->max = 8.0;
      return RW_OK;
    default: return RW_E_ARGUMENT;
  }
}

static const char *text_of(uint32_t index, uint32_t what, uint32_t item) {
  static const char *const docs[PARAMETER_COUNT] = {
      "Weights of the hidden units: a row for each unit, a column for each input.",
      "Weights of the outputs: a row for each output, a column for each hidden unit.",
      "Deceleration for planning stops.",
  };
  if (what == RW_TEXT_DOC && index < PARAMETER_COUNT) return docs[index];
  if (what == RW_TEXT_COLUMN && index == HIDDEN_TABLE && item < INPUTS) return INPUT_NAMES[item];
  if (what == RW_TEXT_ROW && index == OUTPUT_TABLE && item < OUTPUTS) return OUTPUT_NAMES[item];
  return "";
}

static uint64_t parameter_text(rw_instance *self, uint32_t index, uint32_t what, uint32_t item,
                               char *buffer, uint64_t capacity) {
  (void)self;
  const char *text = text_of(index, what, item);
  uint64_t length = strlen(text);
  memcpy(buffer, text, length < capacity ? length : capacity);
  return length;
}

static int32_t parameter_defaults(rw_instance *self, uint32_t index, double *values, uint32_t count) {
  (void)self;
  static const double braking = 2.0;
  const double *defaults[PARAMETER_COUNT] = {HIDDEN_WEIGHTS, OUTPUT_WEIGHTS, &braking};
  uint32_t own;
  if (!values_of(self, index, &own) || count != own) return RW_E_ARGUMENT;
  memcpy(values, defaults[index], count * sizeof *values);
  return RW_OK;
}

static int32_t parameter_get(rw_instance *self, uint32_t index, double *values, uint32_t count) {
  uint32_t own;
  const double *from = values_of(self, index, &own);
  if (!from || count != own) return RW_E_ARGUMENT;
  memcpy(values, from, count * sizeof *values);
  return RW_OK;
}

static int32_t parameter_set(rw_instance *self, uint32_t index, const double *values, uint32_t count) {
  uint32_t own;
  double *into = values_of(self, index, &own);
  if (!into || count != own) return RW_E_ARGUMENT;
  memcpy(into, values, count * sizeof *values);
  return RW_OK;
}

static const rw_parameters_extension PARAMETERS = {
    sizeof PARAMETERS,  0,          parameter_count, parameter_info, parameter_text,
    parameter_defaults, parameter_get, parameter_set,
};

/* ---- the net ------------------------------------------------------------------------------- */

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

/* The inputs of a lane follower, all about -1 to 1. */
static void look(const rw_instance *self, const rw_controller_input *in, double *x) {
  double gap = fmin(fmin(in->leader_gap, in->stop_distance), in->obstacle_distance) - 3.0;
  double safe = sqrt(2.0 * self->braking * fmax(gap, 0.0));
  double curvature = 2.0 * sin(in->waypoint_angle) / fmax(in->waypoint_distance, 0.5);
  x[0] = clamp((in->road_speed - in->speed) / 5.0, -2.0, 2.0);
  x[1] = clamp((safe - in->speed) / 5.0, -2.0, 2.0);
  x[2] = clamp(atan(in->wheelbase * curvature) / 0.6, -1.5, 1.5);
  x[3] = clamp(in->lane_offset / 2.0, -1.0, 1.0);
  x[4] = clamp(in->heading_error, -1.0, 1.0);
  x[5] = clamp(in->speed / 15.0, -2.0, 2.0);
  x[6] = 1.0;
}

/* The inputs of the sectors, each 0 to 1: proximity and closing speed of the nearest object of a
 * sector. An object is in the sector of its middle. */
static void look_around(rw_view near, int is_reversing, double *x) {
  for (int i = 0; i < 2 * SECTORS; i++) x[i] = 0.0;
  for (uint32_t i = 0; i < near.count; i++) {
    const rw_near *other = rw_at(near, i);
    /* While the vehicle reverses, its row describes it as if it drove forwards. */
    double turned = is_reversing ? -1.0 : 1.0;
    double ahead = turned * other->ahead, left = turned * other->left;
    int sector = (int)floor(atan2(left, ahead) * SECTORS / (2.0 * PI) + 0.5 + SECTORS) % SECTORS;
    double away = fmax(hypot(ahead, left), 0.1);
    double closing = -(other->velocity_ahead * other->ahead + other->velocity_left * other->left) / away;
    double nearness = clamp(1.0 - other->distance / RADIUS, 0.0, 1.0);
    x[sector] = fmax(x[sector], nearness);
    x[SECTORS + sector] = fmax(x[SECTORS + sector], nearness * clamp(closing / CLOSING, 0.0, 1.0));
  }
}

static void layer(const double *weights, const double *in, int inputs, double *out, int outputs) {
  for (int o = 0; o < outputs; o++) {
    double sum = 0.0;
    for (int i = 0; i < inputs; i++) sum += weights[o * inputs + i] * in[i];
    out[o] = sum;
  }
}

static void drive(const rw_instance *self, const rw_controller_input *in, rw_view near,
                  int is_reversing, rw_controller_output *out) {
  double x[INPUTS], hidden[HIDDEN], y[OUTPUTS];
  look(self, in, x);
  look_around(near, is_reversing, x + LANE_INPUTS);
  layer(self->hidden, x, INPUTS, hidden, HIDDEN);
  for (int i = 0; i < HIDDEN; i++) hidden[i] = fmax(hidden[i], 0.0);
  layer(self->output, hidden, HIDDEN, y, OUTPUTS);
  out->acceleration = clamp(10.0 * y[0], -8.0, 1.5);
  out->steering = clamp(0.6 * y[1], -0.9, 0.9);
}

static int32_t step(rw_instance *self, rw_batch *batch) {
  const rw_view pairs = rw_view_of(batch, RW_VIEW_NEAR), points = rw_view_of(batch, RW_VIEW_PATH);
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = rw_input(batch, row);
    const rw_view path = rw_part(points, in->path, in->path_count);
    const rw_path_point *here = path.count > 0 ? rw_at(path, 0) : NULL;
    int is_reversing = here && (here->flags & RW_PATH_REVERSE);
    drive(self, in, rw_part(pairs, in->near_first, in->near_count), is_reversing, rw_output(batch, row));
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

/* Of the path, only the gear of its first point is used. */
static int32_t needs(rw_instance *self, rw_needs *out) {
  (void)self;
  out->groups = RW_NEED_NEAR | RW_NEED_TREES | RW_NEED_PATH;
  out->near_radius = RADIUS;
  out->near_most = MOST;
  out->path_distance = 1.0;
  out->path_spacing = 1.0;
  out->path_most = 2;
  return RW_OK;
}

static const rw_needs_extension NEEDS = {sizeof NEEDS, 0, needs};

static const void *get_extension(const char *id, uint64_t length) {
  const struct {
    const char *id;
    const void *table;
  } known[] = {{RW_PARAMETERS_EXTENSION, &PARAMETERS}, {RW_NEEDS_EXTENSION, &NEEDS}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (length == strlen(known[i].id) && memcmp(id, known[i].id, length) == 0) return known[i].table;
  return NULL;
}

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out) {
  (void)host;
  rw_api api = {
      .create = create,
      .destroy = destroy,
      .step = step,
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
    .min_host_minor = 4, /* nearby objects */
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS | RW_CAP_PARALLEL_SLICES | RW_CAP_DETERMINISTIC | RW_CAP_ALONG_BEND,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Neural driver",
    .id = "com.example.neural_driver",
    .version = "1.1.0",
    .author = "Roadwright",
    .language = "c",
    .doc = "Drives by a small neural net that sees the objects around; its weights are tables.",
};

/* A model predictive controller in C. It asks for its own motion, its vehicle and the path ahead by the
 * extension roadwright.needs/1, plans the steering over 1.6 s, and carries out the beginning of the plan.
 *
 * The model is a vehicle on two axles along a path of known curvature. Its state is the offset from
 * the path, the heading relative to the path, and the curvature that the wheels drive; its control
 * is the rate of that curvature. It slows down as the path ahead demands. First the plan without
 * limits is computed exactly, by going backwards through the steps. If it violates a limit, a fixed
 * number of projected gradient steps finds the best plan within the limits, so the answer never
 * depends on a clock. The controller keeps no state and allocates nothing after create.
 *
 * It accelerates like the intelligent driver model, and brakes before bends that the wheels could
 * not follow in time. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20, ITERATIONS = 40, STATES = 3 };
enum { OFFSET, HEADING, BEND };

#define HORIZON 1.6
#define SLOWEST 1.5 /* m/s; a standing vehicle cannot be steered */
#define GENTLE 2.5 /* lateral acceleration beyond that of the path, m/s^2 */
#define ASIDE 0.08 /* allowed offset where a bend begins or ends, m */
#define BEND_BEGINS 1.5 /* distance on either side within which the change of a curvature counts as sudden, m */
#define PI 3.14159265358979323846

/* ---- parameters ---------------------------------------------------------------------------- */

enum { OFFSET_WEIGHT, HEADING_WEIGHT, RATE_WEIGHT, ACCELERATION, BRAKING, HEADWAY, PARAMETER_COUNT };

typedef struct parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
} parameter;

static const parameter PARAMETERS[PARAMETER_COUNT] = {
    {"offset_weight", "1/m^2", "Weight of the squared offset from the path.", 0.01, 100.0, 4.0},
    {"heading_weight", "", "Weight of the squared angle to the path.", 0.01, 100.0, 4.0},
    {"rate_weight", "m^2 s^2", "Weight of the squared rate of the curvature at 10 m/s; it grows with the speed.", 0.01, 1000.0, 8.0},
    {"acceleration", "m/s^2", "Acceleration on a free road from rest.", 0.1, 5.0, 1.5},
    {"braking", "m/s^2", "Comfortable deceleration.", 0.5, 8.0, 2.5},
    {"headway", "s", "Time gap to the leader.", 0.2, 4.0, 1.2},
};

struct rw_instance {
  double values[PARAMETER_COUNT];
};

static int32_t create(const rw_host *host, uint32_t kind, rw_instance **out) {
  (void)host;
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  rw_instance *self = malloc(sizeof *self);
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

/* ---- what it asks for ---------------------------------------------------------------------- */

static int32_t needs(rw_instance *self, rw_needs *out) {
  (void)self;
  out->groups = RW_NEED_MOTION | RW_NEED_VEHICLES | RW_NEED_PATH;
  out->path_distance = 8.0;
  out->path_time = HORIZON + 0.2;
  out->path_spacing = 0.5;
  out->path_most = 160;
  return RW_OK;
}

/* ---- the path ------------------------------------------------------------------------------ */

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

/* The path at s, between its points, which are evenly spaced. */
static rw_path_point path_at(rw_view path, double s) {
  const rw_path_point *first = rw_at(path, 0), *second = rw_at(path, 1);
  double spacing = fmax(second->s - first->s, 1e-3);
  double place = clamp((s - first->s) / spacing, 0.0, (double)path.count - 1.0);
  uint32_t index = place < (double)path.count - 2.0 ? (uint32_t)place : path.count - 2;
  const rw_path_point *a = rw_at(path, index), *b = rw_at(path, index + 1);
  double share = place - (double)index;
  rw_path_point p = *a;
  p.x += share * (b->x - a->x);
  p.y += share * (b->y - a->y);
  p.heading += share * remainder(b->heading - a->heading, 2.0 * PI);
  p.curvature += share * (b->curvature - a->curvature);
  p.speed = fmin(a->speed, b->speed);
  return p;
}

/* Speed at which the wheels change the curvature by c in time. If it changes suddenly, wheels that turn as fast as they
 * can, r, begin early and are done late; at a speed v the vehicle is then up to c^3 v^2 / (24 r^2) beside the path. */
static double speed_for(const rw_vehicle *car, double change) {
  double rate = 0.9 * car->max_steering_rate / car->wheelbase, c = fabs(change);
  return fmax(SLOWEST, rate * sqrt(24.0 * ASIDE / fmax(c * c * c, 1e-9)));
}

/* Highest speed at a point of the path. */
static double speed_at(const rw_vehicle *car, rw_view path, uint32_t index) {
  const rw_path_point *first = rw_at(path, 0), *second = rw_at(path, 1), *here = rw_at(path, index);
  uint32_t reach = (uint32_t)ceil(BEND_BEGINS / fmax(second->s - first->s, 1e-3));
  const rw_path_point *before = rw_at(path, index > reach ? index - reach : 0);
  const rw_path_point *after = rw_at(path, index + reach < path.count ? index + reach : path.count - 1);
  return fmin(here->speed, speed_for(car, after->curvature - before->curvature));
}

/* Speed from which the vehicle can slow down in time for the path ahead. */
static double speed_ahead(const rw_controller_input *in, const rw_vehicle *car, rw_view path, double braking) {
  /* The wheels may still be turning. */
  double least = speed_for(car, tan(in->steering) / car->wheelbase - path_at(path, in->path_s + 0.3 * in->speed).curvature);
  for (uint32_t i = 0; i < path.count; i++) {
    const rw_path_point *point = rw_at(path, i);
    double speed = speed_at(car, path, i), distance = fmax(0.0, point->s - in->path_s);
    least = fmin(least, sqrt(speed * speed + 2.0 * braking * distance));
  }
  return least;
}

/* ---- the plan ------------------------------------------------------------------------------ */

typedef struct problem {
  double step;                /* s */
  double way[STEPS];          /* distance covered in each step, m */
  double start[STATES];
  double curvature[STEPS];    /* of the path, 1/m */
  double offset_weight, heading_weight;
  double rate_weight[STEPS];
  double most_bend, most_rate; /* 1/m, 1/(m s) */
} problem;

/* The state after step k with a rate of the curvature. */
static void advance(const problem *p, int k, const double *x, double rate, double *next) {
  double way = p->way[k], curvature = p->curvature[k];
  double bend = x[BEND] + 0.5 * rate * p->step; /* in the middle of the step */
  next[OFFSET] = x[OFFSET] + way * (x[HEADING] + 0.5 * way * (bend - curvature));
  next[HEADING] = x[HEADING] + way * (bend - curvature);
  next[BEND] = x[BEND] + rate * p->step;
}

/* The best rates without limits: backwards through the steps, the cost of the rest is a quadratic form
 * m, v of the state, and the best rate is linear in the state. Then forwards, within the limits. Returns
 * whether a limit was reached. */
static int plan_freely(const problem *p, double *rates) {
  double h = p->step;
  double m[STATES][STATES] = {{p->offset_weight, 0, 0}, {0, p->heading_weight, 0}, {0, 0, 0}};
  double v[STATES] = {0, 0, 0};
  double gain[STEPS][STATES], push[STEPS];
  for (int k = STEPS - 1; k >= 0; k--) {
    double way = p->way[k];
    const double a[STATES][STATES] = {{1.0, way, 0.5 * way * way}, {0.0, 1.0, way}, {0.0, 0.0, 1.0}};
    const double b[STATES] = {0.25 * way * way * h, 0.5 * way * h, h};
    double c[STATES] = {-0.5 * way * way * p->curvature[k], -way * p->curvature[k], 0.0};
    double mb[STATES], ma[STATES][STATES], w[STATES];
    double inner = p->rate_weight[k] * h * h;
    for (int i = 0; i < STATES; i++) {
      mb[i] = 0.0;
      w[i] = v[i];
      for (int j = 0; j < STATES; j++) {
        mb[i] += m[i][j] * b[j];
        w[i] += m[i][j] * c[j];
        ma[i][j] = 0.0;
        for (int l = 0; l < STATES; l++) ma[i][j] += m[i][l] * a[l][j];
      }
    }
    push[k] = 0.0;
    for (int i = 0; i < STATES; i++) {
      inner += b[i] * mb[i];
      push[k] += b[i] * w[i];
      gain[k][i] = 0.0;
      for (int j = 0; j < STATES; j++) gain[k][i] += b[j] * ma[j][i];
    }
    for (int i = 0; i < STATES; i++) gain[k][i] /= inner;
    push[k] /= inner;
    double next_m[STATES][STATES], next_v[STATES];
    for (int i = 0; i < STATES; i++) {
      next_v[i] = -inner * gain[k][i] * push[k];
      for (int l = 0; l < STATES; l++) next_v[i] += a[l][i] * w[l];
      for (int j = 0; j < STATES; j++) {
        next_m[i][j] = -inner * gain[k][i] * gain[k][j];
        for (int l = 0; l < STATES; l++) next_m[i][j] += a[l][i] * ma[l][j];
      }
    }
    next_m[OFFSET][OFFSET] += p->offset_weight;
    next_m[HEADING][HEADING] += p->heading_weight;
    memcpy(m, next_m, sizeof m);
    memcpy(v, next_v, sizeof v);
  }
  int is_limited = 0;
  double x[STATES], next[STATES];
  memcpy(x, p->start, sizeof x);
  for (int k = 0; k < STEPS; k++) {
    double rate = -push[k];
    for (int i = 0; i < STATES; i++) rate -= gain[k][i] * x[i];
    double low = fmax(-p->most_rate, (-p->most_bend - x[BEND]) / h);
    double high = fmin(p->most_rate, (p->most_bend - x[BEND]) / h);
    rates[k] = low < high ? clamp(rate, low, high) : clamp(0.5 * (low + high), -p->most_rate, p->most_rate);
    is_limited |= rates[k] != rate;
    advance(p, k, x, rates[k], next);
    memcpy(x, next, sizeof x);
  }
  return is_limited;
}

/* Improves rates within the limits by projected gradient steps. */
static void plan_within_limits(const problem *p, double *rates) {
  double h = p->step, time = h * STEPS, reach = 0.0, heaviest = 0.0;
  for (int k = 0; k < STEPS; k++) {
    reach += p->way[k];
    heaviest = fmax(heaviest, p->rate_weight[k]);
  }
  /* More than the largest curvature of the cost, so the steps never overshoot. */
  double steepest = heaviest * h * h + p->offset_weight * pow(reach * reach * time / 6.0, 2.0) +
                    p->heading_weight * pow(0.5 * reach * time, 2.0);
  double x[STEPS + 1][STATES];
  for (int pass = 0; pass < ITERATIONS; pass++) {
    memcpy(x[0], p->start, sizeof x[0]);
    for (int k = 0; k < STEPS; k++) advance(p, k, x[k], rates[k], x[k + 1]);
    double back[STATES] = {0, 0, 0}; /* the derivative of the rest of the cost by the state */
    double gradient[STEPS];
    for (int k = STEPS - 1; k >= 0; k--) {
      double way = p->way[k];
      back[OFFSET] += p->offset_weight * x[k + 1][OFFSET];
      back[HEADING] += p->heading_weight * x[k + 1][HEADING];
      gradient[k] = p->rate_weight[k] * h * h * rates[k] + 0.25 * way * way * h * back[OFFSET] +
                    0.5 * way * h * back[HEADING] + h * back[BEND];
      back[BEND] += 0.5 * way * way * back[OFFSET] + way * back[HEADING];
      back[HEADING] += way * back[OFFSET];
    }
    double bend = p->start[BEND];
    for (int k = 0; k < STEPS; k++) {
      double low = fmax(-p->most_rate, (-p->most_bend - bend) / h);
      double high = fmin(p->most_rate, (p->most_bend - bend) / h);
      double rate = rates[k] - gradient[k] / steepest;
      rates[k] = low < high ? clamp(rate, low, high) : clamp(0.5 * (low + high), -p->most_rate, p->most_rate);
      bend += rates[k] * h;
    }
  }
}

static double steer(const rw_instance *self, const rw_controller_input *in, const rw_vehicle *car,
                    rw_view path, double period) {
  double bend = tan(in->steering) / car->wheelbase;
  /* Where the vehicle will be when the command begins to act. */
  double lead = in->delay * in->speed;
  double heading = in->heading + 0.5 * lead * bend;
  double x = in->x + lead * cos(heading), y = in->y + lead * sin(heading);
  double s = in->path_s + lead;
  rw_path_point here = path_at(path, s);
  problem p;
  p.step = HORIZON / STEPS;
  p.start[OFFSET] = -(x - here.x) * sin(here.heading) + (y - here.y) * cos(here.heading);
  p.start[HEADING] = remainder(in->heading + lead * bend - here.heading, 2.0 * PI);
  p.start[BEND] = bend;
  p.offset_weight = self->values[OFFSET_WEIGHT];
  p.heading_weight = self->values[HEADING_WEIGHT];
  double speed = fmax(in->speed, SLOWEST), fastest = speed, sharpest = 0.0, along = 0.0;
  for (int k = 0; k < STEPS; k++) {
    /* It brakes as the path ahead demands. */
    double allowed = fmax(path_at(path, s + along).speed, SLOWEST);
    speed = fmin(speed, fmax(allowed, speed - self->values[BRAKING] * p.step));
    p.way[k] = speed * p.step;
    p.curvature[k] = path_at(path, s + along + 0.5 * p.way[k]).curvature;
    /* The same jerk costs the same at every speed. */
    p.rate_weight[k] = self->values[RATE_WEIGHT] * pow(speed / 10.0, 4.0);
    sharpest = fmax(sharpest, fabs(p.curvature[k]));
    along += p.way[k];
  }
  p.most_bend = tan(car->max_steering) / car->wheelbase;
  /* At speed, the vehicle returns to its path gently, however far off it is. */
  p.most_bend = fmin(p.most_bend, fmax(GENTLE / (fastest * fastest), 1.2 * sharpest));
  /* The wheels turn at a limited rate; the curvature changes least with them when they are straight. */
  p.most_rate = car->max_steering_rate / car->wheelbase;
  double rates[STEPS];
  if (plan_freely(&p, rates)) plan_within_limits(&p, rates);
  /* Steering for the time until the next command. */
  double wanted = clamp(bend + rates[0] * fmin(period, p.step), -p.most_bend, p.most_bend);
  return clamp(atan(wanted * car->wheelbase), -car->max_steering, car->max_steering);
}

/* ---- the speed ----------------------------------------------------------------------------- */

static double squared_ratio(double wanted, double distance) {
  double ratio = wanted / fmax(distance, 0.1);
  return ratio * ratio;
}

static double accelerate(const rw_instance *self, const rw_controller_input *in, const rw_vehicle *car, rw_view path) {
  double a = self->values[ACCELERATION], b = self->values[BRAKING];
  double closing = in->speed * (in->speed - in->leader_speed) / (2.0 * sqrt(a * b));
  double follow = 2.0 + fmax(0.0, in->speed * self->values[HEADWAY] + closing);
  double stop = 0.5 + 0.5 * in->speed + in->speed * in->speed / (2.0 * b);
  /* A desired speed of 0 means stop. */
  double allowed = fmin(in->road_speed, speed_ahead(in, car, path, 0.6 * b));
  double free_road = allowed > 0.0 ? fmin(in->speed / allowed, 2.0) : (in->speed > 0.0 ? 2.0 : 1.0);
  double hindered = fmax(squared_ratio(follow, in->leader_gap),
                         fmax(squared_ratio(stop, in->stop_distance),
                              squared_ratio(stop, in->obstacle_distance)));
  double wanted = a * (1.0 - pow(free_road, 4.0) - hindered);
  return clamp(wanted, -car->max_braking, car->max_acceleration);
}

/* ---- the interface ------------------------------------------------------------------------- */

static int32_t step(rw_instance *self, rw_batch *batch) {
  const rw_view vehicles = rw_view_of(batch, RW_VIEW_VEHICLES);
  const rw_view points = rw_view_of(batch, RW_VIEW_PATH);
  for (uint32_t row = 0; row < batch->count; row++) {
    const rw_controller_input *in = rw_input(batch, row);
    rw_controller_output *out = rw_output(batch, row);
    const rw_view path = rw_part(points, in->path, in->path_count);
    if (path.count < 2 || in->vehicle >= vehicles.count) continue; /* the built-in module drives */
    const rw_path_point *first = rw_at(path, 0);
    /* Off the lanes and in reverse the host's own paths are followed by the built-in module. */
    if (first->lanelet == RW_NO_LANELET) continue;
    const rw_vehicle *car = rw_at(vehicles, in->vehicle);
    out->acceleration = accelerate(self, in, car, path);
    out->steering = steer(self, in, car, path, batch->period);
    batch->status[row] = RW_ROW_OK;
  }
  return RW_OK;
}

static const rw_needs_extension NEEDS = {sizeof NEEDS, 0, needs};

static const void *get_extension(const char *id, uint64_t length) {
  const char *known = RW_NEEDS_EXTENSION;
  return length == strlen(known) && memcmp(id, known, length) == 0 ? &NEEDS : NULL;
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
    .min_host_minor = 3, /* needs, views and the rows with motion */
    .kinds = RW_KIND_CONTROLLER,
    .caps = RW_CAP_STATELESS | RW_CAP_PARALLEL_SLICES | RW_CAP_DETERMINISTIC | RW_CAP_ALONG_BEND,
    .row_schema = RW_ROW_SCHEMA,
    .name = "Predictive control",
    .id = "com.example.mpc_c",
    .version = "1.0.0",
    .author = "Roadwright",
    .language = "c",
    .doc = "Plans its steering along the path ahead within the limits of its vehicle.",
};

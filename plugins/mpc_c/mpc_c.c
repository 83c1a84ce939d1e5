/* A model predictive controller in C. It requests its own motion, its vehicle and the path ahead through the
 * extension roadwright.needs/1, plans the steering over 1.6 s, and carries out the beginning of the plan.
 *
 * The model is a vehicle on two axles along a path of known curvature. Its state is the offset from
 * the path, the heading relative to the path, and the curvature that the wheels drive; its control
 * is the rate of that curvature. It slows down as the path ahead demands. First, the plan without
 * limits is computed exactly, by a backward pass over the steps. If it violates a limit, a fixed
 * number of projected gradient steps finds the best plan within the limits, so the answer never
 * depends on a clock. The controller keeps no state and allocates nothing after create.
 *
 * It accelerates like the intelligent driver model, and brakes before bends that the wheels could
 * not follow in time. */
#include "roadwright_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 36, PASSES = 24, STATES = 3 };
enum { OFFSET, HEADING, BEND };

#define HORIZON 1.6 /* minimum duration of a plan, s */
#define LONGEST 14.0 /* maximum duration of a plan, s */
#define REACH 32.0  /* distance that a plan covers if its duration allows that, m */
#define SLOWEST 2.0 /* m/s; a standing vehicle cannot be steered */
#define FIRST_BARRIER 0.1
#define STEEPER 0.5
#define ASIDE 0.08 /* allowed offset where a bend begins or ends, m */
#define MOST_ASIDE 0.1 /* planned offset from the path beyond which the vehicle slows down, m */
#define SOFTLY 0.03    /* further offset at which it slows down fully, m */
#define LONGEST_CHANGE 6.0 /* distance within which changes of the curvature are compared with the rate of the wheels, m */
#define LEAST_CHANGE 0.02 /* change of the curvature that the wheels follow at any speed, 1/m */
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
  out->path_distance = 36.0;
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

/* Highest speed at which the wheels can follow a change of the curvature by c over a distance w. Wheels that turn at
 * their maximum rate r need a distance l = c v / r. If l exceeds w, they begin early and finish late, and the vehicle
 * deviates by up to c (l^2 - w^2) / 24 from the path. Also returns l. */
static double speed_for(const rw_vehicle *car, double change, double distance, double *length) {
  double rate = 0.9 * car->max_steering_rate / car->wheelbase, c = fmax(fabs(change), 1e-3);
  *length = sqrt(24.0 * ASIDE / c + distance * distance);
  return fmax(SLOWEST, rate / c * *length);
}

/* Speed from which the vehicle can slow down in time for the path ahead. */
static double speed_ahead(const rw_controller_input *in, const rw_vehicle *car, rw_view path, double braking) {
  /* The wheels may still be turning. */
  double length, bend = tan(in->steering) / car->wheelbase;
  double least = speed_for(car, bend - path_at(path, in->path_s + 0.3 * in->speed).curvature, 0.0, &length);
  double spacing = fmax(((const rw_path_point *)rw_at(path, 1))->s - ((const rw_path_point *)rw_at(path, 0))->s, 1e-3);
  uint32_t most = (uint32_t)fmin(ceil(LONGEST_CHANGE / spacing), 1000.0);
  for (uint32_t i = 0; i < path.count; i++) {
    const rw_path_point *point = rw_at(path, i);
    double ahead = fmax(0.0, point->s - in->path_s);
    least = fmin(least, sqrt(point->speed * point->speed + 2.0 * braking * ahead));
    for (uint32_t j = i + 1; j < path.count && j <= i + most; j++) {
      double change = ((const rw_path_point *)rw_at(path, j))->curvature - point->curvature;
      if (fabs(change) < LEAST_CHANGE) continue;
      double distance = (j - i) * spacing, speed = speed_for(car, change, distance, &length);
      double before = fmax(0.0, point->s - in->path_s - 0.5 * (length - distance));
      least = fmin(least, sqrt(speed * speed + 2.0 * braking * before));
    }
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

/* Additional costs in each step: weight . value^2 + 2 . slope . value, for the rate and for the curvature after the step. */
typedef struct barrier {
  double rate_weight[STEPS], rate_slope[STEPS], bend_weight[STEPS], bend_slope[STEPS];
} barrier;

/* Rates of a plan, and the curvature and the offset after each step. */
typedef struct plan {
  double rate[STEPS], bend[STEPS], offset[STEPS];
} plan;

/* The best rates without limits. In a backward pass over the steps, the cost of the rest is a quadratic form (m, v) of the
 * state, and the best rate is linear in the state: -(gain . state + push). A forward pass then gives the rates. */
static void plan_freely(const problem *p, const barrier *more, plan *out) {
  double h = p->step, gain[STEPS][STATES], push[STEPS];
  double m[STATES][STATES] = {{0}}, v[STATES] = {0};
  for (int k = STEPS - 1; k >= 0; k--) {
    m[OFFSET][OFFSET] += p->offset_weight;
    m[HEADING][HEADING] += p->heading_weight;
    m[BEND][BEND] += more->bend_weight[k];
    v[BEND] += more->bend_slope[k];
    double way = p->way[k];
    const double a[STATES][STATES] = {{1.0, way, 0.5 * way * way}, {0.0, 1.0, way}, {0.0, 0.0, 1.0}};
    const double b[STATES] = {0.25 * way * way * h, 0.5 * way * h, h};
    const double c[STATES] = {-0.5 * way * way * p->curvature[k], -way * p->curvature[k], 0.0};
    double mb[STATES], ma[STATES][STATES], w[STATES];
    double inner = p->rate_weight[k] * h * h + more->rate_weight[k];
    push[k] = more->rate_slope[k];
    for (int i = 0; i < STATES; i++) {
      mb[i] = m[i][0] * b[0] + m[i][1] * b[1] + m[i][2] * b[2];
      w[i] = v[i] + m[i][0] * c[0] + m[i][1] * c[1] + m[i][2] * c[2];
      for (int j = 0; j < STATES; j++) ma[i][j] = m[i][0] * a[0][j] + m[i][1] * a[1][j] + m[i][2] * a[2][j];
      inner += b[i] * mb[i];
      push[k] += b[i] * w[i];
    }
    push[k] /= inner;
    for (int j = 0; j < STATES; j++) gain[k][j] = (b[0] * ma[0][j] + b[1] * ma[1][j] + b[2] * ma[2][j]) / inner;
    for (int i = 0; i < STATES; i++) {
      v[i] = a[0][i] * w[0] + a[1][i] * w[1] + a[2][i] * w[2] - inner * gain[k][i] * push[k];
      for (int j = 0; j < STATES; j++)
        m[i][j] = a[0][i] * ma[0][j] + a[1][i] * ma[1][j] + a[2][i] * ma[2][j] - inner * gain[k][i] * gain[k][j];
    }
  }
  double x[STATES];
  memcpy(x, p->start, sizeof x);
  for (int k = 0; k < STEPS; k++) {
    double rate = -push[k] - gain[k][0] * x[0] - gain[k][1] * x[1] - gain[k][2] * x[2], way = p->way[k];
    double bend = x[BEND] + 0.5 * rate * h - p->curvature[k]; /* relative to the path, in the middle of the step */
    x[OFFSET] += way * (x[HEADING] + 0.5 * way * bend);
    x[HEADING] += way * bend;
    x[BEND] += rate * h;
    out->rate[k] = rate, out->bend[k] = x[BEND], out->offset[k] = x[OFFSET];
  }
}

static int is_within(double value, double most) { return fabs(value) <= most; }

/* Adds a barrier of height mu in front of both limits of a value. It is approximated at the value. */
static void add_barrier(double value, double most, double mu, double *weight, double *slope) {
  double low = 1.0 / (most + value), high = 1.0 / (most - value);
  *weight = 0.5 * mu * (low * low + high * high);
  *slope = 0.5 * mu * (high - low) - *weight * value;
}

/* The longest part of a step at which a value stays within its limits. */
static double part_within(double value, double step, double most) {
  return step > 0.0 ? (most - value) / step : step < 0.0 ? (-most - value) / step : HUGE_VAL;
}

/* The best plan within the limits, by a fixed number of steps of an interior point method, whose barriers in front of the
 * limits become steeper and steeper. */
static void plan_within_limits(const problem *p, plan *best) {
  /* It begins with a plan that turns the wheels back a little, which is within all limits. */
  double bend = p->start[BEND], most_bend = fmax(p->most_bend, 1.001 * fabs(bend)), mu = FIRST_BARRIER;
  for (int k = 0; k < STEPS; k++) {
    best->rate[k] = clamp(-0.05 * bend / p->step, -0.5 * p->most_rate, 0.5 * p->most_rate);
    best->bend[k] = bend += best->rate[k] * p->step;
    best->offset[k] = 0.0; /* set by the first pass */
  }
  for (int pass = 0; pass < PASSES; pass++, mu *= STEEPER) {
    barrier all;
    plan next;
    for (int k = 0; k < STEPS; k++) {
      add_barrier(best->rate[k], p->most_rate, mu, &all.rate_weight[k], &all.rate_slope[k]);
      add_barrier(best->bend[k], most_bend, mu, &all.bend_weight[k], &all.bend_slope[k]);
    }
    plan_freely(p, &all, &next);
    double part = 1.0;
    for (int k = 0; k < STEPS; k++) {
      part = fmin(part, 0.95 * part_within(best->rate[k], next.rate[k] - best->rate[k], p->most_rate));
      part = fmin(part, 0.95 * part_within(best->bend[k], next.bend[k] - best->bend[k], most_bend));
    }
    for (int k = 0; k < STEPS; k++) {
      best->rate[k] += part * (next.rate[k] - best->rate[k]);
      best->bend[k] += part * (next.bend[k] - best->bend[k]);
      best->offset[k] += part * (next.offset[k] - best->offset[k]);
    }
  }
}

/* The best plan. */
static void make_plan(const problem *p, plan *best) {
  static const barrier none;
  plan_freely(p, &none, best);
  int is_possible = 1;
  for (int k = 0; k < STEPS; k++)
    is_possible &= is_within(best->rate[k], p->most_rate) && is_within(best->bend[k], p->most_bend);
  if (!is_possible) plan_within_limits(p, best);
}

/* A command, and the largest offset from the path to which it leads, m. */
typedef struct command {
  double acceleration, steering, aside;
} command;

/* Plans the steering for an acceleration. */
static command steer(const rw_instance *self, const rw_controller_input *in, const rw_vehicle *car, rw_view path,
                     double acceleration, double period) {
  double bend = tan(in->steering) / car->wheelbase;
  /* Where the vehicle will be when the command begins to act. */
  double lead = in->delay * in->speed;
  double heading = in->heading + 0.5 * lead * bend;
  double x = in->x + lead * cos(heading), y = in->y + lead * sin(heading);
  double s = in->path_s + lead;
  rw_path_point here = path_at(path, s);
  problem p;
  double speed = fmax(in->speed, SLOWEST), along = 0.0;
  p.step = clamp(REACH / fmax(SLOWEST, speed + fmin(0.0, acceleration)), HORIZON, LONGEST) / STEPS;
  p.start[OFFSET] = -(x - here.x) * sin(here.heading) + (y - here.y) * cos(here.heading);
  p.start[HEADING] = remainder(in->heading + lead * bend - here.heading, 2.0 * PI);
  p.start[BEND] = bend;
  p.offset_weight = self->values[OFFSET_WEIGHT];
  p.heading_weight = self->values[HEADING_WEIGHT];
  for (int k = 0; k < STEPS; k++) {
    /* It drives on with this acceleration, and brakes as the path ahead demands. */
    double allowed = fmax(path_at(path, s + along).speed, SLOWEST), before = speed;
    speed = fmax(SLOWEST, fmin(speed + acceleration * p.step, fmax(allowed, speed - self->values[BRAKING] * p.step)));
    p.way[k] = 0.5 * (before + speed) * p.step;
    p.curvature[k] = path_at(path, s + along + 0.5 * p.way[k]).curvature;
    /* The same jerk costs the same at every speed. */
    p.rate_weight[k] = self->values[RATE_WEIGHT] * pow(speed / 10.0, 4.0);
    along += p.way[k];
  }
  p.most_bend = tan(car->max_steering) / car->wheelbase;
  /* The wheels turn at a limited rate. The curvature changes most slowly when they are straight. */
  p.most_rate = car->max_steering_rate / car->wheelbase;
  plan best;
  make_plan(&p, &best);
  /* Steering for the time until the next command. */
  double wanted = clamp(bend + best.rate[0] * fmin(period, p.step), -p.most_bend, p.most_bend);
  command out = {acceleration, clamp(atan(wanted * car->wheelbase), -car->max_steering, car->max_steering), 0.0};
  for (int k = 0; k < STEPS; k++) out.aside = fmax(out.aside, fabs(best.offset[k]));
  return out;
}

/* ---- the speed ----------------------------------------------------------------------------- */

static double squared_ratio(double wanted, double distance) {
  double ratio = wanted / fmax(distance, 0.05);
  return ratio * ratio;
}

/* Desired gap of the intelligent driver model. */
static double wanted_gap(const rw_instance *self, double speed, double leader_speed, double at_rest) {
  double closing = speed * (speed - leader_speed) / (2.0 * sqrt(self->values[ACCELERATION] * self->values[BRAKING]));
  return at_rest + fmax(0.0, speed * self->values[HEADWAY] + closing);
}

static double accelerate(const rw_instance *self, const rw_controller_input *in, const rw_vehicle *car, rw_view path) {
  double a = self->values[ACCELERATION], b = self->values[BRAKING];
  /* Obstacles beside the straight line ahead do not count. */
  int is_ahead = in->obstacle_distance * sin(fmin(fabs(in->obstacle_angle), 1.5)) < 1.5;
  double obstacle = is_ahead ? in->obstacle_distance : RW_NOTHING;
  double hindered = fmax(squared_ratio(wanted_gap(self, in->speed, in->leader_speed, 2.0), in->leader_gap),
                         fmax(squared_ratio(wanted_gap(self, in->speed, 0.0, 0.5), in->stop_distance),
                              squared_ratio(wanted_gap(self, in->speed, 0.0, 2.0), obstacle)));
  /* A desired speed of 0 means stop. */
  double allowed = fmin(in->road_speed, speed_ahead(in, car, path, 0.6 * b));
  double share = allowed > 0.0 ? fmin(in->speed / allowed, 10.0) : (in->speed > 0.0 ? 10.0 : 1.0);
  double free_road = fmax(1.0 - pow(share, 4.0), -b / a);
  return clamp(a * (free_road - hindered), -car->max_braking, car->max_acceleration);
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
    const double wish = accelerate(self, in, car, path);
    command best = steer(self, in, car, path, wish, batch->period);
    /* Where the wheels would be too slow, the vehicle slows down. */
    const double slowing = clamp((SLOWEST - in->speed) / 0.5, -0.6 * self->values[BRAKING], wish);
    if (best.aside > MOST_ASIDE && slowing < wish) {
      const command slower = steer(self, in, car, path, slowing, batch->period);
      const double share = clamp((best.aside - MOST_ASIDE) / SOFTLY, 0.0, 1.0);
      if (slower.aside < best.aside) best = slower, best.acceleration = wish + share * (slowing - wish);
    }
    out->acceleration = best.acceleration;
    out->steering = best.steering;
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

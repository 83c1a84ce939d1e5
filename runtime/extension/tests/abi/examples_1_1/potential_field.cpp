// A potential field (Khatib, 1986) for Roadwright, in C++.
//
// The waypoint attracts and obstacles repel; the sum of both is the direction to drive in. In a lane its
// centre attracts too. An obstacle close ahead also slows the vehicle down. It keeps a time gap and stops by
// a braking law.
#include "roadwright_plugin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>

namespace {

struct Parameter {
  const char *key, *unit, *doc;
  double min, max, default_value;
};

enum { ATTRACTION, REPULSION, REACH, LANE_PULL, LOOKAHEAD_TIME, LOOKAHEAD, SPEED_GAIN, BRAKING };

constexpr std::array<Parameter, 8> PARAMETERS = {{
    {"attraction", "", "Attraction of the waypoint.", 0.1, 10.0, 1.0},
    {"repulsion", "m", "Repulsion of obstacles.", 0.0, 50.0, 6.0},
    {"reach", "m", "Distance beyond which obstacles do not repel.", 1.0, 28.0, 14.0},
    {"lane_pull", "1/m", "Attraction of the lane's centre.", 0.0, 1.0, 0.0},
    {"lookahead_time", "s", "Lookahead time of the waypoint.", 0.0, 3.0, 0.7},
    {"lookahead", "m", "Minimum distance to the waypoint.", 1.0, 30.0, 4.5},
    {"speed_gain", "1/s", "Acceleration per unit of speed error.", 0.1, 5.0, 0.9},
    {"braking", "m/s^2", "Deceleration for planning stops.", 0.5, 8.0, 2.5},
}};

double safe_speed(double braking, double gap, double speed) {
  return std::sqrt(speed * speed + 2.0 * braking * std::max(gap, 0.0));
}

} // namespace

struct rw_instance {
  std::array<double, PARAMETERS.size()> values{};
  std::string error;

  void control(const rw_controller_input &in, rw_controller_output &out) const {
    const auto &p = values;
    // Forces in the vehicle's own frame: x ahead, y to the left.
    double x = p[ATTRACTION] * std::cos(in.waypoint_angle);
    double y = p[ATTRACTION] * std::sin(in.waypoint_angle);
    y -= p[ATTRACTION] * p[LANE_PULL] * in.lane_offset;
    const double distance = std::max(in.obstacle_distance, 0.3);
    if (distance < p[REACH]) {
      // Away from the obstacle, as 1/d - 1/reach: zero at the reach and growing with proximity. Khatib's own
      // force also falls with the square of the distance.
      const double push = p[REPULSION] * (1.0 / distance - 1.0 / p[REACH]);
      x -= push * std::cos(in.obstacle_angle);
      // An obstacle straight ahead would only push back, so push to the side of the waypoint.
      const double side = std::sin(in.obstacle_angle);
      const double away = std::abs(side) > 0.15 ? (side > 0.0 ? -1.0 : 1.0)
                                                : (in.waypoint_angle >= 0.0 ? 1.0 : -1.0);
      y += push * away * std::max(std::abs(side), 0.5);
    }
    // Clamped ahead, so that a vehicle that is pushed back turns aside as hard as it can instead of turning
    // round.
    const double angle = std::clamp(std::atan2(y, std::max(x, 0.05)), -1.2, 1.2);
    const double reach = std::clamp(in.waypoint_distance, 2.0, 12.0);
    out.steering = std::atan(in.wheelbase * 2.0 * std::sin(angle) / reach);

    const double gap = in.leader_gap - 2.0 - 0.6 * in.speed;
    const double aside = in.obstacle_distance * std::sin(std::min(std::abs(in.obstacle_angle), 1.5));
    double wanted = in.road_speed;
    if (aside < 1.3) {
      // Slow enough to steer round the obstacle, and to stop if that fails.
      wanted = std::min(wanted, std::max(1.0, 0.45 * in.obstacle_distance));
    }
    wanted = std::min(wanted, safe_speed(p[BRAKING], gap, in.leader_speed));
    wanted = std::min(wanted, safe_speed(p[BRAKING], in.stop_distance - 0.5 - 0.3 * in.speed, 0.0));
    const double missing = wanted - in.speed;
    out.acceleration = std::clamp((missing < 0.0 ? 4.0 : 1.0) * p[SPEED_GAIN] * missing, -8.0, 1.8);
  }
};

namespace {

int32_t create(const rw_host *, uint32_t kind, rw_instance **out) {
  if (kind != RW_KIND_CONTROLLER) return RW_E_UNSUPPORTED;
  auto *self = new (std::nothrow) rw_instance;
  if (!self) return RW_E_FAILED;
  for (size_t i = 0; i < PARAMETERS.size(); i++) self->values[i] = PARAMETERS[i].default_value;
  *out = self;
  return RW_OK;
}

void destroy(rw_instance *self) { delete self; }

int32_t step(rw_instance *self, rw_batch *batch) {
  return rw::guard(self->error, [&] {
    for (uint32_t row = 0; row < batch->count; row++) {
      const auto *in = reinterpret_cast<const rw_controller_input *>(
          static_cast<const char *>(batch->inputs) + size_t{row} * batch->input_stride);
      auto *out = reinterpret_cast<rw_controller_output *>(
          static_cast<char *>(batch->outputs) + size_t{row} * batch->output_stride);
      self->control(*in, *out);
      batch->status[row] = RW_ROW_OK;
    }
    return RW_OK;
  });
}

uint32_t param_count(rw_instance *) { return PARAMETERS.size(); }

int32_t param_info(rw_instance *, uint32_t index, rw_param_info *out) {
  if (index >= PARAMETERS.size()) return RW_E_ARGUMENT;
  const Parameter &p = PARAMETERS[index];
  *out = rw_param_info{};
  std::strncpy(out->key, p.key, sizeof out->key - 1);
  std::strncpy(out->label, p.key, sizeof out->label - 1);
  std::strncpy(out->unit, p.unit, sizeof out->unit - 1);
  std::strncpy(out->doc, p.doc, sizeof out->doc - 1);
  out->min = p.min;
  out->max = p.max;
  out->default_value = p.default_value;
  return RW_OK;
}

int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  if (index >= PARAMETERS.size()) return RW_E_ARGUMENT;
  *out = self->values[index];
  return RW_OK;
}

int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index >= PARAMETERS.size()) return RW_E_ARGUMENT;
  self->values[index] = value;
  return RW_OK;
}

uint64_t last_error(rw_instance *self, char *buffer, uint64_t capacity) {
  if (!self) return 0;
  std::memcpy(buffer, self->error.data(), std::min<uint64_t>(capacity, self->error.size()));
  return self->error.size();
}

int32_t lookahead(rw_instance *self, double *distance, double *time) {
  *distance = self->values[LOOKAHEAD];
  *time = self->values[LOOKAHEAD_TIME];
  return RW_OK;
}

const rw_controller_extension CONTROLLER = {sizeof CONTROLLER, 0, lookahead};

const void *get_extension(const char *id, uint64_t length) {
  return std::string(id, length) == RW_CONTROLLER_EXTENSION ? &CONTROLLER : nullptr;
}

} // namespace

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *, rw_api *out) {
  rw_api api{};
  // A host of another version may have a shorter table: what both know is filled.
  api.size = std::min<uint32_t>(out->size, sizeof api);
  api.create = create;
  api.destroy = destroy;
  api.step = step;
  api.param_count = param_count;
  api.param_info = param_info;
  api.param_get = param_get;
  api.param_set = param_set;
  api.last_error = last_error;
  api.get_extension = get_extension;
  std::memcpy(out, &api, api.size);
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    RW_MAGIC,
    sizeof(rw_plugin_info),
    RW_ABI_MAJOR,
    RW_ABI_MINOR,
    0,
    0,
    RW_KIND_CONTROLLER,
    RW_CAP_STATELESS | RW_CAP_DETERMINISTIC,
    RW_ROW_SCHEMA,
    "Potential field",
    "com.example.potential_field",
    "1.0.0",
    "Roadwright",
    "c++",
    "",
    "The waypoint attracts, obstacles repel.",
};

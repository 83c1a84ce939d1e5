/* A ground planner: Hybrid A* [Dolgov 2010] with smoothed paths.
 *
 * 1. The costs to the goal over cells of 1 m, from Dijkstra's algorithm, guide the search.
 * 2. The search drives on from poses along arcs, forwards and in reverse, until a curve of arcs and a straight
 *    line leads to the goal.
 * 3. A forward path is smoothed: its points are pulled towards a line of little bending and away from posts.
 * 4. Paths bow to the side of their first bend, so that those of several vehicles do not all meet in one place.
 * 5. The plugin knows where the vehicles that follow its paths will be. If others are moving, it finds paths with
 *    several bows, and takes the one that arrives soonest without coming close to others.
 *
 * A search is kept between steps. A search that is not in memory is repeated. So its state consists of the expected
 * courses of vehicles, now and when each search began. */
#include "roadwright_plugin.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr double PI = 3.14159265358979323846;
/* Arcs of the search: lengths, m, and curvatures as fractions of the largest one. */
constexpr double FORWARDS = 1.8, BACKWARDS = 1.2;
constexpr double SHARES[] = {0.0, 0.25, -0.25, 0.5, -0.5, 1.0, -1.0};
/* Length of the beginning of a path, m, and factor on the cost of bends there: the wheels are still straight. */
constexpr double BEGINNING = 10.0, EASY = 3.0;
/* Resolution of states: cells, m, and headings. */
constexpr double CELL = 1.0;
constexpr int HEADINGS = 36;
/* Distance between checks of a body, and between points of smoothed paths, m. */
constexpr double CHECK = 0.5, POINT = 1.0;
/* Cells of the estimate that count as one expansion. */
constexpr uint64_t CELLS_PER_EXPANSION = 32;
/* Each n-th expansion tries a curve to the goal. */
constexpr uint64_t CURVE_EVERY = 4;
/* Bows that are tried among others, as multiples of the usual one, and the largest number of expansions for each of
 * them after the first. */
constexpr double BOWS[] = {1.0, 0.0, -1.0, 2.0, -2.0};
constexpr size_t BOW_COUNT = sizeof BOWS / sizeof BOWS[0];
constexpr uint64_t MOST_EXPANSIONS = 5000;

struct Pose {
  double x, y, heading;
};

double wrapped(double angle) { return angle - 2.0 * PI * std::round(angle / (2.0 * PI)); }

Pose moved(const Pose &from, double curvature, double length) {
  const double turn = 0.5 * curvature * length;
  const double chord = std::fabs(turn) > 1e-9 ? length * std::sin(turn) / turn : length;
  const double along = from.heading + turn;
  return {from.x + chord * std::cos(along), from.y + chord * std::sin(along), from.heading + 2.0 * turn};
}

struct Settings {
  double bend = 1.0;         /* additional cost of the tightest bend, as a multiple of the length */
  double weight = 1.3;       /* of the estimate */
  double room = 0.25;        /* additional distance from obstacles that a path should keep, m */
  double bow = 6.0;          /* lateral offset of the middle of a path, m */
  double speed = 8.0;        /* expected on open ground, m/s */
  double acceleration = 2.0; /* expected when driving off, m/s^2 */
  double berth = 6.0;        /* wanted distance between the middles of vehicles, m */
};

/* ---- expected courses ------------------------------------------------------------------------- */

/* Time between two places of a course, s, and number of places by which a vehicle may be early or late. */
constexpr double INTERVAL = 0.5;
constexpr int EARLY_OR_LATE = 1;
/* Lateral acceleration with which the host drives through bends, m/s^2. */
constexpr double LATERAL = 3.0;
/* Time that it costs to meet another vehicle in the same place, as a multiple of the time spent there. */
constexpr double MEETING = 10.0;
/* Times by which a vehicle may pass later, s, and the part of the path on which it drives more slowly for that, m. */
constexpr double LATER[] = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0};
constexpr double SLOW_PART = 40.0;

struct Place {
  double x, y;
};

/* Where a vehicle is expected to be. */
struct Course {
  uint64_t step = 0;  /* in which it was planned */
  double begin = 0.0; /* time of its first place, s */
  std::vector<Place> places;

  double duration() const { return INTERVAL * static_cast<double>(places.size()); }

  /* Smallest distance of a place from those of the vehicle about a time, m. */
  double distance(const Place &from, double time) const {
    const int64_t middle = std::lround((time - begin) / INTERVAL), last = static_cast<int64_t>(places.size()) - 1;
    double least = HUGE_VAL;
    for (int64_t i = std::max<int64_t>(0, middle - EARLY_OR_LATE); i <= std::min(last, middle + EARLY_OR_LATE); i++)
      least = std::min(least, std::hypot(places[i].x - from.x, places[i].y - from.y));
    return least;
  }

  /* Time that is lost because vehicles meet, s. */
  double lost(const std::vector<Course> &others, double berth) const {
    double sum = 0.0;
    for (size_t i = 0; i < places.size(); i++)
      for (const Course &other : others)
        sum += std::max(0.0, 1.0 - other.distance(places[i], begin + INTERVAL * static_cast<double>(i)) / berth);
    return MEETING * INTERVAL * sum;
  }
};

struct Found {
  std::vector<Pose> poses;
  std::vector<int> gears; /* to each pose */
  double cost = 0.0;
  double speed = HUGE_VAL; /* maximum on its first part, m/s */
};

/* The course along a path. */
Course course_along(const Settings &settings, const Found &found, double speed, double begin) {
  const std::vector<Pose> &poses = found.poses;
  Course course;
  course.begin = begin;
  double time = 0.0, driven = 0.0;
  speed = std::fabs(speed);
  for (size_t i = 0; i + 1 < poses.size(); i++) {
    const Pose &a = poses[i], &b = poses[i + 1];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const double bend = std::fabs(wrapped(b.heading - a.heading)) / std::max(1e-6, length);
    const double share = std::min(1.0, speed / settings.speed);
    const double push = settings.acceleration * (1.0 - share * share * share * share);
    const double faster = std::sqrt(speed * speed + 2.0 * push * length);
    const double on_first_part = driven < SLOW_PART ? found.speed : HUGE_VAL;
    const double in_bend = std::sqrt(LATERAL / std::max(1e-6, bend));
    const double after = std::min({faster, settings.speed, on_first_part, in_bend});
    driven += length;
    const double step = 2.0 * length / std::max(0.5, speed + after);
    while (INTERVAL * static_cast<double>(course.places.size()) <= time + step) {
      const double part = std::max(0.0, INTERVAL * static_cast<double>(course.places.size()) - time) / std::max(1e-9, step);
      course.places.push_back({a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)});
    }
    time += step;
    speed = after;
  }
  return course;
}

/* ---- the map ---------------------------------------------------------------------------------- */

struct Map {
  const rw_grid *grid;
  rw_view cells;
  double rear, front; /* ends of the body, from the rear axle, m */
  /* The line that a path should keep to: a bow from start to goal. */
  double x0, y0, along_x, along_y, length, bow;

  void set_bow(const rw_ground_planner_input &in, double offset) {
    x0 = in.start_x, y0 = in.start_y;
    length = std::max(1e-9, std::hypot(in.goal_x - x0, in.goal_y - y0));
    along_x = (in.goal_x - x0) / length, along_y = (in.goal_y - y0) / length;
    const double side = std::sin(std::atan2(along_y, along_x) - in.start_heading);
    bow = length < 40.0 ? 0.0 : side > 0.05 ? offset : side < -0.05 ? -offset : 0.0;
  }

  double fraction(double x, double y) const {
    return std::min(1.0, std::max(0.0, ((x - x0) * along_x + (y - y0) * along_y) / length));
  }

  /* Factor on the cost of a place beside the bow. */
  double beside(double x, double y) const {
    if (bow == 0.0) return 1.0;
    const double offset = (y - y0) * along_x - (x - x0) * along_y;
    return 1.0 + 0.04 * std::min(30.0, std::fabs(offset - bow * std::sin(PI * fraction(x, y))));
  }

  uint32_t value(double x, double y) const {
    const double column = std::floor((x - grid->x) / grid->cell), row = std::floor((y - grid->y) / grid->cell);
    if (!(column >= 0.0 && column < grid->columns && row >= 0.0 && row < grid->rows)) return 0;
    return *static_cast<const uint16_t *>(rw_at(cells, static_cast<uint32_t>(row) * grid->columns +
                                                           static_cast<uint32_t>(column)));
  }

  double cost(double x, double y) const { return value(x, y) / static_cast<double>(grid->plain); }

  /* The largest cost along the axis of the body; 0 where it is blocked. Obstacles are grown by half of the width,
   * so that the axis stands for the body. */
  double body(const Pose &at) const {
    double largest = 0.0;
    const double c = std::cos(at.heading), s = std::sin(at.heading);
    for (int i = 0; i <= 5; i++) {
      const double along = rear + (front - rear) * i / 5.0;
      const double here = cost(at.x + along * c, at.y + along * s);
      if (here <= 0.0) return 0.0;
      largest = std::max(largest, here);
    }
    return largest;
  }

  /* The cost of an arc; negative where it is blocked. */
  double arc(const Pose &from, double curvature, double length) const {
    const int count = std::max(1, static_cast<int>(std::ceil(std::fabs(length) / CHECK)));
    double sum = 0.0;
    for (int i = 1; i <= count; i++) {
      const Pose at = moved(from, curvature, length * i / count);
      const double here = body(at);
      if (here <= 0.0) return -1.0;
      sum += here * beside(at.x, at.y);
    }
    return sum * std::fabs(length) / count;
  }
};

/* ---- curves to the goal ----------------------------------------------------------------------- */

struct Arc {
  double curvature, length;
};
using Curve = std::vector<Arc>;

double positive(double angle) {
  angle = std::fmod(angle, 2.0 * PI);
  return angle < 0.0 ? angle + 2.0 * PI : angle;
}

/* An arc to one side and a straight line to a place. Returns an empty curve if the place is too close. */
Curve arc_and_line(const Pose &from, const Pose &to, double side, double radius) {
  const double cx = from.x - side * radius * std::sin(from.heading), cy = from.y + side * radius * std::cos(from.heading);
  const double dx = to.x - cx, dy = to.y - cy, distance = std::hypot(dx, dy);
  if (distance < radius) return {};
  const double line = std::sqrt(std::max(0.0, distance * distance - radius * radius));
  const double heading = std::atan2(dy, dx) + side * std::asin(std::min(1.0, radius / distance));
  const double turn = positive(side * (heading - from.heading));
  return {{side / radius, turn * radius}, {0.0, line}};
}

/* Two arcs with a line between them (Dubins). Sides are 1 to the left and -1 to the right. */
Curve arc_line_arc(const Pose &from, const Pose &to, double first, double last, double radius) {
  const double ax = from.x - first * radius * std::sin(from.heading), ay = from.y + first * radius * std::cos(from.heading);
  const double bx = to.x - last * radius * std::sin(to.heading), by = to.y + last * radius * std::cos(to.heading);
  const double dx = bx - ax, dy = by - ay, distance = std::hypot(dx, dy);
  double heading = std::atan2(dy, dx), line = distance;
  if (first != last) {
    if (distance < 2.0 * radius) return {};
    line = std::sqrt(std::max(0.0, distance * distance - 4.0 * radius * radius));
    heading += first * std::asin(std::min(1.0, 2.0 * radius / distance));
  }
  return {{first / radius, positive(first * (heading - from.heading)) * radius},
          {0.0, line},
          {last / radius, positive(last * (to.heading - heading)) * radius}};
}

double length_of(const Curve &curve) {
  double sum = 0.0;
  for (const Arc &arc : curve) sum += arc.length;
  return sum;
}

/* ---- the search ------------------------------------------------------------------------------- */

struct Node {
  Pose at;
  double cost;
  double driven; /* from the start, m */
  uint32_t parent;
  float curvature, length;
  int8_t gear;
};

class Search {
public:
  uint64_t expanded = 0;

  void begin(const rw_ground_planner_input &in) {
    expanded = 0;
    nodes.clear(), best.clear(), estimates.clear();
    open = {};
    columns = static_cast<int>((in.max_x - in.min_x) / CELL) + 1;
    rows = static_cast<int>((in.max_y - in.min_y) / CELL) + 1;
  }

  /* Searches up to a number of expansions; 1 if a path is found, 0 if there are more, -1 if there is none. */
  int advance(const rw_ground_planner_input &in, const Map &map, const Settings &settings, uint64_t until, Found &found) {
    if (estimates.empty()) {
      estimate(in, map);
      const Pose start = {in.start_x, in.start_y, in.start_heading};
      add(in, settings, {start, 0.0, 0.0, 0, 0.0F, 0.0F, static_cast<int8_t>(in.start_gear)});
    }
    while (expanded < until && !open.empty()) {
      const uint32_t at = open.top().second;
      open.pop();
      const Node from = nodes[at];
      if (best[state(in, from.at)] != at) continue;
      const bool is_late = map.bow == 0.0 || map.fraction(from.at.x, from.at.y) > 0.6;
      if ((is_late && expanded % CURVE_EVERY == 0) || std::hypot(in.goal_x - from.at.x, in.goal_y - from.at.y) < 20.0) {
        const Curve curve = curve_from(in, map, from);
        if (!curve.empty()) {
          take(at, curve, found);
          found.cost = from.cost + length_of(curve);
          return 1;
        }
      }
      expand(in, map, settings, at);
      expanded++;
    }
    if (open.empty()) return -1;
    return 0;
  }

private:
  using Entry = std::pair<double, uint32_t>;
  struct Later {
    bool operator()(const Entry &a, const Entry &b) const { return a.first > b.first || (a.first == b.first && a.second > b.second); }
  };
  std::vector<Node> nodes;
  std::priority_queue<Entry, std::vector<Entry>, Later> open;
  std::unordered_map<uint64_t, uint32_t> best;
  std::vector<float> estimates;
  int columns = 0, rows = 0;

  static double cost_beside(const Map &map, double x, double y) { return map.cost(x, y) * map.beside(x, y); }

  /* Costs to the goal over cells. */
  void estimate(const rw_ground_planner_input &in, const Map &map) {
    estimates.assign(static_cast<size_t>(columns) * rows, -1.0F);
    std::vector<float> costs(estimates.size());
    for (int row = 0; row < rows; row++)
      for (int column = 0; column < columns; column++)
        costs[row * columns + column] =
            static_cast<float>(cost_beside(map, in.min_x + (column + 0.5) * CELL, in.min_y + (row + 0.5) * CELL));
    std::priority_queue<Entry, std::vector<Entry>, Later> queue;
    const int goal = cell(in, in.goal_x, in.goal_y);
    if (goal < 0) return;
    std::vector<float> least(estimates.size(), HUGE_VALF);
    least[goal] = 0.0F;
    queue.push({0.0, static_cast<uint32_t>(goal)});
    uint64_t closed = 0;
    while (!queue.empty()) {
      const uint32_t at = queue.top().second;
      queue.pop();
      if (estimates[at] >= 0.0F) continue;
      estimates[at] = least[at];
      closed++;
      const int x = static_cast<int>(at) % columns, y = static_cast<int>(at) / columns;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          if ((dx == 0 && dy == 0) || x + dx < 0 || y + dy < 0 || x + dx >= columns || y + dy >= rows) continue;
          const int next = (y + dy) * columns + x + dx;
          if (costs[next] <= 0.0F || estimates[next] >= 0.0F) continue;
          const float step = static_cast<float>(CELL) * (dx != 0 && dy != 0 ? 1.41421356F : 1.0F);
          const float cost = least[at] + step * 0.5F * (costs[next] + std::max(costs[at], costs[next]));
          if (cost >= least[next]) continue;
          least[next] = cost;
          queue.push({cost, static_cast<uint32_t>(next)});
        }
    }
    expanded += closed / CELLS_PER_EXPANSION;
  }

  int cell(const rw_ground_planner_input &in, double x, double y) const {
    const double column = std::floor((x - in.min_x) / CELL), row = std::floor((y - in.min_y) / CELL);
    if (!(column >= 0.0 && column < columns && row >= 0.0 && row < rows)) return -1;
    return static_cast<int>(row) * columns + static_cast<int>(column);
  }

  uint64_t state(const rw_ground_planner_input &in, const Pose &at) const {
    const int heading = static_cast<int>(positive(at.heading) / (2.0 * PI) * HEADINGS) % HEADINGS;
    return static_cast<uint64_t>(cell(in, at.x, at.y)) * HEADINGS + static_cast<uint64_t>(heading);
  }

  void add(const rw_ground_planner_input &in, const Settings &settings, const Node &node) {
    const int place = cell(in, node.at.x, node.at.y);
    if (place < 0) return;
    const double straight = std::hypot(in.goal_x - node.at.x, in.goal_y - node.at.y);
    const double ahead = std::max(straight, static_cast<double>(estimates[place]));
    const uint64_t key = state(in, node.at);
    const auto known = best.find(key);
    if (known != best.end() && nodes[known->second].cost <= node.cost) return;
    best[key] = static_cast<uint32_t>(nodes.size());
    open.push({node.cost + settings.weight * ahead, static_cast<uint32_t>(nodes.size())});
    nodes.push_back(node);
  }

  void expand(const rw_ground_planner_input &in, const Map &map, const Settings &settings, uint32_t at) {
    const Node from = nodes[at];
    for (int gear = 1; gear >= -1; gear -= 2) {
      if (gear < 0 && (in.flags & RW_GROUND_NO_REVERSE) != 0) continue;
      const double length = gear * (gear > 0 ? FORWARDS : BACKWARDS);
      for (double share : SHARES) {
        if (gear < 0 && std::fabs(share) == 0.25) continue;
        const double curvature = share * in.curvature;
        double cost = map.arc(from.at, curvature, length);
        if (cost < 0.0) continue;
        if (gear < 0) cost *= in.reverse;
        if (from.gear != 0 && from.gear != gear) cost += in.gear_change;
        cost += (from.driven < BEGINNING ? EASY : 1.0) * settings.bend * std::fabs(share) * std::fabs(length);
        cost += 0.1 * std::fabs(curvature - from.curvature) / in.curvature;
        add(in, settings, {moved(from.at, curvature, length), from.cost + cost, from.driven + std::fabs(length), at,
                           static_cast<float>(curvature),
                           static_cast<float>(length), static_cast<int8_t>(gear)});
      }
    }
  }

  /* The shortest free curve to the goal; empty if there is none. */
  static Curve curve_from(const rw_ground_planner_input &in, const Map &map, const Node &from) {
    const Pose goal = {in.goal_x, in.goal_y, in.goal_heading};
    std::vector<Curve> curves;
    for (double radius : {3.0 / in.curvature, 1.0 / in.curvature}) {
      for (double first : {1.0, -1.0}) {
        if ((in.flags & RW_GROUND_ANY_HEADING) != 0) {
          curves.push_back(arc_and_line(from.at, goal, first, radius));
        } else {
          curves.push_back(arc_line_arc(from.at, goal, first, first, radius));
          curves.push_back(arc_line_arc(from.at, goal, first, -first, radius));
        }
      }
    }
    const double straight = std::hypot(goal.x - from.at.x, goal.y - from.at.y);
    const Curve *shortest = nullptr;
    double least = HUGE_VAL;
    for (const Curve &curve : curves) {
      const double length = length_of(curve);
      /* Loops are left to the search. */
      if (curve.empty() || length > 1.2 * straight + 3.0 / in.curvature || length >= least || !is_free(map, from.at, curve))
        continue;
      least = length;
      shortest = &curve;
    }
    return shortest ? *shortest : Curve();
  }

  static bool is_free(const Map &map, Pose at, const Curve &curve) {
    for (const Arc &arc : curve) {
      if (arc.length > 0.0 && map.arc(at, arc.curvature, arc.length) < 0.0) return false;
      at = moved(at, arc.curvature, arc.length);
    }
    return true;
  }

  void take(uint32_t at, const Curve &curve, Found &found) const {
    std::vector<uint32_t> chain;
    for (; at != 0; at = nodes[at].parent) chain.push_back(at);
    std::reverse(chain.begin(), chain.end());
    Pose last = nodes[0].at;
    found.poses.push_back(last);
    found.gears.push_back(1);
    const auto drive = [&](double curvature, double length) {
      const int count = std::max(1, static_cast<int>(std::ceil(std::fabs(length) / POINT)));
      for (int i = 1; i <= count; i++) {
        found.poses.push_back(moved(last, curvature, length * i / count));
        found.gears.push_back(length < 0.0 ? -1 : 1);
      }
      last = moved(last, curvature, length);
    };
    for (uint32_t node : chain) drive(nodes[node].curvature, nodes[node].length);
    for (const Arc &arc : curve)
      if (arc.length > 1e-6) drive(arc.curvature, arc.length);
  }
};

/* ---- smoothing -------------------------------------------------------------------------------- */

/* Whether a vehicle can drive along poses, clear of obstacles. */
bool can_drive(const rw_ground_planner_input &in, const Map &map, const std::vector<Pose> &poses) {
  for (size_t i = 0; i + 1 < poses.size(); i++) {
    const double length = std::hypot(poses[i + 1].x - poses[i].x, poses[i + 1].y - poses[i].y);
    if (std::fabs(wrapped(poses[i + 1].heading - poses[i].heading)) > in.curvature * length + 1e-3) return false;
    if (map.body(poses[i + 1]) <= 0.0) return false;
  }
  return true;
}

/* Pulls the points of a forward path, except the first ones, towards a line of little bending and away from cells that
 * cost more. Returns whether the vehicle can drive along the result. */
bool pulled(const rw_ground_planner_input &in, const Map &map, const Settings &settings, size_t first,
            std::vector<Pose> &poses) {
  const bool keeps_last = (in.flags & RW_GROUND_ANY_HEADING) == 0;
  const size_t count = poses.size(), end = count - (keeps_last ? 2 : 1);
  const double reach = map.grid->cell * 2.0, middle = 0.5 * (map.rear + map.front);
  const auto height = [&](double x, double y) {
    const double cost = map.cost(x, y);
    return cost > 0.0 ? std::min(cost, 4.0) : 6.0;
  };
  for (int round = 0; round < 120; round++) {
    for (size_t i = first; i < end; i++) {
      Pose &p = poses[i];
      const Pose &a = poses[i - 1], &b = poses[i + 1];
      double x = 0.15 * (a.x + b.x - 2.0 * p.x), y = 0.15 * (a.y + b.y - 2.0 * p.y);
      if (i + 2 < count) {
        const Pose &c = poses[i - 2], &d = poses[i + 2];
        x += 0.05 * (4.0 * (a.x + b.x) - 6.0 * p.x - c.x - d.x);
        y += 0.05 * (4.0 * (a.y + b.y) - 6.0 * p.y - c.y - d.y);
      }
      /* The map is for the middle of the body. */
      const double mx = p.x + middle * std::cos(p.heading), my = p.y + middle * std::sin(p.heading);
      x -= 0.1 * settings.room * (height(mx + reach, my) - height(mx - reach, my));
      y -= 0.1 * settings.room * (height(mx, my + reach) - height(mx, my - reach));
      const double far = std::hypot(x, y), share = far > 0.2 ? 0.2 / far : 1.0;
      p.x += share * x, p.y += share * y;
    }
    for (size_t i = first; i + 1 < count; i++)
      poses[i].heading = std::atan2(poses[i + 1].y - poses[i - 1].y, poses[i + 1].x - poses[i - 1].x);
    if (!keeps_last) {
      const Pose &before = poses[count - 2];
      const double chord = std::atan2(poses[count - 1].y - before.y, poses[count - 1].x - before.x);
      poses[count - 1].heading = chord + wrapped(chord - before.heading);
    }
  }
  return can_drive(in, map, poses);
}

/* Smooths a forward path, behind its first bend if that does not work from the start. */
void smooth(const rw_ground_planner_input &in, const Map &map, const Settings &settings, Found &found) {
  if (std::any_of(found.gears.begin(), found.gears.end(), [](int gear) { return gear < 0; })) return;
  for (size_t first : {2, 4, 6, 9, 12, 16}) {
    if (found.poses.size() < first + 6) return;
    std::vector<Pose> poses = found.poses;
    if (pulled(in, map, settings, first, poses)) {
      found.poses = poses;
      return;
    }
  }
}

/* ---- the choice among bows -------------------------------------------------------------------- */

/* A search with several bows, one after the other. */
struct Trip {
  uint64_t number = 0;
  double began = 0.0;         /* time at which it began, s */
  double speed = 0.0;         /* speed of the vehicle then, m/s */
  std::vector<Course> others; /* expected courses of others then */
  uint64_t expanded = 0;      /* by searches that are over */
  size_t bow = 0;             /* number of the current one */
  double least = HUGE_VAL;    /* duration of the best path, with the time lost by meeting others, s */
  Found best;
  Search search;

  void begin(const rw_ground_planner_input &in) {
    expanded = 0, bow = 0, least = HUGE_VAL;
    best = {};
    search.begin(in);
  }

  uint64_t all_expanded() const { return expanded + search.expanded; }

  /* Searches up to a number of expansions; 1 if it is over, 0 if there is more to search. */
  int advance(const rw_ground_planner_input &in, Map &map, const Settings &settings, uint64_t until) {
    while (bow < BOW_COUNT) {
      if (all_expanded() >= until) return 0;
      map.set_bow(in, BOWS[bow] * settings.bow);
      const uint64_t most = bow == 0 ? UINT64_MAX : expanded + MOST_EXPANSIONS;
      Found found;
      const int result = search.advance(in, map, settings, std::min(until, most) - expanded, found);
      if (result == 0 && all_expanded() < most) return 0;
      if (result > 0) {
        smooth(in, map, settings, found);
        for (double later : LATER) {
          found.speed = later > 0.0 ? SLOW_PART / (SLOW_PART / settings.speed + later) : HUGE_VAL;
          const Course course = course_along(settings, found, speed, began);
          const double time = course.duration() + course.lost(others, settings.berth);
          if (time < least) least = time, best = found;
          if (others.empty()) break;
        }
      }
      /* A short path has no bow, and without others there is nothing to choose. */
      bow = others.empty() || (bow == 0 && map.bow == 0.0) ? BOW_COUNT : bow + 1;
      expanded += search.expanded;
      search.begin(in);
    }
    return 1;
  }
};

/* ---- the plugin ------------------------------------------------------------------------------- */

struct Parameter {
  const char *key, *unit, *doc;
  double min, max;
  double Settings::*value;
};

const Parameter PARAMETERS[] = {
    {"bend", "", "Additional cost of the tightest bend, as a multiple of the length.", 0.0, 10.0, &Settings::bend},
    {"weight", "", "Weight of the estimated cost; larger weights find a path sooner.", 1.0, 5.0, &Settings::weight},
    {"room", "m", "Strength with which paths are pulled away from obstacles.", 0.0, 5.0, &Settings::room},
    {"speed", "m/s", "Expected speed on open ground.", 1.0, 50.0, &Settings::speed},
    {"acceleration", "m/s^2", "Expected acceleration when driving off.", 0.1, 10.0, &Settings::acceleration},
    {"berth", "m", "Wanted distance between the middles of vehicles.", 0.1, 30.0, &Settings::berth},
    {"bow", "m", "Lateral offset of the middle of a path towards the side of its first bend.", -50.0, 50.0, &Settings::bow},
};
constexpr uint32_t PARAMETER_COUNT = sizeof PARAMETERS / sizeof PARAMETERS[0];

thread_local std::string error_text;

uint8_t write_path(rw_batch *batch, rw_ground_planner_output &out, const Found &found) {
  const uint32_t count = static_cast<uint32_t>(found.poses.size());
  if (count < 2) return RW_ROW_NOT_WRITTEN;
  if (batch->pose_capacity - batch->pose_length < count) return RW_ROW_FAILED;
  out.start = batch->pose_length;
  out.count = count;
  out.cost = found.cost;
  double driven = 0.0;
  for (uint32_t i = 0; i < count; i++) {
    const Pose &pose = found.poses[i];
    if (i > 0) driven += std::hypot(pose.x - found.poses[i - 1].x, pose.y - found.poses[i - 1].y);
    const double speed = driven < SLOW_PART ? std::min(found.speed, RW_NOTHING) : RW_NOTHING;
    batch->poses[batch->pose_length++] = {pose.x, pose.y, wrapped(pose.heading), speed, RW_NOTHING, found.gears[i], 0};
  }
  return RW_ROW_OK;
}

} /* namespace */

/* The last two courses of a vehicle. */
struct Courses {
  Course last, before;

  void put(const Course &course) {
    if (last.step < course.step) before = last;
    last = course;
  }

  /* The last one of earlier steps, so that answers do not depend on the order of rows. */
  const Course &until(uint64_t step) const { return last.step < step ? last : before; }
};

struct rw_instance {
  Settings settings;
  std::map<uint32_t, Trip> trips;      /* by agent index */
  std::map<uint32_t, Courses> courses; /* by agent index */

  Trip &trip_of(const rw_batch *batch, uint32_t agent, const rw_ground_planner_input &in) {
    Trip &trip = trips[agent];
    if (trip.number != in.search || in.expanded == 0) {
      trip.number = in.search;
      trip.began = batch->time;
      trip.speed = in.speed;
      trip.others.clear();
      for (const auto &other : courses) {
        const Course &course = other.second.until(batch->step);
        const bool is_over = course.begin + course.duration() < batch->time;
        if (other.first != agent && !is_over) trip.others.push_back(course);
      }
      trip.begin(in);
    } else if (trip.all_expanded() != in.expanded) {
      trip.begin(in);
    }
    return trip;
  }

  uint8_t plan(rw_batch *batch, uint32_t agent, const rw_ground_planner_input &in, rw_ground_planner_output &out) {
    const rw_view vehicles = rw_view_of(batch, RW_VIEW_VEHICLES), grids = rw_view_of(batch, RW_VIEW_GRIDS);
    /* Without a map, and with trailers, the built-in planner searches. */
    if (in.vehicle >= vehicles.count || in.grid >= grids.count || in.hitch_count > 0) return RW_ROW_NOT_WRITTEN;
    const rw_vehicle *vehicle = static_cast<const rw_vehicle *>(rw_at(vehicles, in.vehicle));
    const rw_grid *grid = static_cast<const rw_grid *>(rw_at(grids, in.grid));
    Map map = {grid, rw_part(rw_view_of(batch, RW_VIEW_CELLS), grid->first, grid->columns * grid->rows),
                     -vehicle->axle_to_rear, vehicle->axle_to_front, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double cells = (in.max_x - in.min_x) * (in.max_y - in.min_y) / (CELL * CELL);
    if (map.cells.count == 0 || !(cells < 2e7)) return RW_ROW_NOT_WRITTEN;
    const Pose start = {in.start_x, in.start_y, in.start_heading};
    /* Close to obstacles, the built-in planner tries smaller clearances. */
    if (map.body(start) <= 0.0) return RW_ROW_NOT_WRITTEN;
    Trip &trip = trip_of(batch, agent, in);
    const int result = trip.advance(in, map, settings, in.expanded + in.budget);
    out.expanded = trip.all_expanded();
    if (result == 0) return RW_ROW_KEEP;
    const Found found = trip.best;
    trips.erase(agent);
    const uint8_t status = write_path(batch, out, found);
    if (status == RW_ROW_OK) {
      Course course = course_along(settings, found, in.speed, batch->time);
      course.step = batch->step;
      courses[agent].put(course);
    }
    return status;
  }
};

namespace {

int32_t create(const rw_host *, uint32_t kind, rw_instance **out) {
  return rw::guard(error_text, [&] {
    if (kind != RW_KIND_GROUND_PLANNER) return RW_E_UNSUPPORTED;
    *out = new rw_instance();
    return RW_OK;
  });
}

void destroy(rw_instance *self) { delete self; }

int32_t step(rw_instance *self, rw_batch *batch) {
  return rw::guard(error_text, [&] {
    for (uint32_t row = 0; row < batch->count; row++) {
      const auto &in = *static_cast<const rw_ground_planner_input *>(rw_input(batch, row));
      auto &out = *static_cast<rw_ground_planner_output *>(rw_output(batch, row));
      batch->status[row] = self->plan(batch, batch->agent_indices[row], in, out);
    }
    return RW_OK;
  });
}

int32_t agents_changed(rw_instance *self, uint32_t, const uint32_t *, uint32_t, const uint32_t *removed, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) self->trips.erase(removed[i]), self->courses.erase(removed[i]);
  return RW_OK;
}

/* State: the courses, then the trips that are being searched, with the courses of others when they began. */

struct Bytes {
  std::vector<uint8_t> all;
  template <class T>
  void put(const T &value) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    all.insert(all.end(), bytes, bytes + sizeof value);
  }
  void put_course(const Course &course) {
    put(course.step), put(course.begin), put(static_cast<uint64_t>(course.places.size()));
    for (const Place &place : course.places) put(place);
  }
};

struct Reader {
  const uint8_t *at;
  uint64_t left;
  template <class T>
  T take() {
    T value{};
    if (left < sizeof value) throw std::length_error("the state is too short");
    std::memcpy(&value, at, sizeof value);
    at += sizeof value, left -= sizeof value;
    return value;
  }
  uint64_t take_count(uint64_t least) {
    const uint64_t count = take<uint64_t>();
    if (count > left / least) throw std::length_error("the state is too short");
    return count;
  }
  Course take_course() {
    Course course;
    course.step = take<uint64_t>(), course.begin = take<double>();
    course.places.resize(take_count(sizeof(Place)));
    for (Place &place : course.places) place = take<Place>();
    return course;
  }
};

int32_t state_save(rw_instance *self, rw_write write, void *ctx, uint32_t *schema) {
  return rw::guard(error_text, [&] {
    Bytes bytes;
    bytes.put(static_cast<uint64_t>(self->courses.size()));
    for (const auto &own : self->courses) {
      bytes.put(uint64_t{own.first});
      bytes.put_course(own.second.last), bytes.put_course(own.second.before);
    }
    bytes.put(static_cast<uint64_t>(self->trips.size()));
    for (const auto &own : self->trips) {
      bytes.put(uint64_t{own.first}), bytes.put(own.second.number), bytes.put(own.second.began);
      bytes.put(own.second.speed);
      bytes.put(static_cast<uint64_t>(own.second.others.size()));
      for (const Course &other : own.second.others) bytes.put_course(other);
    }
    *schema = 2;
    return write(ctx, bytes.all.data(), bytes.all.size());
  });
}

int32_t state_load(rw_instance *self, const uint8_t *bytes, uint64_t length, uint32_t schema) {
  if (schema != 2) return RW_E_STATE;
  try {
    Reader reader = {bytes, length};
    std::map<uint32_t, Courses> courses;
    std::map<uint32_t, Trip> trips;
    for (uint64_t count = reader.take_count(32); count > 0; count--) {
      const auto agent = static_cast<uint32_t>(reader.take<uint64_t>());
      courses[agent].last = reader.take_course(), courses[agent].before = reader.take_course();
    }
    for (uint64_t count = reader.take_count(40); count > 0; count--) {
      Trip &trip = trips[static_cast<uint32_t>(reader.take<uint64_t>())];
      trip.number = reader.take<uint64_t>(), trip.began = reader.take<double>();
      trip.speed = reader.take<double>();
      for (uint64_t others = reader.take_count(24); others > 0; others--) trip.others.push_back(reader.take_course());
    }
    self->courses.swap(courses), self->trips.swap(trips);
    return RW_OK;
  } catch (const std::exception &error) {
    error_text = error.what();
    return RW_E_STATE;
  }
}

uint32_t param_count(rw_instance *) { return PARAMETER_COUNT; }

int32_t param_info(rw_instance *, uint32_t index, rw_param_info *out) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  const Parameter &p = PARAMETERS[index];
  std::memset(out, 0, sizeof *out);
  std::strncpy(out->key, p.key, sizeof out->key - 1);
  std::strncpy(out->unit, p.unit, sizeof out->unit - 1);
  std::strncpy(out->doc, p.doc, sizeof out->doc - 1);
  out->min = p.min, out->max = p.max, out->default_value = Settings().*p.value;
  return RW_OK;
}

int32_t param_get(rw_instance *self, uint32_t index, double *out) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  *out = self->settings.*PARAMETERS[index].value;
  return RW_OK;
}

int32_t param_set(rw_instance *self, uint32_t index, double value) {
  if (index >= PARAMETER_COUNT) return RW_E_ARGUMENT;
  self->settings.*PARAMETERS[index].value = value;
  return RW_OK;
}

uint64_t last_error(rw_instance *, char *buffer, uint64_t capacity) {
  std::memcpy(buffer, error_text.data(), std::min<uint64_t>(error_text.size(), capacity));
  return error_text.size();
}

int32_t needs(rw_instance *, rw_needs *out) {
  out->groups = RW_NEED_VEHICLES | RW_NEED_GRID;
  out->grid_cell = 0.5;
  return RW_OK;
}

const rw_needs_extension NEEDS = {sizeof(rw_needs_extension), 0, needs};

const void *get_extension(const char *id, uint64_t length) {
  return std::string(id, length) == RW_NEEDS_EXTENSION ? &NEEDS : nullptr;
}

} /* namespace */

RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *, rw_api *out) {
  out->create = create;
  out->destroy = destroy;
  out->step = step;
  out->agents_changed = agents_changed;
  out->param_count = param_count;
  out->param_info = param_info;
  out->param_get = param_get;
  out->param_set = param_set;
  out->state_save = state_save;
  out->state_load = state_load;
  out->last_error = last_error;
  out->get_extension = get_extension;
  return RW_OK;
}

const rw_plugin_info rw_plugin_info_v1 = {
    RW_MAGIC, sizeof(rw_plugin_info), RW_ABI_MAJOR, RW_ABI_MINOR, 5, 0,
    RW_KIND_GROUND_PLANNER, RW_CAP_STATE | RW_CAP_DETERMINISTIC, RW_ROW_SCHEMA,
    "Hybrid A*", "com.example.hybrid_a_star", "1.0.0", "", "c++", "",
    "Finds smooth paths on open ground, forwards and in reverse."};

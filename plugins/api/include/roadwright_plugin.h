/* The binary interface of Roadwright's compiled plugins, version 1.5. C11 and C++.
 *
 * A plugin is a shared library that exports two symbols:
 *   rw_plugin_info_v1  plain data, read from the file before any code of the plugin runs
 *   rw_plugin_main_v1  fills a table of functions; functions left NULL are not offered
 *
 * Units are SI, angles are in radians, positive to the left. The distance RW_NOTHING means
 * "none". An output must depend only on its own row, the agent's own state, the parameters, the
 * shared views and the row's seed, and not on clocks, addresses, global random numbers, or the
 * order or size of batches.
 *
 * A lanelet is a stretch of lane or a connection through a junction. An agent index is a dense
 * number that an agent keeps while it drives. Until 1.1 these were called strip and slot:
 * roadwright_plugin_names_1_1.h, included after this header, gives the old names.
 *
 * A plugin gets the rows of the version that it was built for: if its abi_minor is 0 or 1, fitness
 * rows have 64 bytes. Fields marked "since 1.2" are present if min_host_minor is 2; otherwise
 * compare the stride. Fields of rw_controller_input marked "since 1.3" and "since 1.4" are present only
 * for controllers that offer RW_NEEDS_EXTENSION; rows of all others have 128 bytes, as before.
 *
 * Threads: create, destroy, parameter and state functions are called while no step runs. step is
 * never called concurrently on one instance unless RW_CAP_PARALLEL_SLICES is declared. log and
 * cancelled may be called from any thread. Restore the floating-point mode if you change it.
 *
 * Licensed under MIT or Apache-2.0, at your choice. */
#ifndef ROADWRIGHT_PLUGIN_H
#define ROADWRIGHT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define RW_ASSERT(condition, text) static_assert(condition, text)
extern "C" {
#else
#define RW_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#if defined(_WIN32)
#define RW_EXPORT __declspec(dllexport)
#else
#define RW_EXPORT __attribute__((visibility("default")))
#endif

#define RW_ABI_MAJOR 1
#define RW_ABI_MINOR 5
#define RW_MAGIC "RWPLUG1"
#define RW_ROW_SCHEMA UINT64_C(0x5257524f57530001)
#define RW_NOTHING 1.0e6
#define RW_NO_INDEX UINT32_C(0xffffffff)

enum {
  RW_KIND_PLANNER = 1,
  RW_KIND_CONTROLLER = 2,
  RW_KIND_FITNESS = 4,
  RW_KIND_GROUND_PLANNER = 16,     /* since 1.5: min_host_minor is 5 */
  RW_KIND_SIGNAL_CONTROLLER = 256 /* since 1.1: min_host_minor is 1 */
};

/* Capabilities of a plugin. */
enum {
  RW_CAP_STATELESS = 1,       /* keeps no state between steps */
  RW_CAP_PARALLEL_SLICES = 2, /* step may run on several threads at once */
  RW_CAP_STATE = 4,           /* offers state_save and state_load */
  RW_CAP_DETERMINISTIC = 8,   /* the author declares the plugin deterministic */
  RW_CAP_WANTS_DEFAULTS = 16, /* output rows contain the built-in module's answer before the call */
  /* Since 1.2; other hosts ignore them. */
  RW_CAP_HIGHER_IS_BETTER = 32, /* fitness: higher scores are better */
  RW_CAP_FULL_CONDUCT = 64,     /* fitness: record the fields marked "full conduct", which cost time */
  RW_CAP_ALONG_BEND = 128 /* controller: the waypoint lies on the circle that the lane follows just
                             ahead; a law that steers along the circle through its waypoint then
                             follows bends exactly instead of cutting them */
};

/* Status codes that functions return. */
enum {
  RW_OK = 0,
  RW_WARNING = 1,
  RW_E_UNSUPPORTED = -1,
  RW_E_ARGUMENT = -2,
  RW_E_STATE = -3,
  RW_E_PANIC = -4,
  RW_E_CANCELLED = -5,
  RW_E_FAILED = -6,
  RW_E_FATAL = -7
};

/* Status of a row. */
enum { RW_ROW_NOT_WRITTEN = 0, RW_ROW_OK = 1, RW_ROW_KEEP = 2, RW_ROW_FAILED = 3 };

enum { RW_LOG_DEBUG = 0, RW_LOG_INFO = 1, RW_LOG_WARNING = 2, RW_LOG_ERROR = 3 };

enum {
  RW_PARAM_NUMBER = 0,
  RW_PARAM_INTEGER = 1,
  RW_PARAM_BOOL = 2,
  RW_PARAM_CHOICE = 3,
  RW_PARAM_TABLE = 4 /* since 1.2, in rw_parameter only: rows x columns numbers */
};
enum {
  RW_PARAM_HIDDEN = 1
};

#define RW_NO_LANELET UINT32_C(0xffffffff)
enum {
  RW_LANELET_BUS_ONLY = 1,
  RW_LANELET_CONNECTION = 2,
  RW_LANELET_NO_THROUGH = 4, /* trips may begin and end on its road but not pass through */
  RW_LANELET_CLOSED = 8,     /* its road is closed; vehicles already there may leave */
  RW_LANELET_NO_BUSES = 16   /* too narrow for buses */
};

/* ---- Rows -------------------------------------------------------------------------------- */

typedef struct rw_controller_input {
  double speed;                  /* own speed, m/s */
  double road_speed;             /* speed that the limit and the bends ahead allow, m/s */
  double wheelbase;              /* m */
  double length;                 /* overall length, m */
  double waypoint_distance;      /* from the middle of the rear axle, m */
  double waypoint_angle;         /* relative to the heading, rad */
  double obstacle_distance;      /* from the front, m */
  double obstacle_angle;         /* relative to the heading, rad */
  double obstacle_closing_speed; /* m/s */
  double leader_gap;             /* bumper to bumper, m */
  double leader_speed;           /* m/s */
  double stop_distance;          /* from the front to the place where the vehicle must stop, m */
  double lane_offset;            /* offset of the rear axle to the left of the lane's centre line, m */
  double heading_error;          /* own heading relative to the lane, rad */
  double path_curvature;         /* at the waypoint, 1/m */
  double steering;               /* angle of the front wheels, rad */
  /* Since 1.3, if the host has called the plugin's rw_needs_extension. Fields that were not asked for
   * are 0. RW_NEED_MOTION: x points east, y north, z up. While the vehicle reverses, the fields above
   * describe it as if it were turned around and drove forwards; these describe the vehicle itself. */
  double x;                      /* middle of the rear axle, m */
  double y;
  double z;                      /* height of the ground there, m */
  double heading;                /* counter-clockwise from east, rad */
  double pitch;                  /* rad; positive lowers the front */
  double roll;                   /* rad; positive raises the left side */
  double lateral_speed;          /* of the rear axle to the left, m/s; 0 at levels without slip */
  double yaw_rate;               /* rad/s */
  double acceleration;           /* along the heading, in the last step, m/s^2 */
  double lateral_acceleration;   /* of the rear axle to the left, m/s^2 */
  double last_acceleration;      /* last command, as the host has limited it, m/s^2 */
  double last_steering;          /* last command, rad; mirrored like steering while it reverses */
  double age;                    /* of the values in this row, s */
  double delay;                  /* until a command begins to act, s */
  uint64_t route_version;        /* RW_NEED_PATH: while it stays the same, so does the origin of s */
  double path_s;                 /* RW_NEED_PATH: position of the rear axle along the path, m */
  uint32_t vehicle;              /* RW_NEED_VEHICLES: index into RW_VIEW_VEHICLES, or RW_NO_INDEX */
  uint32_t path;                 /* RW_NEED_PATH: first point in RW_VIEW_PATH */
  uint32_t path_count;           /* number of points; 0: no path is known */
  uint32_t reserved;
  /* Since 1.4, with RW_NEED_NEAR. */
  uint32_t near_first;           /* first entry in RW_VIEW_NEAR */
  uint32_t near_count;           /* number of entries */
  uint32_t near_more;            /* 1: there are more within the radius than near_most */
  uint32_t object;               /* own vehicle: index into RW_VIEW_OBJECTS, or RW_NO_INDEX */
} rw_controller_input;

typedef struct rw_controller_output {
  double acceleration; /* m/s^2; negative brakes; -50 to 50 */
  double steering;     /* angle of the front wheels, rad; -1.6 to 1.6 */
} rw_controller_output;

/* Current capabilities of a vehicle, for controllers that use pedals (see RW_PEDALS_EXTENSION).
 * Accelerations are in the direction of the intended travel. The acceleration is taken to be
 * linear in the pedal position. That is exact for vehicles without an engine; otherwise it holds
 * at the current speed and in the current gear. */
typedef struct rw_drive_input {
  double full_throttle; /* acceleration at full throttle in this gear, limited by the engine and
                           reduced by drag, rolling resistance and slope, m/s^2 */
  double coasting;      /* acceleration with no pedal pressed, m/s^2 */
  double full_brake;    /* acceleration with the foot brake fully pressed, m/s^2; less than coasting */
  double grip;          /* largest acceleration that the tyres can transmit here, m/s^2 */
  double slope;         /* acceleration due to gravity, m/s^2: negative uphill; included in the first three */
  double acceleration;  /* in the last step, m/s^2 */
  double throttle;      /* in the last step, 0 to 1; 0 where there is no engine */
  double brake;         /* in the last step, 0 to 1; 0 where there is no engine */
  double rpm;           /* engine speed; 0 without an engine, as are the next two */
  double idle_rpm;      /* idle speed, below which the clutch slips */
  double limit_rpm;     /* highest engine speed */
  double gear;          /* current gear: 1 is the first forward gear, -1 the reverse gear; 0 without a gearbox */
  double gears;         /* number of gears in the intended direction of travel; 0 without a gearbox */
} rw_drive_input;

/* Pedals, gear lever and steering. They work at every level of dynamics: levels with an engine
 * use them directly, the others convert them to an acceleration within the limits of the
 * vehicle. */
typedef struct rw_pedals_output {
  double throttle;   /* 0 to 1: fraction of the engine's torque */
  double brake;      /* 0 to 1 */
  double hand_brake; /* applied if above 0.5 */
  double gear;       /* from 1 for the first gear in the intended direction of travel; 0: automatic */
  double steering;   /* angle of the front wheels, rad; -1.6 to 1.6 */
} rw_pedals_output;

typedef struct rw_planner_input {
  uint32_t lanelet;            /* lanelet of the agent */
  uint32_t goal_lanelet;       /* lanelet of the destination */
  double s;                  /* along the lanelet, m */
  double goal_s;             /* along the destination's lanelet, m */
  uint32_t bus;              /* 1: may use bus lanes */
  uint32_t may_change_first; /* 1: may change lanes on the first lanelet */
} rw_planner_input;

/* A range of rw_batch.route: the lanelets from the agent's to the destination's, both included. A
 * pair of consecutive lanelets that lie side by side is a lane change. */
typedef struct rw_planner_output {
  uint32_t start;
  uint32_t count;     /* 0: there is no route */
  double travel_time; /* s */
} rw_planner_output;

typedef struct rw_fitness_input {
  double crash_rating;                      /* mean squared penetration, m^2 */
  double mean_speed;                        /* m/s */
  double mean_road_speed;                   /* speed that the roads allowed, m/s */
  double distance;                          /* driven, m */
  double time;                              /* driven, s */
  double mean_squared_acceleration;         /* longitudinal, (m/s^2)^2 */
  double mean_squared_jerk;                 /* longitudinal, (m/s^3)^2 */
  double mean_squared_lateral_acceleration; /* (m/s^2)^2 */
  /* Since 1.2. Fields marked "full conduct" are recorded only if a fitness of the run declares
   * RW_CAP_FULL_CONDUCT. Otherwise least_post_encroachment is RW_NOTHING and the others are 0. */
  double collision_exposure;      /* mean shortfall of the time to collision below 3 s, 0 to 1 */
  double tailgating;              /* mean shortfall of the headway to the leader below 1 s, 0 to 1 */
  double least_post_encroachment; /* smallest post-encroachment time in junctions, s, or RW_NOTHING;
                                     full conduct */
  double time_lost;               /* fraction of the time lost compared with the allowed speed */
  double speeding;                /* mean fraction by which the speed limit was exceeded */
  double off_lane;                /* fraction of the time spent outside the lane */
  double uninvited;               /* fraction of the time spent in junctions without a grant */
  double above_limit;             /* fraction of the time spent more than 5 % above the speed limit or,
                                     on open ground, above the allowed speed */
  double overlap;                 /* penetration depth integrated over time, m s */
  double has_arrived;             /* 1: arrived at the last goal, otherwise 0 */
  double goal_distance;           /* straight line from the body's centre to the last goal, m; full
                                     conduct, like all fields below */
  double collisions;              /* number of collisions */
  double kinetic_energy;          /* time integral of half the squared speed, m^2/s */
  double segment_crash;           /* mean penetration per length over route sections between goals */
  double segment_time_lost;       /* shortfall from the allowed speed over the same sections, as a fraction */
  double shunts;                  /* changes of direction, on manoeuvring courses */
  double mean_lean;               /* angle of a balanced load from the vertical, rad, on manoeuvring courses */
  double path_error;              /* root mean square offset from lane or path after the first 10 s, m */
  double settled_speed;           /* mean speed after the first 10 s, m/s */
} rw_fitness_input;

typedef struct rw_fitness_output {
  double score; /* lower is better, unless RW_CAP_HIGHER_IS_BETTER is declared */
} rw_fitness_output;

/* Signals: one row per second (period is 1 s) for each programme, while the current stage
 * may end. Each programme has its own instance, in which its agent index is 0, as agents_changed
 * reports at the beginning. In a run agent_ids holds its node. RW_ROW_KEEP keeps the current
 * stage. For rows that are not written, the host falls back to actuated control. */
#define RW_SIGNAL_STAGES 32
#define RW_SIGNAL_MOVEMENTS 48
#define RW_KEEP_STAGE (-1)

typedef struct rw_signal_stage {
  double green;        /* fixed green time, s */
  double min;          /* minimum green, s; enforced by the host */
  double max;          /* maximum green under actuated control while other traffic waits, s */
  double longest_wait; /* longest time that a vehicle with green in this stage has been standing, s */
  uint32_t queue;      /* number of those vehicles that are stopped or crawling within 150 m of the stop line */
  uint32_t arrivals;   /* number of them that have passed the detectors since the current stage began */
  uint32_t is_called;  /* 1: the stage has been requested or has traffic waiting */
  uint32_t reserved;
} rw_signal_stage;

/* A movement: the vehicles that arrive on one road and make the same turn. */
typedef struct rw_signal_movement {
  uint32_t road;       /* id */
  int32_t turn;        /* 1 left, -1 right, 2 U-turn, 0 straight on */
  uint32_t stages;     /* bit mask of the stages with green: bit 0 for the first one */
  uint32_t queue;      /* as in rw_signal_stage, like the next two */
  uint32_t arrivals;
  uint32_t reserved;
  double longest_wait; /* s */
} rw_signal_movement;

typedef struct rw_signal_input {
  uint32_t node;           /* smallest id of the nodes of these signals */
  uint32_t stage;          /* current stage, from 0 */
  uint32_t planned;        /* stage that the fixed-time plan would show now, or to which it would be changing */
  uint32_t stage_count;
  uint32_t movement_count; /* excess movements, of the roads with the largest ids, are left out */
  uint32_t is_extended;    /* 1: vehicles with green are approaching */
  double elapsed;          /* since the stage began, s */
  double opposed_for;      /* time that other traffic has been waiting for another stage, s; -1: none waits */
  rw_signal_stage stages[RW_SIGNAL_STAGES];
  rw_signal_movement movements[RW_SIGNAL_MOVEMENTS];
} rw_signal_input;

typedef struct rw_signal_output {
  int32_t next; /* next stage; RW_KEEP_STAGE keeps the current one */
  uint32_t reserved;
} rw_signal_output;

/* ---- Ground planners, since 1.5 ------------------------------------------------------------ */

/* A ground planner finds paths on open ground. It is asked about one agent at a time:
 * - at the start, and for each new goal;
 * - when the vehicle has left its path: by more than 0.6 m (1.2 m while it pushes a trailer), or by more
 *   than 1 rad;
 * - when obstacles or costs have changed so that the rest of the path is blocked; then the search begins
 *   where the vehicle stops;
 * - when the vehicle has stood for 4 s on its path;
 * - when it stands at the end of its path but not exactly at its goal, at most five times.
 * If its answer is that there is no path, it is asked again after 10 s, or when the map changes.
 *
 * A search may take several steps. To continue in the next step, write expanded and set the status
 * RW_ROW_KEEP: until then the vehicle stands, or drives on to the start of the search. The next row has
 * the same search number. If goal, start or the map within the bounds change, another search begins. A
 * planner that finds expanded above 0 but does not have this search in memory (because the run was restored
 * from a save, or the plugin was reloaded) begins it again and makes expanded + budget expansions. A planner
 * that does so, and does not use moving objects, keeps no state: it may declare RW_CAP_STATELESS.
 *
 * The host checks every path, and follows it as those of the built-in planner drivable_path, whose
 * parameters apply where the plugin has one of the same key. Rows that are not written are answered by
 * drivable_path. */
enum { /* flags of rw_ground_planner_input */
  RW_GROUND_ANY_HEADING = 1, /* the vehicle may arrive with any heading */
  RW_GROUND_NO_REVERSE = 2   /* the vehicle may not drive in reverse */
};

typedef struct rw_ground_planner_input {
  double start_x;         /* rear axle, m */
  double start_y;         /* m */
  double start_heading;   /* rad */
  double speed;           /* current speed of the vehicle, negative in reverse, m/s */
  double goal_x;          /* rear axle, m */
  double goal_y;          /* m */
  double goal_heading;    /* rad; 0 with RW_GROUND_ANY_HEADING */
  double goal_distance;   /* distance from the goal at which a path may end, m */
  double goal_turn;       /* heading error at which a path may end, rad; pi for any heading */
  double min_x;           /* area in which the path has to lie, m */
  double min_y;
  double max_x;
  double max_y;
  double curvature;       /* maximum that vehicle and driver can follow, 1/m */
  double clearance;       /* usual clearance beside the vehicle, m; the vehicle drives slowly where there is
                             less than 1.7 times as much */
  double least_clearance; /* for start and goal where there is no space for the usual one, m */
  double reverse;         /* cost of driving in reverse, as a multiple of driving forwards */
  double gear_change;     /* cost of a change between forwards and reverse, m of driving forwards */
  uint64_t search;        /* number of the search: the same while it continues */
  uint64_t expanded;      /* expansions of this search so far, as the planner has reported them */
  uint64_t budget;        /* expansions that it may make in this call */
  int32_t start_gear;     /* 1 forwards, -1 in reverse, 0 if either can be engaged at no cost */
  uint32_t flags;         /* RW_GROUND_* */
  uint32_t vehicle;       /* RW_NEED_VEHICLES: index into RW_VIEW_VEHICLES, or RW_NO_INDEX */
  uint32_t hitch_first;   /* RW_NEED_VEHICLES: first angle in RW_VIEW_HITCH_ANGLES, one for each trailer:
                             heading of the body in front minus heading of the trailer */
  uint32_t hitch_count;
  uint32_t near_first;    /* RW_NEED_NEAR: as in rw_controller_input, like the next three */
  uint32_t near_count;
  uint32_t near_more;
  uint32_t object;
  uint32_t grid;          /* RW_NEED_GRID: index into RW_VIEW_GRIDS, or RW_NO_INDEX */
} rw_ground_planner_input;

enum { /* reasons why there is no path */
  RW_NO_PATH_UNKNOWN = 0,
  RW_NO_PATH_START_BLOCKED = 1,
  RW_NO_PATH_GOAL_BLOCKED = 2,
  RW_NO_PATH_START_WALLED_IN = 3,
  RW_NO_PATH_GOAL_WALLED_IN = 4
};

/* A range of rw_batch.poses, from the start to the goal. */
typedef struct rw_ground_planner_output {
  double cost;       /* of the path, m of driving forwards on plain ground */
  uint64_t expanded; /* expansions of this search so far, including those of earlier calls */
  uint32_t start;    /* first pose in rw_batch.poses */
  uint32_t count;    /* 2 or more; 0: there is no path */
  uint32_t reason;   /* RW_NO_PATH_*, if there is no path */
  uint32_t reserved;
} rw_ground_planner_output;

/* A pose of a path. Consecutive poses are at most 2 m apart. */
typedef struct rw_plan_pose {
  double x;       /* rear axle, m */
  double y;       /* m */
  double heading; /* of the vehicle, also in reverse, rad */
  double speed;   /* maximum here, m/s, not negative; RW_NOTHING leaves it to the host */
  double time;    /* since the start of the path, s; RW_NOTHING: none. The vehicle does not drive faster
                     between two poses than their times say */
  int32_t gear;   /* to this pose: 1 forwards, -1 in reverse; not used for the first pose */
  uint32_t reserved;
} rw_plan_pose;

/* ---- Roads, for planners ------------------------------------------------------------------ */

/* A lanelet: a stretch of lane or a connection through a junction. */
typedef struct rw_lanelet {
  double length;      /* m */
  double speed_limit; /* m/s */
  double width;       /* m */
  uint32_t first_successor;
  uint32_t successor_count;
  uint32_t left;  /* lane to the left that vehicles can change to, or RW_NO_LANELET */
  uint32_t right; /* lane to the right that vehicles can change to, or RW_NO_LANELET */
  uint32_t first_point;
  uint32_t point_count; /* at least 2, evenly spaced */
  uint32_t flags;       /* RW_LANELET_* */
  int32_t turn;         /* of a connection: 1 left, -1 right, 2 U-turn, 0 straight on */
} rw_lanelet;

typedef struct rw_point {
  double x; /* east, m */
  double y; /* north, m */
} rw_point;

typedef struct rw_roads {
  uint32_t size;
  uint32_t lanelet_count;
  uint32_t successor_count;
  uint32_t point_count;
  uint64_t version; /* changes whenever the roads change */
  const rw_lanelet *lanelets;
  const uint32_t *successors;
  const rw_point *points;
  const float *delays; /* for each lanelet: delay caused by queues, s */
} rw_roads;

/* ---- Views, for controllers and ground planners that ask for them (RW_NEEDS_EXTENSION) -------- */

enum {
  RW_VIEW_VEHICLES = 0, /* rw_vehicle */
  RW_VIEW_HITCHES = 1,  /* rw_hitch */
  RW_VIEW_PATH = 2,     /* rw_path_point */
  RW_VIEW_OBJECTS = 3,  /* rw_object; since 1.4, like the following ones */
  RW_VIEW_NEAR = 4,     /* rw_near */
  RW_VIEW_OUTLINES = 5, /* rw_point */
  RW_VIEW_HITCH_ANGLES = 6, /* double, rad; since 1.5, like the following ones */
  RW_VIEW_GRIDS = 7,    /* rw_grid */
  RW_VIEW_CELLS = 8     /* uint16_t */
};

/* An array that the rows of a batch refer to by index. Its records may grow at their end in later
 * versions, so advance by the stride: see rw_part. */
typedef struct rw_view {
  const void *data;
  uint32_t count;
  uint32_t stride;  /* bytes */
  uint64_t version; /* changes whenever the contents change; 0: they may differ in every call */
} rw_view;

/* A vehicle type at a level of dynamics. Values that the level does not model are 0. */
typedef struct rw_vehicle {
  double length;           /* overall, without trailers, m */
  double width;            /* m */
  double height;           /* m */
  double wheelbase;        /* m */
  double axle_to_front;    /* from the rear axle to the front end, m */
  double axle_to_rear;     /* from the rear axle to the rear end, without trailers, m */
  double mass;             /* kg */
  double max_speed;        /* m/s */
  double max_acceleration; /* m/s^2 */
  double max_braking;      /* m/s^2, positive */
  double max_steering;     /* angle of the front wheels to either side, rad */
  double max_steering_rate; /* rad/s */
  double steering_delay;   /* dead time, s */
  double steering_lag;     /* time constant, s */
  double drive_delay;      /* dead time of the engine, s */
  double drive_lag;        /* time constant of the engine, s */
  double brake_delay;      /* dead time, s */
  double brake_lag;        /* time constant, s */
  uint32_t hitches;        /* first trailer in RW_VIEW_HITCHES */
  uint32_t hitch_count;    /* number of trailers */
} rw_vehicle;

/* A trailer with its coupling. */
typedef struct rw_hitch {
  double coupling;  /* ahead of the rear axle of the towing vehicle, or of the coupling of the trailer
                       before it, m; usually negative */
  double to_axle;   /* from the coupling back to the trailer's axle, m */
  double front;     /* front end, ahead of the coupling, m */
  double length;    /* m */
  double width;     /* m */
  double max_angle; /* to the vehicle in front, rad */
} rw_hitch;

enum {
  RW_PATH_LANE_CHANGE = 1, /* between two lanes */
  RW_PATH_CONNECTION = 2,  /* on a connection through a junction */
  RW_PATH_STOP = 4,        /* at or beyond the place where the rear axle has to stop now */
  RW_PATH_REVERSE = 8,     /* to be driven backwards */
  RW_PATH_END = 16         /* beyond the destination, or the end of this part of the path */
};

/* A point of the path of the rear axle. Points lie at the multiples of rw_needs.path_spacing, from
 * the last one at or before path_s. As long as route_version is the same, a point stays where it is,
 * apart from a wanted lateral offset and from lane changes. The heading is that of travel. */
typedef struct rw_path_point {
  double s;         /* along the path, m */
  double x;         /* m */
  double y;         /* m */
  double z;         /* height of the ground, m */
  double heading;   /* rad */
  double curvature; /* 1/m */
  double grade;     /* rise per distance */
  double speed;     /* speed that limit and bends allow, m/s */
  double left;      /* free width from the point to the edge of the lane, m; off the lanes, half of the
                       vehicle's width plus the clearance of the path */
  double right;     /* m */
  uint32_t lanelet; /* as in rw_roads, or RW_NO_LANELET off the lanes */
  uint32_t flags;   /* RW_PATH_* */
} rw_path_point;

enum { /* kinds of objects, since 1.4 */
  RW_OBJECT_VEHICLE = 1,
  RW_OBJECT_PERSON = 2,   /* on foot */
  RW_OBJECT_TRAILER = 3,
  RW_OBJECT_OBSTACLE = 4, /* such as a wall, a building or a cone */
  RW_OBJECT_TREE = 5      /* listed only with RW_NEED_TREES */
};
enum {
  RW_OBJECT_IS_AGENT = 1, /* its id is that of an agent */
  RW_OBJECT_IS_ROUND = 2  /* it is a disc, and its length is the diameter */
};

/* A body of the world; RW_VIEW_OBJECTS lists each one once, whether or not it is near an agent. An obstacle
 * that is not convex is divided into convex bodies, which have its id and differ in part. */
typedef struct rw_object {
  uint64_t id;            /* of the agent whose vehicle or body it is, or which tows or has uncoupled the
                             trailer; other persons, obstacles and forests have separate numbers */
  uint32_t kind;          /* RW_OBJECT_VEHICLE ... RW_OBJECT_TREE */
  uint32_t flags;         /* RW_OBJECT_IS_* */
  double x;               /* middle of its box, m */
  double y;               /* m */
  double z;               /* height of its lower end, m */
  double heading;         /* of the box's length, rad */
  double velocity_x;      /* of its middle, m/s */
  double velocity_y;      /* m/s */
  double length;          /* of its box, m */
  double width;           /* m */
  double height;          /* m */
  uint32_t part;          /* number among bodies of the same kind and id: trailers from 1 at the front, trees within
                             their forest, bodies of an obstacle from 0 */
  uint32_t outline;       /* first corner in RW_VIEW_OUTLINES */
  uint32_t outline_count; /* corners of its convex outline, counter-clockwise; 0: the outline is its box, or
                             it is a disc */
  uint32_t reserved;
} rw_object;

enum {
  RW_NEAR_LEADER = 1,       /* the leader on the agent's route */
  RW_NEAR_HAS_PRIORITY = 2, /* it has priority where both routes meet in the next junction */
  RW_NEAR_SAME_TEAM = 4     /* both agents are in the same group */
};
#define RW_LANE_UNKNOWN 1000

/* An object within near_radius of an agent, for RW_VIEW_NEAR. The agent's own vehicle and trailers are left
 * out. The entries of a row are sorted by distance, then by id. Objects on a bridge above or on a road below
 * are left out, and so are obstacles under which or over which the vehicle can drive. Directions are those of
 * the agent's own vehicle. */
typedef struct rw_near {
  double distance;       /* from the box of the own vehicle to the object, m; 0 if they touch */
  double ahead;          /* position of its middle ahead of the own rear axle, m */
  double left;           /* position of its middle to the left, m */
  double velocity_ahead; /* of its middle relative to the own rear axle, m/s */
  double velocity_left;  /* m/s */
  double path_distance;  /* its middle along the own path, from the own rear axle, m; RW_NOTHING without a path */
  double path_offset;    /* its middle to the left of the path, m */
  uint32_t object;       /* index into RW_VIEW_OBJECTS */
  int32_t lane;          /* of a vehicle: lanes to the left of the lane that the agent's route takes there, or
                            RW_LANE_UNKNOWN if it is on no lane in the same direction */
  uint32_t flags;        /* RW_NEAR_* */
  uint32_t reserved;
} rw_near;

/* Map of the cost of driving within the bounds of a ground planner's row, for the middle of its vehicle:
 * obstacles are grown by half of the vehicle's width, and cells near them cost more. Bodies that
 * have moved within the last 5 s are left out. Since 1.5. */
typedef struct rw_grid {
  double x;         /* south-western corner of the first cell, m */
  double y;         /* m */
  double cell;      /* size of the cells, m: grid_cell, or twice, four times ... as much if the map would
                       have more than 4 million cells */
  uint64_t version; /* changes whenever the contents change */
  uint32_t columns;
  uint32_t rows;
  uint32_t first;   /* first cell in RW_VIEW_CELLS; cells follow row by row, from the south-west */
  uint32_t plain;   /* value of plain ground: a cell costs its value divided by this; 0 is blocked */
} rw_grid;

/* ---- Calls -------------------------------------------------------------------------------- */

/* Before a build is loaded, it is tried once in a separate process: create, agents_changed and
 * one step with 8 equal rows of plain values (for a controller: 8 m/s on a free road of 13 m/s),
 * ids 1 to 8, agent indices 0 to 7, step 0, time 0 and, for planners, a road of two lanelets. A row does not
 * show whether it belongs to the trial or to a run, and answers must not depend on that. */

typedef struct rw_batch {
  uint32_t size;
  uint32_t count;
  uint64_t step;
  double time;               /* simulation time, s */
  double period;             /* time until the same agent is asked again, s: 1 / rate_hz of the
                                stack, rounded to whole steps; controllers default to 30 Hz.
                                Planners and fitnesses are asked on demand instead */
  const uint64_t *agent_ids; /* one per row, for planners too; all agents that a planner is asked
                                about in the same step come in one batch */
  const uint32_t *agent_indices; /* one per row: a dense number that an agent keeps while it drives;
                                agents_changed reports when another agent gets it */
  const uint64_t *seeds;     /* one per row: a random number that depends on run, agent and step */
  const void *inputs;
  void *outputs;
  uint32_t input_stride; /* bytes; rows may grow at their end in later versions */
  uint32_t output_stride;
  uint8_t *status; /* one RW_ROW_* per row; zero before the call */
  const rw_roads *roads; /* planners only */
  uint32_t *route;       /* planners write their lanelets here */
  uint32_t route_capacity;
  uint32_t route_length; /* lanelets written */
  /* Since 1.3; present if size says so. */
  const rw_view *views; /* one per RW_VIEW_*; views that were not asked for are empty */
  uint32_t view_count;
  uint32_t view_stride; /* bytes */
  /* Since 1.5, for ground planners. */
  rw_plan_pose *poses;  /* ground planners write their paths here */
  uint32_t pose_capacity;
  uint32_t pose_length; /* poses written */
} rw_batch;

typedef struct rw_plugin_info {
  char magic[8]; /* RW_MAGIC */
  uint32_t info_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint16_t min_host_minor;
  uint16_t reserved;
  uint32_t kinds; /* RW_KIND_* */
  uint64_t caps;  /* RW_CAP_* */
  uint64_t row_schema;
  char name[64];
  char id[64]; /* in reverse domain order: com.example.pure_pursuit */
  char version[32];
  char author[64];
  char language[16];
  char build_id[32];
  char doc[160]; /* one sentence */
} rw_plugin_info;

typedef struct rw_param_info {
  char key[32];
  char label[48];
  char group[48]; /* '/' between the levels of a tree */
  char unit[16];
  uint32_t kind;  /* RW_PARAM_NUMBER ... RW_PARAM_CHOICE */
  uint32_t flags; /* RW_PARAM_HIDDEN or 0; the other bits must be 0 */
  double min;
  double max;
  double default_value;
  double step; /* step of a slider; 0 for continuous */
  char doc[160];
  char choices[256]; /* words with '|' between them */
} rw_param_info;

typedef struct rw_host {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;
  void *ctx;
  const char *version;
  uint64_t version_length;
  void (*log)(void *ctx, uint32_t level, const char *text, uint64_t length);
  /* 1 once the host has abandoned the calls in progress in this library. Their answers will not
   * be used, so return at once, with any status. Otherwise 0. `roadwright run` abandons a call
   * 20 s after it began (2 s after Ctrl-C) and exits 2 s later if it has not returned. An
   * isolated call is abandoned after 2 s, and its process is killed 0.5 s later. The editor
   * abandons nothing; it asks the user. The value is never 1 in a call whose answer counts, so
   * no result of a run depends on it. May be called from any thread. */
  uint32_t (*cancelled)(void *ctx);
  /* Returns an extension of the host by its id, or NULL if the host does not know it, so test
   * for NULL. This version knows none and returns NULL for every id. */
  const void *(*get_extension)(void *ctx, const char *id, uint64_t length);
} rw_host;

typedef struct rw_instance rw_instance;
typedef int32_t (*rw_write)(void *ctx, const uint8_t *bytes, uint64_t length);

typedef struct rw_api {
  uint32_t size;
  uint32_t reserved;
  int32_t (*create)(const rw_host *host, uint32_t kind, rw_instance **out);
  void (*destroy)(rw_instance *self);
  int32_t (*step)(rw_instance *self, rw_batch *batch);
  /* Agents have been added and removed; all indices are smaller than capacity. Both lists are ordered
   * by agent id, and no index is in both: a removal is reported at least one call before another
   * agent gets the index. An added agent is reported before the first step that asks about it. */
  int32_t (*agents_changed)(rw_instance *self, uint32_t capacity, const uint32_t *added,
                            uint32_t added_count, const uint32_t *removed,
                            uint32_t removed_count);
  uint32_t (*param_count)(rw_instance *self);
  int32_t (*param_info)(rw_instance *self, uint32_t index, rw_param_info *out);
  int32_t (*param_get)(rw_instance *self, uint32_t index, double *out);
  int32_t (*param_set)(rw_instance *self, uint32_t index, double value);
  int32_t (*state_save)(rw_instance *self, rw_write write, void *ctx, uint32_t *schema);
  int32_t (*state_load)(rw_instance *self, const uint8_t *bytes, uint64_t length,
                        uint32_t schema);
  /* Copies at most capacity bytes and returns the full length; self is NULL after a failed
   * create. */
  uint64_t (*last_error)(rw_instance *self, char *buffer, uint64_t capacity);
  const void *(*get_extension)(const char *id, uint64_t length);
} rw_api;

/* Extension "roadwright.controller/1" of a plugin. */
#define RW_CONTROLLER_EXTENSION "roadwright.controller/1"
typedef struct rw_controller_extension {
  uint32_t size;
  uint32_t reserved;
  /* Lookahead to the waypoint: the larger of distance, m, and time, s, times speed. Without this
   * extension, the values of the built-in idm apply: 4.5 m and 0.6 s. */
  int32_t (*lookahead)(rw_instance *self, double *distance, double *time);
} rw_controller_extension;

/* Extension "roadwright.pedals/1" of a plugin: a controller that offers it uses the pedals. The
 * host then calls this step instead of rw_api.step; hosts that do not know the extension call
 * rw_api.step. */
#define RW_PEDALS_EXTENSION "roadwright.pedals/1"
typedef struct rw_pedals_extension {
  uint32_t size;
  uint32_t reserved;
  /* Input rows are rw_controller_input, output rows rw_pedals_output. Row i of drives is an
   * rw_drive_input for the same agent. Advance through all three by their strides. */
  int32_t (*step)(rw_instance *self, rw_batch *batch, const void *drives, uint32_t drive_stride);
} rw_pedals_extension;

/* Extension "roadwright.parameters/1" of a plugin, since 1.2: parameters of any kind, including
 * tables of numbers. A host that knows it calls these functions instead of param_count, param_info,
 * param_get and param_set of rw_api; provide those too if hosts of 1.0 and 1.1 should show numeric
 * parameters. A module has at most 256 parameters and 4096 cells of tables. */
#define RW_PARAMETERS_EXTENSION "roadwright.parameters/1"
enum { RW_TEXT_DOC = 1, RW_TEXT_CHOICE = 2, RW_TEXT_ROW = 3, RW_TEXT_COLUMN = 4 };
typedef struct rw_parameter {
  uint32_t size;    /* set by the host: never write beyond it */
  uint32_t kind;    /* RW_PARAM_* */
  uint32_t flags;   /* RW_PARAM_HIDDEN or 0; the other bits must be 0 */
  uint32_t choices; /* number of words of RW_PARAM_CHOICE */
  uint32_t rows;    /* of RW_PARAM_TABLE */
  uint32_t columns; /* of RW_PARAM_TABLE */
  double min;       /* of each value */
  double max;
  char key[64];
  char unit[16];
} rw_parameter;
typedef struct rw_parameters_extension {
  uint32_t size;
  uint32_t reserved;
  uint32_t (*count)(rw_instance *self);
  int32_t (*info)(rw_instance *self, uint32_t index, rw_parameter *out);
  /* Copies at most capacity bytes of a text (RW_TEXT_*; item is the number of the word, row or
   * column) and returns its full length; 0 for a text that does not exist. NULL: no texts. */
  uint64_t (*text)(rw_instance *self, uint32_t index, uint32_t what, uint32_t item, char *buffer,
                   uint64_t capacity);
  /* The values of a parameter: one number, or all cells of a table, row by row. */
  int32_t (*defaults)(rw_instance *self, uint32_t index, double *values, uint32_t count);
  int32_t (*get)(rw_instance *self, uint32_t index, double *values, uint32_t count);
  int32_t (*set)(rw_instance *self, uint32_t index, const double *values, uint32_t count);
} rw_parameters_extension;

/* Extension "roadwright.needs/1" of a controller, since 1.3, or ground planner, since 1.5: requests the
 * contents of its rows and views. It never gets more than it requests, so arrays of fixed length are safe.
 * A group that the host does not know, or that makes no sense for the kind, is an error when the plugin is
 * loaded. */
#define RW_NEEDS_EXTENSION "roadwright.needs/1"
enum {
  RW_NEED_MOTION = 1,   /* own pose, rates and last command */
  RW_NEED_VEHICLES = 2, /* own vehicle: RW_VIEW_VEHICLES and RW_VIEW_HITCHES */
  RW_NEED_PATH = 4,     /* path ahead: RW_VIEW_PATH */
  RW_NEED_NEAR = 8,     /* nearby objects: RW_VIEW_OBJECTS, RW_VIEW_NEAR and RW_VIEW_OUTLINES; since 1.4 */
  RW_NEED_TREES = 16,   /* trees among them; since 1.4 */
  RW_NEED_GRID = 32     /* ground planners: RW_VIEW_GRIDS and RW_VIEW_CELLS; since 1.5 */
};
typedef struct rw_needs {
  uint32_t size;        /* set by the host: never write beyond it */
  uint32_t path_most;   /* maximum number of points per row, 2 to 1000 */
  uint64_t groups;      /* RW_NEED_*, combined by bitwise or */
  double path_distance; /* how far ahead: the larger of this distance, m, at most 1000, */
  double path_time;     /* and of this time, s, at most 60, times the speed */
  double path_spacing;  /* distance between points, m, 0.1 to 50 */
  double near_radius;   /* distance within which objects are listed, m, at most 500; since 1.4 */
  uint32_t near_most;   /* maximum number of objects per row, 1 to 1000; since 1.4 */
  uint32_t reserved;
  double grid_cell;     /* size of the cells of the map, m, 0.2 to 4; since 1.5 */
} rw_needs;
typedef struct rw_needs_extension {
  uint32_t size;
  uint32_t reserved;
  /* Called after create, after parameters have changed, and after state_load. */
  int32_t (*needs)(rw_instance *self, rw_needs *out);
} rw_needs_extension;

/* The input and the output of a row. */
static inline const void *rw_input(const rw_batch *batch, uint32_t row) {
  return (const char *)batch->inputs + (size_t)row * batch->input_stride;
}
static inline void *rw_output(const rw_batch *batch, uint32_t row) {
  return (char *)batch->outputs + (size_t)row * batch->output_stride;
}
/* A view of a batch; empty if the host is older or the view was not asked for. */
static inline rw_view rw_view_of(const rw_batch *batch, uint32_t number) {
  const rw_view none = {NULL, 0, 1, 0};
  if (batch->size < offsetof(rw_batch, poses)) return none;
  if (number >= batch->view_count) return none;
  return *(const rw_view *)(const void *)((const char *)batch->views +
                                          (size_t)number * batch->view_stride);
}
/* The element of a view at an index below its count. */
static inline const void *rw_at(rw_view view, uint32_t index) {
  return (const char *)view.data + (size_t)index * view.stride;
}
/* A range of a view; empty if it does not lie within the view. */
static inline rw_view rw_part(rw_view view, uint32_t first, uint32_t count) {
  const rw_view none = {NULL, 0, 1, 0};
  if (first > view.count || count > view.count - first) return none;
  if (count > 0) view.data = rw_at(view, first);
  view.count = count;
  return view;
}

/* The acceleration that results from pedal positions, m/s^2, unless the tyres slip. */
static inline double rw_drive_acceleration(const rw_drive_input *drive, double throttle,
                                           double brake) {
  return drive->coasting + throttle * (drive->full_throttle - drive->coasting) -
         brake * (drive->coasting - drive->full_brake);
}
/* The pedal positions that give an acceleration, or come closest to it; full brake if the
 * acceleration is not finite. */
static inline void rw_drive_pedals(const rw_drive_input *drive, double acceleration,
                                   rw_pedals_output *out) {
  double more = acceleration - drive->coasting;
  double pushed = drive->full_throttle - drive->coasting;
  double braked = drive->coasting - drive->full_brake;
  out->throttle = out->brake = 0.0;
  if (!(acceleration - acceleration == 0.0)) out->brake = 1.0;
  else if (more > 0.0) out->throttle = more < pushed ? more / pushed : 1.0;
  else if (more < 0.0) out->brake = -more < braked ? -more / braked : 1.0;
}

/* A plugin defines these two symbols. */
RW_EXPORT extern const rw_plugin_info rw_plugin_info_v1;
RW_EXPORT int32_t rw_plugin_main_v1(const rw_host *host, rw_api *out);

RW_ASSERT(sizeof(void *) == 8, "64-bit platforms only");
RW_ASSERT(sizeof(rw_controller_input) == 288, "layout");
RW_ASSERT(offsetof(rw_controller_input, x) == 128, "layout");
RW_ASSERT(offsetof(rw_controller_input, delay) == 232, "layout");
RW_ASSERT(offsetof(rw_controller_input, path_count) == 264, "layout");
RW_ASSERT(offsetof(rw_controller_input, near_first) == 272, "layout");
RW_ASSERT(sizeof(rw_controller_output) == 16, "layout");
RW_ASSERT(sizeof(rw_drive_input) == 104, "layout");
RW_ASSERT(offsetof(rw_drive_input, gears) == 96, "layout");
RW_ASSERT(sizeof(rw_pedals_output) == 40, "layout");
RW_ASSERT(sizeof(rw_planner_input) == 32, "layout");
RW_ASSERT(sizeof(rw_planner_output) == 16, "layout");
RW_ASSERT(sizeof(rw_fitness_input) == 216, "layout");
RW_ASSERT(offsetof(rw_fitness_input, collision_exposure) == 64, "layout");
RW_ASSERT(offsetof(rw_fitness_input, settled_speed) == 208, "layout");
RW_ASSERT(sizeof(rw_fitness_output) == 8, "layout");
RW_ASSERT(sizeof(rw_signal_stage) == 48, "layout");
RW_ASSERT(sizeof(rw_signal_movement) == 32, "layout");
RW_ASSERT(offsetof(rw_signal_input, stages) == 40, "layout");
RW_ASSERT(offsetof(rw_signal_input, movements) == 1576, "layout");
RW_ASSERT(sizeof(rw_signal_input) == 3112, "layout");
RW_ASSERT(sizeof(rw_signal_output) == 8, "layout");
RW_ASSERT(sizeof(rw_ground_planner_input) == 208, "layout");
RW_ASSERT(offsetof(rw_ground_planner_input, search) == 144, "layout");
RW_ASSERT(offsetof(rw_ground_planner_input, start_gear) == 168, "layout");
RW_ASSERT(offsetof(rw_ground_planner_input, grid) == 204, "layout");
RW_ASSERT(sizeof(rw_ground_planner_output) == 32, "layout");
RW_ASSERT(offsetof(rw_ground_planner_output, reason) == 24, "layout");
RW_ASSERT(sizeof(rw_plan_pose) == 48, "layout");
RW_ASSERT(offsetof(rw_plan_pose, gear) == 40, "layout");
RW_ASSERT(sizeof(rw_grid) == 48, "layout");
RW_ASSERT(offsetof(rw_grid, columns) == 32, "layout");
RW_ASSERT(sizeof(rw_lanelet) == 56, "layout");
RW_ASSERT(sizeof(rw_point) == 16, "layout");
RW_ASSERT(sizeof(rw_roads) == 56, "layout");
RW_ASSERT(sizeof(rw_plugin_info) == 472, "layout");
RW_ASSERT(offsetof(rw_plugin_info, kinds) == 20, "layout");
RW_ASSERT(offsetof(rw_plugin_info, caps) == 24, "layout");
RW_ASSERT(offsetof(rw_plugin_info, name) == 40, "layout");
RW_ASSERT(offsetof(rw_plugin_info, id) == 104, "layout");
RW_ASSERT(offsetof(rw_plugin_info, doc) == 312, "layout");
RW_ASSERT(sizeof(rw_host) == 56, "layout");
RW_ASSERT(offsetof(rw_host, ctx) == 8, "layout");
RW_ASSERT(sizeof(rw_api) == 104, "layout");
RW_ASSERT(offsetof(rw_api, create) == 8, "layout");
RW_ASSERT(offsetof(rw_api, get_extension) == 96, "layout");
RW_ASSERT(sizeof(rw_batch) == 144, "layout");
RW_ASSERT(offsetof(rw_batch, poses) == 128, "layout");
RW_ASSERT(offsetof(rw_batch, agent_ids) == 32, "layout");
RW_ASSERT(offsetof(rw_batch, input_stride) == 72, "layout");
RW_ASSERT(offsetof(rw_batch, status) == 80, "layout");
RW_ASSERT(offsetof(rw_batch, route_length) == 108, "layout");
RW_ASSERT(offsetof(rw_batch, views) == 112, "layout");
RW_ASSERT(sizeof(rw_view) == 24, "layout");
RW_ASSERT(sizeof(rw_vehicle) == 152, "layout");
RW_ASSERT(offsetof(rw_vehicle, hitches) == 144, "layout");
RW_ASSERT(sizeof(rw_hitch) == 48, "layout");
RW_ASSERT(sizeof(rw_path_point) == 88, "layout");
RW_ASSERT(offsetof(rw_path_point, lanelet) == 80, "layout");
RW_ASSERT(sizeof(rw_object) == 104, "layout");
RW_ASSERT(offsetof(rw_object, part) == 88, "layout");
RW_ASSERT(sizeof(rw_near) == 72, "layout");
RW_ASSERT(offsetof(rw_near, object) == 56, "layout");
RW_ASSERT(sizeof(rw_param_info) == 600, "layout");
RW_ASSERT(offsetof(rw_param_info, min) == 152, "layout");
RW_ASSERT(offsetof(rw_param_info, choices) == 344, "layout");
RW_ASSERT(sizeof(rw_controller_extension) == 16, "layout");
RW_ASSERT(sizeof(rw_pedals_extension) == 16, "layout");
RW_ASSERT(sizeof(rw_parameter) == 120, "layout");
RW_ASSERT(offsetof(rw_parameter, min) == 24, "layout");
RW_ASSERT(offsetof(rw_parameter, unit) == 104, "layout");
RW_ASSERT(sizeof(rw_parameters_extension) == 56, "layout");
RW_ASSERT(offsetof(rw_parameters_extension, set) == 48, "layout");
RW_ASSERT(sizeof(rw_needs) == 64, "layout");
RW_ASSERT(offsetof(rw_needs, grid_cell) == 56, "layout");
RW_ASSERT(offsetof(rw_needs, path_spacing) == 32, "layout");
RW_ASSERT(offsetof(rw_needs, near_radius) == 40, "layout");
RW_ASSERT(sizeof(rw_needs_extension) == 16, "layout");

#ifdef __cplusplus
} /* extern "C" */

#include <exception>
#include <string>
#include <utility>

namespace rw {

/* Runs f and turns every exception into RW_E_PANIC, because no exception may leave a plugin. */
template <class F> int32_t guard(std::string &error, F &&f) noexcept {
  try {
    return std::forward<F>(f)();
  } catch (const std::exception &e) {
    try { error = e.what(); } catch (...) {}
  } catch (...) {
    try { error = "an exception that is not a std::exception"; } catch (...) {}
  }
  return RW_E_PANIC;
}

} /* namespace rw */
#endif

#endif /* ROADWRIGHT_PLUGIN_H */

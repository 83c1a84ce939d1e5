//! The ground planners, as modules of stacks. The searches are in `open_ground`.

use roadwright_agent::{
    Avoid, GroundPlanner, GroundPlanning, GroundSearch, Logic, ModuleEntry, ModuleInfo,
    MoveExecution, MoveHeuristic, MoveTreeLibrary, MoveTreeSearch, ParameterInfo, ParameterKind,
    ParameterSet, Searcher,
};

/// A ground planner, defined by its search algorithm.
struct Planner(fn(&ParameterSet) -> GroundSearch);

static STRAIGHT: ModuleInfo = ModuleInfo {
    id: "straight",
    name: "Straight",
    doc: "Drives straight to the goal, regardless of obstacles.",
};

static GRID_PATH: ModuleInfo = ModuleInfo {
    id: "grid_path",
    name: "Grid path",
    doc: "Finds the cheapest path over the cells of the map.",
};

static FLOW_FIELD: ModuleInfo = ModuleInfo {
    id: "flow_field",
    name: "Flow field",
    doc: "Finds the cheapest paths from every cell to a goal, once for all agents with this goal.",
};

static HYBRID: ModuleInfo = ModuleInfo {
    id: "hybrid_fuzzy_path",
    name: "Hybrid fuzzy path",
    doc: "Searches a bounded number of cells at a time, learns from each search, and replans as \
          other vehicles move.",
};

static INCREMENTAL: ModuleInfo = ModuleInfo {
    id: "incremental_path",
    name: "Incremental path",
    doc: "Finds the cheapest path, and repairs it where the map has changed.",
};

static DRIVABLE: ModuleInfo = ModuleInfo {
    id: "drivable_path",
    name: "Drivable path",
    doc: "Finds a path that the vehicle can drive exactly, forwards and in reverse.",
};

/// Size of the cells of `drivable_path`, m.
const DRIVABLE_CELL: f64 = 0.5;

// Parameters that all planners with a map have.
const CLEARANCE: ParameterInfo = ParameterInfo::number(
    "clearance",
    "m",
    (0.0, 20.0),
    2.0,
    "Distance from obstacles up to which cells cost more.",
);
const NEAR: ParameterInfo = ParameterInfo::number(
    "near",
    "m",
    (0.5, 100.0),
    4.0,
    "Distance to the waypoint at standstill.",
);
const AHEAD: ParameterInfo = ParameterInfo::number(
    "ahead",
    "s",
    (0.0, 10.0),
    1.0,
    "Lookahead time, which is multiplied by the speed and added to the distance at standstill.",
);
const PAUSE: ParameterInfo = ParameterInfo::number(
    "pause",
    "s",
    (0.0, 10.0),
    0.25,
    "Minimum time between replans when driver and plan disagree.",
);
const GEAR_CHANGE: ParameterInfo = ParameterInfo::number(
    "gear_change",
    "s",
    (0.0, 60.0),
    2.0,
    "Time penalty for each change between forwards and reverse.",
);
const VERDICT_BUDGET: ParameterInfo = ParameterInfo::number(
    "verdict_budget",
    "",
    (512.0, 1e6),
    1024.0,
    "Number of cells expanded per step by the search that checks whether a path exists.",
);
const AVOID: ParameterInfo = ParameterInfo::choice(
    "avoid",
    &["path", "all"],
    "Obstacles that the controller perceives: only those on the path, or all obstacles ahead.",
);

/// Parameters of `drivable_path`.
static WITH_POSES: [ParameterInfo; 13] = [
    ParameterInfo::number(
        "tracking_margin",
        "m",
        (0.0, 3.0),
        0.3,
        "Normal clearance beside the vehicle: the accuracy with which it follows its path.",
    ),
    ParameterInfo::number(
        "least_margin",
        "m",
        (0.0, 3.0),
        0.15,
        "Clearance where there is no room for the normal clearance at the start or destination.",
    ),
    CLEARANCE,
    NEAR,
    AHEAD,
    PAUSE,
    GEAR_CHANGE,
    ParameterInfo::number(
        "reverse",
        "",
        (1.0, 20.0),
        2.0,
        "Cost of driving in reverse, as a multiple of the cost of driving forwards.",
    ),
    ParameterInfo::number(
        "budget",
        "",
        (10.0, 1e6),
        1000.0,
        "Number of poses that a search expands per step.",
    ),
    ParameterInfo::number(
        "most",
        "",
        (100.0, 1e7),
        200_000.0,
        "Number of poses after which a search gives up.",
    ),
    VERDICT_BUDGET,
    AVOID,
    ParameterInfo::choice(
        "arrive",
        &["anyhow", "with_heading"],
        "Whether a path may end with any heading at a destination on open ground, or must end with \
         the destination's heading.",
    ),
];

/// `drivable_path`. Its parameters differ from the parameters of the planners that search cells.
struct DrivablePlanner;

impl Logic for DrivablePlanner {}

impl GroundPlanner for DrivablePlanner {
    fn planning(&self, parameters: &ParameterSet) -> GroundPlanning {
        let value = |key| parameters.value(key);
        GroundPlanning {
            search: GroundSearch::Drivable {
                budget: value("budget") as u64,
                most: value("most") as u64,
                keeps_heading: value("arrive") == 1.0,
            },
            cell: DRIVABLE_CELL,
            tracking_margin: value("tracking_margin"),
            clearance: value("clearance"),
            near: value("near"),
            ahead: value("ahead"),
            pause: value("pause"),
            gear_change: value("gear_change"),
            reverse: value("reverse"),
            least_margin: value("least_margin"),
            verdict_budget: value("verdict_budget") as u64,
            avoid: avoided(parameters),
            ..without_map(GroundSearch::Straight)
        }
    }
}

fn avoided(parameters: &ParameterSet) -> Avoid {
    match parameters.value("avoid") {
        0.0 => Avoid::Path,
        _ => Avoid::All,
    }
}
static MOVE_TREE: ModuleInfo = ModuleInfo {
    id: "move_tree",
    name: "Move tree",
    doc: "Drives the quickest collision-free sequence of recorded moves.",
};

/// Move libraries offered by the planner `move_tree`.
static LIBRARIES: [&str; 7] = [
    "large",
    "large-angles",
    "large-without-skids",
    "five",
    "seven",
    OF_VEHICLE,
    // New libraries are appended, because files store the index of the choice.
    "shunting",
];
/// Choice that stands for the libraries named by the vehicle type.
const OF_VEHICLE: &str = "of_vehicle";

static WITH_MOVES: [ParameterInfo; 5] = [
    ParameterInfo::choice(
        "library",
        &LIBRARIES,
        "Library of recorded moves: a shipped library, or of_vehicle for the libraries of the vehicle type.",
    ),
    ParameterInfo {
        kind: ParameterKind::Integer,
        ..ParameterInfo::number(
            "horizon",
            "frames",
            (1.0, 2000.0),
            200.0,
            "Planning horizon of the search; the libraries have 25 frames a second.",
        )
    },
    ParameterInfo {
        kind: ParameterKind::Integer,
        ..ParameterInfo::number(
            "nodes",
            "",
            (10.0, 1e6),
            5000.0,
            "Maximum number of moves that each search considers.",
        )
    },
    ParameterInfo::choice(
        "execution",
        &["played", "replayed"],
        "Whether clips replace the dynamics of the level, or the level drives with the recorded \
         commands and corrections.",
    ),
    ParameterInfo::choice(
        "heuristic",
        &["straight", "detours"],
        "Estimate of the remaining time that orders the search: straight to the goal at top \
         speed, or including detours and turns.",
    ),
];

/// Number of parameters that all planners with a map have.
const COMMON: usize = 12;

const COSTS: [ParameterInfo; COMMON] = [
    ParameterInfo::number("cell", "m", (0.2, 4.0), 1.0, "Cell size of the map."),
    ParameterInfo::choice(
        "costs",
        &["10_14", "octile"],
        "Costs of straight and diagonal steps: 10 and 14, or 5741 and 8119.",
    ),
    ParameterInfo::choice(
        "corners",
        &["keep", "cut"],
        "Whether diagonal steps may cut the corner of a blocked cell.",
    ),
    ParameterInfo::number(
        "tracking_margin",
        "m",
        (0.0, 5.0),
        0.3,
        "Accuracy with which the vehicle follows its path.",
    ),
    CLEARANCE,
    NEAR,
    AHEAD,
    PAUSE,
    GEAR_CHANGE,
    ParameterInfo::number(
        "forecast",
        "s",
        (0.0, 20.0),
        3.0,
        "Forecast horizon for the motion of other vehicles.",
    ),
    VERDICT_BUDGET,
    AVOID,
];

static WITH_MAP: [ParameterInfo; COMMON] = COSTS;
static WITH_GUIDE: [ParameterInfo; COMMON + 1] = with(ParameterInfo::choice(
    "guide",
    &["a_star", "dijkstra"],
    "Whether the distance to the goal guides the search.",
));
static WITH_BUDGET: [ParameterInfo; COMMON + 1] = with(ParameterInfo::number(
    "budget",
    "",
    (100.0, 1e6),
    4000.0,
    "Maximum number of cells that each search expands.",
));

/// Returns the common parameters and one additional parameter.
const fn with(last: ParameterInfo) -> [ParameterInfo; COMMON + 1] {
    let mut all = [last; COMMON + 1];
    let mut at = 0;
    while at < COMMON {
        all[at] = COSTS[at];
        at += 1;
    }
    all
}

impl Logic for Planner {}

impl GroundPlanner for Planner {
    fn planning(&self, parameters: &ParameterSet) -> GroundPlanning {
        let search = self.0(parameters);
        if !search.uses_map() {
            return without_map(search);
        }
        let value = |key| parameters.value(key);
        GroundPlanning {
            search,
            searcher: Searcher::Host,
            cell: value("cell"),
            is_octile: value("costs") == 1.0,
            cuts_corners: value("corners") == 1.0,
            tracking_margin: value("tracking_margin"),
            clearance: value("clearance"),
            near: value("near"),
            ahead: value("ahead"),
            pause: value("pause"),
            gear_change: value("gear_change"),
            reverse: 1.0,
            least_margin: 0.0,
            forecast: value("forecast"),
            verdict_budget: value("verdict_budget") as u64,
            avoid: avoided(parameters),
        }
    }
}

/// Returns the settings of a planner without a map. All settings except the search are ignored.
fn without_map(search: GroundSearch) -> GroundPlanning {
    GroundPlanning {
        search,
        searcher: Searcher::Host,
        cell: 1.0,
        is_octile: false,
        cuts_corners: false,
        tracking_margin: 0.0,
        clearance: 0.0,
        near: 0.0,
        ahead: 0.0,
        pause: 0.0,
        gear_change: 0.0,
        reverse: 1.0,
        least_margin: 0.0,
        forecast: 0.0,
        verdict_budget: 0,
        avoid: Avoid::All,
    }
}

fn entry(
    info: ModuleInfo,
    parameters: &'static [ParameterInfo],
    search: fn(&ParameterSet) -> GroundSearch,
) -> ModuleEntry<dyn GroundPlanner> {
    ModuleEntry::<dyn GroundPlanner>::new(info, parameters, move || Box::new(Planner(search)))
}

fn move_tree(parameters: &ParameterSet) -> GroundSearch {
    let library = parameters.value("library") as usize;
    let library = LIBRARIES.get(library).copied().unwrap_or(LIBRARIES[0]);
    GroundSearch::MoveTree(MoveTreeSearch {
        library: match library {
            OF_VEHICLE => MoveTreeLibrary::OfVehicle,
            shipped => MoveTreeLibrary::Shipped(shipped),
        },
        execution: match parameters.value("execution") as u32 {
            1 => MoveExecution::Replayed,
            _ => MoveExecution::Played,
        },
        horizon: parameters.value("horizon") as u32,
        nodes: parameters.value("nodes") as u32,
        heuristic: match parameters.value("heuristic") as u32 {
            1 => MoveHeuristic::Detours,
            _ => MoveHeuristic::Straight,
        },
    })
}

/// Whether the ground planner with this id searches a map with its default parameters, and thus finds paths around
/// obstacles. `true` for planners that are not built in.
pub fn uses_map(id: &str) -> bool {
    let mut entries = entries().into_iter();
    let entry = entries.find(|entry| entry.info.id == id);
    entry.is_none_or(|entry| {
        let planner = entry.make();
        planner
            .logic
            .planning(&planner.parameters)
            .search
            .uses_map()
    })
}

/// Registry entries of the planners. The default planner comes first.
pub(crate) fn entries() -> [ModuleEntry<dyn GroundPlanner>; 7] {
    [
        entry(HYBRID, &WITH_BUDGET, |parameters| GroundSearch::Bounded {
            budget: parameters.value("budget") as u64,
        }),
        entry(GRID_PATH, &WITH_GUIDE, |parameters| GroundSearch::Whole {
            is_guided: parameters.value("guide") == 0.0,
        }),
        entry(FLOW_FIELD, &WITH_MAP, |_| GroundSearch::FlowField),
        entry(INCREMENTAL, &WITH_MAP, |_| GroundSearch::Incremental),
        ModuleEntry::<dyn GroundPlanner>::new(DRIVABLE, &WITH_POSES, || Box::new(DrivablePlanner)),
        entry(STRAIGHT, &[], |_| GroundSearch::Straight),
        entry(MOVE_TREE, &WITH_MOVES, move_tree),
    ]
}

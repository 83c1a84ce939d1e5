//! Differences between the kinds of module in plugins: planners, ground planners, controllers, fitnesses and signal
//! controllers.

use super::backend::{Row, bytes_of};
use super::views::TrialViews;
use roadwright_agent::{
    ByDemand, Choosable, Controller, Fitness, GroundPlanner, Module, ModuleEntry, ModuleInfo,
    ModuleKind, Planner, Registry, SignalController, Step, Views,
};
use roadwright_plugin_api::NO_INDEX;
use roadwright_plugin_api::abi::GROUND_ANY_HEADING;
use roadwright_plugin_api::{
    Conduct, ControllerInput, ControllerOutput, DriveInput, FitnessInput, FitnessOutput,
    GroundPlannerInput, GroundPlannerOutput, KEEP_STAGE, MotionInput, NOTHING, NeedsInput,
    NeedsPedalsInput, OLD_FITNESS_INPUT, OLD_NEEDS_INPUT, PedalsInput, PedalsOutput, PlanPose,
    PlannerInput, PlannerOutput, SIGNAL_STAGES, SignalInput, SignalMovement, SignalOutput,
    SignalStage,
};
use std::ops::Range;

/// Maximum plausible acceleration, m/s^2. It is about five times gravity.
const MOST_ACCELERATION: f64 = 50.0;
/// Maximum plausible steering angle, rad. It is slightly more than a right angle.
const MOST_STEERING: f64 = 1.6;
/// Descriptions of invalid steering angles.
const STEERING_FLAWS: [&str; 3] = [
    "NaN steering",
    "infinite steering",
    "a steering angle outside -1.6 to 1.6 rad",
];

/// A kind of module that plugins can provide.
pub(crate) trait Kind: Send + Sync + 'static {
    type Logic: Choosable + ?Sized;
    type Input: Row + Numbers;
    type Output: Row;
    const KIND: ModuleKind = <Self::Logic as Choosable>::KIND;
    /// Id of the built-in module that answers if a plugin does not.
    const FALLBACK: &'static str;

    /// Whether the rows are for controllers with pedals.
    const BY_PEDALS: bool = false;

    /// Whether the rows refer to views, which controllers and ground planners request.
    const HAS_VIEWS: bool = false;

    /// Makes a trial row refer to one of the trial's roads.
    fn place(_: &mut Self::Input, _: &TrialViews) {}

    /// Number of agent indices that exist even without agents.
    const ALWAYS: u32 = 0;

    /// Bytes of [`Kind::Input`] that a plugin built for a minor version of the interface gets.
    /// Later versions have only appended fields, so the first range begins the row. If the row
    /// consists of two records, the second range contains the bytes after the appended fields;
    /// otherwise it is empty.
    fn input_parts(_minor: u16) -> [Range<usize>; 2] {
        whole::<Self::Input>()
    }

    /// Time per agent above which a call counts as slow, us.
    const BUDGET_US: f64;

    /// Returns the flaw of an answer, if there is one.
    fn flaw(output: &Self::Output) -> Option<&'static str>;

    /// Returns a neutral row for testing a plugin without agents.
    fn neutral() -> Self::Input;

    /// Fills the outputs with the answers of the built-in module.
    fn answer(
        module: &Module<Self::Logic>,
        step: &Step<'_>,
        inputs: &[Self::Input],
        outputs: &mut [Self::Output],
    );

    /// Copies the route of an answer out of the shared buffer, and sets the start of the route in
    /// the answer to 0.
    fn take_route(_: &mut Self::Output, _: &[u32]) -> Vec<u32> {
        Vec::new()
    }

    /// Copies the poses of an answer out of the shared buffer, as 32-bit words, and sets the start
    /// of the path in the answer to 0.
    fn take_poses(_: &mut Self::Output, _: &[PlanPose]) -> Vec<u32> {
        Vec::new()
    }

    /// Creates the built-in module; `None` if the registry has no module of this kind.
    fn fallback(builtin: &Registry) -> Option<Module<Self::Logic>> {
        let entries = builtin.of::<Self::Logic>();
        let entry = entries.iter().find(|e| e.info.id == Self::FALLBACK);
        // If the registry lacks this module, any other one is better than none.
        entry.or(entries.first()).map(|entry| entry.make())
    }
}

/// Returns ranges that cover all bytes of a row; the second one is empty.
fn whole<T>() -> [Range<usize>; 2] {
    let size = size_of::<T>();
    [0..size, size..size]
}

/// Input rows in the layout that a plugin was built for.
pub(crate) enum InputRows<'a> {
    /// Complete rows, in the layout of the current version.
    Whole(&'a [u8]),
    /// The fields of each row that exist in the earlier version that a plugin was built for. They
    /// are stored as words, so that rows are aligned like doubles.
    Parts(Vec<u64>),
}

impl<'a> InputRows<'a> {
    /// Returns input rows for a plugin built for a minor version of the interface. The plugin gets rows of
    /// the size that it was built for, so it can also read them as an array.
    pub(crate) fn new<K: Kind>(inputs: &'a [K::Input], minor: u16) -> Self {
        let (parts, size) = (K::input_parts(minor), size_of::<K::Input>());
        let bytes = bytes_of(inputs);
        if parts[0].len() == size {
            return Self::Whole(bytes);
        }
        let word = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|at| bytes[at]));
        let rows = bytes.chunks_exact(size);
        let parts = rows.flat_map(|row| parts.clone().map(|part| &row[part]));
        Self::Parts(
            parts
                .flat_map(|part| part.chunks_exact(8).map(word))
                .collect(),
        )
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Parts(words) => bytes_of(words),
        }
    }
}

/// A row as named numbers, for reports.
pub(crate) trait Numbers {
    /// Returns the fields with their names.
    fn numbers(&self) -> Vec<(&'static str, f64)>;
}

macro_rules! numbers {
    ($row:ty: $($field:ident),*) => {
        impl Numbers for $row {
            fn numbers(&self) -> Vec<(&'static str, f64)> {
                vec![$((stringify!($field), f64::from(self.$field))),*]
            }
        }
    };
}

numbers!(ControllerInput: speed, road_speed, wheelbase, length, waypoint_distance,
    waypoint_angle, obstacle_distance, obstacle_angle, obstacle_closing_speed, leader_gap,
    leader_speed, stop_distance, lane_offset, heading_error, path_curvature, steering);
numbers!(Conduct: collision_exposure, tailgating, least_post_encroachment, time_lost, speeding,
    off_lane, uninvited, above_limit, overlap, has_arrived, goal_distance, collisions, kinetic_energy,
    segment_crash, segment_time_lost, shunts, mean_lean, path_error, settled_speed);
numbers!(PlannerInput: lanelet, goal_lanelet, s, goal_s, bus, may_change_first);

numbers!(GroundPlannerInput: start_x, start_y, start_heading, speed, goal_x, goal_y, goal_heading,
    goal_distance, goal_turn, min_x, min_y, max_x, max_y, curvature, clearance, least_clearance,
    reverse, gear_change, start_gear, flags);
numbers!(SignalInput: node, stage, planned, stage_count, movement_count, is_extended, elapsed,
    opposed_for);

impl Numbers for FitnessInput {
    fn numbers(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![
            ("crash_rating", self.crash_rating),
            ("mean_speed", self.mean_speed),
            ("mean_road_speed", self.mean_road_speed),
            ("distance", self.distance),
            ("time", self.time),
            ("mean_squared_acceleration", self.mean_squared_acceleration),
            ("mean_squared_jerk", self.mean_squared_jerk),
            (
                "mean_squared_lateral_acceleration",
                self.mean_squared_lateral_acceleration,
            ),
        ];
        all.extend(self.conduct.numbers());
        all
    }
}

impl Numbers for PedalsInput {
    fn numbers(&self) -> Vec<(&'static str, f64)> {
        let mut all = self.seen.numbers();
        all.extend(self.drive.numbers());
        all
    }
}

numbers!(MotionInput: x, y, z, heading, pitch, roll, lateral_speed, yaw_rate, acceleration,
    lateral_acceleration, last_acceleration, last_steering, age, delay);

impl Numbers for NeedsInput {
    fn numbers(&self) -> Vec<(&'static str, f64)> {
        let mut all = self.seen.numbers();
        all.extend(self.motion.numbers());
        all.extend([
            ("path_s", self.path_s),
            ("path_count", f64::from(self.path_count)),
            ("near_count", f64::from(self.near_count)),
        ]);
        all
    }
}

impl Numbers for NeedsPedalsInput {
    fn numbers(&self) -> Vec<(&'static str, f64)> {
        let mut all = self.needs.numbers();
        all.extend(self.drive.numbers());
        all
    }
}

numbers!(DriveInput: full_throttle, coasting, full_brake, grip, slope, acceleration, throttle, brake,
    rpm, idle_rpm, limit_rpm, gear, gears);

fn number_flaw(value: f64, most: f64, flaws: [&'static str; 3]) -> Option<&'static str> {
    if value.is_nan() {
        Some(flaws[0])
    } else if value.is_infinite() {
        Some(flaws[1])
    } else if value.abs() > most {
        Some(flaws[2])
    } else {
        None
    }
}

/// Controllers that command an acceleration, as a kind of plugin.
pub(crate) struct AsController;

impl Kind for AsController {
    type Logic = dyn Controller;
    type Input = ControllerInput;
    type Output = ControllerOutput;
    const FALLBACK: &'static str = "idm";
    const BUDGET_US: f64 = 5.0;

    #[inline]
    fn flaw(output: &ControllerOutput) -> Option<&'static str> {
        // A valid row needs only one comparison per field, and NaN fails it.
        if output.acceleration.abs() <= MOST_ACCELERATION && output.steering.abs() <= MOST_STEERING
        {
            return None;
        }
        number_flaw(
            output.acceleration,
            MOST_ACCELERATION,
            [
                "NaN acceleration",
                "infinite acceleration",
                "an acceleration outside -50 to 50 m/s^2",
            ],
        )
        .or_else(|| number_flaw(output.steering, MOST_STEERING, STEERING_FLAWS))
    }

    fn neutral() -> ControllerInput {
        ControllerInput {
            speed: 8.0,
            road_speed: 13.0,
            wheelbase: 2.7,
            length: 4.5,
            waypoint_distance: 10.0,
            obstacle_distance: NOTHING,
            leader_gap: NOTHING,
            stop_distance: NOTHING,
            ..ControllerInput::default()
        }
    }

    fn answer(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        module.step(step, inputs, outputs);
    }
}

/// Controllers with pedals, as a kind of plugin.
pub(crate) struct AsPedals;

/// A car without an engine, used in calls of controllers with pedals if no vehicle is given.
pub(crate) const SOME_CAR: DriveInput = DriveInput {
    full_throttle: 2.0,
    coasting: 0.0,
    full_brake: -8.0,
    grip: 10.0,
    slope: 0.0,
    acceleration: 0.0,
    throttle: 0.0,
    brake: 0.0,
    rpm: 0.0,
    idle_rpm: 0.0,
    limit_rpm: 0.0,
    gear: 0.0,
    gears: 0.0,
};
/// Tolerance for pedal positions that exceed 1 because of rounding.
const ROUNDING: f64 = 1e-9;
/// Budget of controllers that request additional data, us. They usually predict the motion of their vehicle.
const MODEL_BUDGET_US: f64 = 50.0;
/// Maximum number of gears.
const MOST_GEARS: f64 = 100.0;

impl Kind for AsPedals {
    type Logic = dyn Controller;
    type Input = PedalsInput;
    type Output = PedalsOutput;
    const FALLBACK: &'static str = AsController::FALLBACK;
    const BUDGET_US: f64 = AsController::BUDGET_US;
    const BY_PEDALS: bool = true;

    fn flaw(output: &PedalsOutput) -> Option<&'static str> {
        let share = |value: f64, flaw: &'static str| {
            // NaN is in no range.
            let fits = (-ROUNDING..=1.0 + ROUNDING).contains(&value);
            (!fits).then_some(flaw)
        };
        share(output.throttle, "a throttle value outside 0 to 1")
            .or_else(|| share(output.brake, "a brake value outside 0 to 1"))
            .or_else(|| share(output.hand_brake, "a hand brake value outside 0 to 1"))
            .or_else(|| {
                let fits = (0.0..=MOST_GEARS).contains(&output.gear);
                (!fits).then_some("a gear outside 0 to 100")
            })
            .or_else(|| number_flaw(output.steering, MOST_STEERING, STEERING_FLAWS))
    }

    fn neutral() -> PedalsInput {
        PedalsInput {
            seen: AsController::neutral(),
            drive: SOME_CAR,
        }
    }

    fn answer(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        inputs: &[PedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        module.drive(step, inputs, outputs);
    }
}

/// Controllers that request data in addition to their rows, as a kind of plugin.
pub(crate) struct AsNeeds;

impl Kind for AsNeeds {
    type Logic = dyn Controller;
    type Input = NeedsInput;
    type Output = ControllerOutput;
    const FALLBACK: &'static str = AsController::FALLBACK;
    const BUDGET_US: f64 = MODEL_BUDGET_US;
    const HAS_VIEWS: bool = true;

    fn input_parts(minor: u16) -> [Range<usize>; 2] {
        if minor < 4 {
            [0..OLD_NEEDS_INPUT, 0..0]
        } else {
            whole::<NeedsInput>()
        }
    }

    fn place(input: &mut NeedsInput, views: &TrialViews) {
        views.place(input, input.path);
    }

    fn flaw(output: &ControllerOutput) -> Option<&'static str> {
        AsController::flaw(output)
    }

    fn neutral() -> NeedsInput {
        NeedsInput {
            path_s: 0.1,
            route_version: 1,
            ..NeedsInput::of(AsController::neutral())
        }
    }

    fn answer(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        inputs: &[NeedsInput],
        outputs: &mut [ControllerOutput],
    ) {
        module.step_with_views(step, &Views::default(), inputs, outputs);
    }
}

/// Controllers with pedals that request data in addition to their rows, as a kind of plugin.
pub(crate) struct AsNeedsPedals;

impl Kind for AsNeedsPedals {
    type Logic = dyn Controller;
    type Input = NeedsPedalsInput;
    type Output = PedalsOutput;
    const FALLBACK: &'static str = AsController::FALLBACK;
    const BUDGET_US: f64 = MODEL_BUDGET_US;
    const BY_PEDALS: bool = true;
    const HAS_VIEWS: bool = true;

    fn input_parts(minor: u16) -> [Range<usize>; 2] {
        if minor < 4 {
            let drive = size_of::<NeedsInput>();
            [0..OLD_NEEDS_INPUT, drive..size_of::<NeedsPedalsInput>()]
        } else {
            whole::<NeedsPedalsInput>()
        }
    }

    fn place(input: &mut NeedsPedalsInput, views: &TrialViews) {
        AsNeeds::place(&mut input.needs, views);
    }

    fn flaw(output: &PedalsOutput) -> Option<&'static str> {
        AsPedals::flaw(output)
    }

    fn neutral() -> NeedsPedalsInput {
        NeedsPedalsInput {
            needs: AsNeeds::neutral(),
            drive: SOME_CAR,
        }
    }

    fn answer(
        module: &Module<dyn Controller>,
        step: &Step<'_>,
        inputs: &[NeedsPedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        module.drive_with_views(step, &Views::default(), inputs, outputs);
    }
}

/// Fitnesses, as a kind of plugin.
pub(crate) struct AsFitness;

impl Kind for AsFitness {
    type Logic = dyn Fitness;
    type Input = FitnessInput;
    type Output = FitnessOutput;
    const FALLBACK: &'static str = "crash_and_speed";
    const BUDGET_US: f64 = 5.0;

    fn input_parts(minor: u16) -> [Range<usize>; 2] {
        if minor < 2 {
            [0..OLD_FITNESS_INPUT, 0..0]
        } else {
            whole::<FitnessInput>()
        }
    }

    fn flaw(output: &FitnessOutput) -> Option<&'static str> {
        let flaws = ["NaN score", "infinite score", "a score beyond 1e12"];
        number_flaw(output.score, 1e12, flaws)
    }

    fn neutral() -> FitnessInput {
        FitnessInput {
            mean_speed: 8.0,
            mean_road_speed: 13.0,
            distance: 800.0,
            time: 100.0,
            mean_squared_acceleration: 0.5,
            mean_squared_jerk: 1.0,
            mean_squared_lateral_acceleration: 0.3,
            ..FitnessInput::default()
        }
    }

    fn answer(
        module: &Module<dyn Fitness>,
        step: &Step<'_>,
        inputs: &[FitnessInput],
        outputs: &mut [FitnessOutput],
    ) {
        module.step(step, inputs, outputs);
    }
}

/// Planners, as a kind of plugin. Their routes are checked when they are taken.
pub(crate) struct AsPlanner;

impl Kind for AsPlanner {
    type Logic = dyn Planner;
    type Input = PlannerInput;
    type Output = PlannerOutput;
    const FALLBACK: &'static str = "route";
    const BUDGET_US: f64 = 1000.0;

    fn flaw(output: &PlannerOutput) -> Option<&'static str> {
        let flaws = [
            "NaN travel time",
            "infinite travel time",
            "a travel time beyond 1e9 s",
        ];
        number_flaw(output.travel_time, 1e9, flaws)
    }

    fn neutral() -> PlannerInput {
        PlannerInput {
            may_change_first: 1,
            goal_s: 50.0,
            goal_lanelet: 1,
            ..PlannerInput::default()
        }
    }

    fn take_route(output: &mut PlannerOutput, route: &[u32]) -> Vec<u32> {
        // Both numbers come from the plugin. If their sum overflows, or the range is outside the buffer,
        // there is no route.
        let end = output.start.saturating_add(output.count) as usize;
        let lanelets = route.get(output.start as usize..end).unwrap_or_default();
        // From here on, the route is a separate list, independent of its position in the buffer.
        output.start = 0;
        lanelets.to_vec()
    }

    fn answer(
        _: &Module<dyn Planner>,
        _: &Step<'_>,
        _: &[PlannerInput],
        outputs: &mut [PlannerOutput],
    ) {
        // Planners fall back for each route separately, because the row does not contain the route.
        outputs.fill(PlannerOutput::default());
    }
}

/// Ground planners, as a kind of plugin. Their paths are checked when they are taken.
pub(crate) struct AsGroundPlanner;

/// Distance from start to goal in rows for trials, m.
const TRIAL_TRIP: f64 = 30.0;
/// Margin of the bounds in rows for trials, m.
const TRIAL_MARGIN: f64 = 40.0;

impl Kind for AsGroundPlanner {
    type Logic = dyn GroundPlanner;
    type Input = GroundPlannerInput;
    type Output = GroundPlannerOutput;
    const FALLBACK: &'static str = "drivable_path";
    const BUDGET_US: f64 = 50_000.0;
    const HAS_VIEWS: bool = true;

    fn place(input: &mut GroundPlannerInput, views: &TrialViews) {
        views.place_planner(input);
    }

    fn flaw(output: &GroundPlannerOutput) -> Option<&'static str> {
        let flaws = ["NaN cost", "infinite cost", "a cost beyond 1e12"];
        number_flaw(output.cost, 1e12, flaws)
    }

    fn take_poses(output: &mut GroundPlannerOutput, poses: &[PlanPose]) -> Vec<u32> {
        let end = output.start.saturating_add(output.count) as usize;
        let path = poses.get(output.start as usize..end).unwrap_or_default();
        output.start = 0;
        let words = bytes_of(path).chunks_exact(4);
        words
            .map(|word| u32::from_ne_bytes(std::array::from_fn(|at| word[at])))
            .collect()
    }

    fn neutral() -> GroundPlannerInput {
        GroundPlannerInput {
            goal_x: TRIAL_TRIP,
            goal_distance: 0.5,
            goal_turn: std::f64::consts::PI,
            min_x: -TRIAL_MARGIN,
            min_y: -TRIAL_MARGIN,
            max_x: TRIAL_TRIP + TRIAL_MARGIN,
            max_y: TRIAL_MARGIN,
            curvature: 0.15,
            clearance: 0.3,
            least_clearance: 0.15,
            reverse: 2.0,
            gear_change: 8.0,
            search: 1,
            budget: 1000,
            flags: GROUND_ANY_HEADING,
            vehicle: NO_INDEX,
            object: NO_INDEX,
            grid: NO_INDEX,
            ..GroundPlannerInput::default()
        }
    }

    fn answer(
        _: &Module<dyn GroundPlanner>,
        _: &Step<'_>,
        _: &[GroundPlannerInput],
        outputs: &mut [GroundPlannerOutput],
    ) {
        // If a planner does not answer, the world searches for the path itself.
        outputs.fill(GroundPlannerOutput::default());
    }
}

// All stages of a plan fit in a row.
const _: () = assert!(SIGNAL_STAGES == roadwright_scenario::MAX_STAGES);

/// Signal controllers, as a kind of plugin. Stages that do not exist are detected where the answers are used.
pub(crate) struct AsSignals;

impl Kind for AsSignals {
    type Logic = dyn SignalController;
    type Input = SignalInput;
    type Output = SignalOutput;
    const FALLBACK: &'static str = "actuated";
    const BUDGET_US: f64 = 100.0;
    /// One, because each programme has its own instance, which uses only index 0.
    const ALWAYS: u32 = 1;

    fn flaw(output: &SignalOutput) -> Option<&'static str> {
        let fits = (KEEP_STAGE..SIGNAL_STAGES as i32).contains(&output.next);
        (!fits).then_some("a stage outside -1 to 31")
    }

    fn neutral() -> SignalInput {
        let mut input = SignalInput {
            stage_count: 2,
            movement_count: 2,
            elapsed: 10.0,
            ..SignalInput::default()
        };
        for number in 0..2 {
            input.stages[number] = SignalStage {
                green: 20.0,
                min: 6.0,
                max: 50.0,
                ..SignalStage::default()
            };
            input.movements[number] = SignalMovement {
                road: number as u32 + 1,
                stages: 1 << number,
                ..SignalMovement::default()
            };
        }
        input
    }

    fn answer(
        _: &Module<dyn SignalController>,
        _: &Step<'_>,
        _: &[SignalInput],
        outputs: &mut [SignalOutput],
    ) {
        // The fallback needs more data than the row contains, so it is called where the row is created.
        outputs.fill(SignalOutput::default());
    }

    /// Returns actuated control. No registry lists it, because it is a mode of signal plans.
    fn fallback(_: &Registry) -> Option<Module<dyn SignalController>> {
        let info = ModuleInfo {
            id: Self::FALLBACK,
            name: "Actuated",
            doc: "Extends green while vehicles are approaching.",
        };
        Some(ModuleEntry::<dyn SignalController>::new(info, &[], || Box::new(ByDemand)).make())
    }
}

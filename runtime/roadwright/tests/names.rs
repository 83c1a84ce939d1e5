//! Checks that all parameter and result types of the library's functions can be named through the library
//! alone.

use roadwright::*;

/// Mentions types, so that a missing one causes a compile error. Returns their number.
macro_rules! named {
    ($($name:ty),* $(,)?) => {
        [$(std::any::type_name::<$name>()),*].len()
    };
}

#[test]
fn what_functions_take_and_return_has_a_name() {
    let _: fn(&World) -> Summary = World::summary;
    let _: fn(&World) -> AgentCounts = World::counts;
    let _: fn(&World) -> LooseCounts = World::loose_counts;
    let _: fn(&World) -> Vec<ModuleRecord> = World::modules;
    let _: fn(&World) -> &[SwapRecord] = World::swaps;
    let _: fn(&World, u64) -> Option<BehaviourView> = World::behaviour_view;
    let _: fn(&mut World, NodeId, Option<RoadId>) -> Result<u64, NoCrossing> =
        World::add_pedestrian;
    let _: fn(&Statistics) -> Vec<Trip> = |seen| seen.trips().to_vec();
    let _: fn(&RunOptions) -> Option<DynamicsLevel> = |options| options.dynamics;
    let _: fn(&Snapshot) -> &[PersonRecord] = |seen| &seen.people;
    let _: fn(&Summary) -> (ReplanCounts, Option<PeopleCounts>) = |sum| (sum.replans, sum.people);
    let _: fn(Stage) -> &'static str = Stage::name;
    let _: fn(&Summary) -> &[FreshStart] = |sum| &sum.started_fresh;
    let _: fn(&Layout, NodeId) -> Option<&Junction> =
        |all, id| all.junction_at(id).map(|one| &**one);
    let _: fn(&green_wave::Corridor, f64) -> Vec<f64> = green_wave::Corridor::wave;
    fn registers<L: Choosable + ?Sized>(registry: &mut Registry, entry: ModuleEntry<L>) {
        registry.add(entry);
    }
    let _: fn(&mut Registry, ModuleEntry<dyn Controller>) = registers;
    let running = named![
        Indicator,
        LooseRecord,
        Mark,
        StatisticsMark,
        TimeRow,
        Waypoint,
        Conduct,
    ];
    let scenarios = named![
        About,
        DrivingSide,
        Forest,
        GeoOrigin,
        GroundGrip,
        GroundPlace,
        Lane,
        LaneBand,
        LaneChange,
        LaneDirection,
        LanePlace,
        LaneSection,
        LaneTurn,
        LaneType,
        ObjectId,
        PointOfInterest,
        Poly3,
        RoadAccess,
        RoadClass,
        RoadEnd,
        Shape,
        VehicleClass,
        CornerRule,
        CrossingRule,
        TurnRules,
        ViaRestriction,
        GeometryError,
        HeightField,
        Segment,
    ];
    let modules = named![
        AgentFacts,
        Datum,
        Demand,
        HowMany,
        Letter,
        Message,
        Module<dyn Controller>,
        ModuleError,
        MovementFacts,
        NamedPlace,
        Outlook,
        ParameterError,
        ParameterKind,
        TableCell,
        ParameterTable,
        TableShape,
        StageFacts,
        StepBoundary<'static>,
        Swap,
    ];
    let hosts = named![
        CallWatch, Event, FileRow, FileState, Hang, Health, EventLevel, ModuleRow, PluginInfo
    ];
    assert_eq!([running, scenarios, modules, hosts], [7, 29, 19, 9]);
}

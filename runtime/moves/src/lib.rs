//! Move trees: recorded clips of driving, graphs of clips, and planning with them, after [Adam 2007].
//!
//! A *clip* is a recorded stretch of driving, frame by frame. A *move* is a clip, or a stretch of one,
//! between two *states*. A *library* contains moves between states. A *route tree* enumerates sequences of
//! moves that begin at a vehicle's position, and the vehicle drives the best free sequence.
//!
//! | file | contents |
//! | --- | --- |
//! | `frame.rs` | frames, their distance, mirroring |
//! | `placement.rs`, `body.rs` | poses as vectors, outlines |
//! | `sweep.rs`, `surroundings.rs`, `mask.rs`, `touch.rs` | areas that moves sweep, and collision tests |
//! | `library.rs`, `search.rs` | moves prepared for planning, and the route tree |
//! | `heuristic.rs`, `turns.rs` | a heuristic for the route tree |
//! | `build.rs`, `merge.rs` | graphs from clips |
//! | `matrix.rs` | distances between all frames of clips, for display |
//! | `shipped.rs` | libraries that ship with the program |
//! | `follower.rs`, `sliding_car.rs` | vehicles that follow clips by their own model |
//! | `track_scenario.rs` | tracks as scenarios |
//! | `ring.rs`, `yards.rs` | closed tracks, and tight places that need reversing |
//! | `course.rs`, `played.rs`, `replayed.rs` | corridors with cars, and drives along moves |

mod body;
mod build;
mod clips;
mod course;
mod follower;
mod frame;
mod graph;
mod heuristic;
mod library;
mod mask;
mod matrix;
mod merge;
mod placement;
mod played;
mod presets;
mod record;
mod replayed;
mod ring;
mod search;
mod shipped;
mod sliding_car;
mod surroundings;
mod sweep;
mod tables;
mod text;
mod touch;
mod track_scenario;
mod turns;
mod yards;

pub use body::{BodyOutline, Bounds, Convex};
pub use build::{
    BuildRules, Built, FrameNumber, GraphSize, Removed, RemovedBecause, StateRule, Transition,
    build, transitions, unpruned_size,
};
pub use clips::{COLUMNS, Clip, ClipFile, ClipGround, LARGEST, RecordedVehicle, rounded, turned};
pub use course::{CarLine, Corridor, Course, DrawnCorridor, LineEnd, Rows, Stretch, Traffic};
pub use follower::{FollowError, follow};
pub use frame::{Frame, FrameCommand, Gear, HeldPedals, Weights, distance};
pub use graph::{MoveEntry, MoveFile, Seam};
pub use heuristic::{Heuristic, HeuristicGoal};
pub use library::{Library, LibraryError, Move, MoveFrame, MoveNumber, StateNumber};
pub use matrix::{DistanceMatrix, MatrixCell};
pub use placement::Placement;
pub use played::{DriveFigures, Ending, Played};
pub use presets::{Preset, RATE, Recorded};
pub use record::{RecordError, Recording};
pub use replayed::{FreeDrive, FreeGround, Route};
pub use ring::Ring;
pub use search::{
    Bounded, Branch, BranchOutcome, Plan, PlanEnd, Question, RouteTree, Stop, plan, plan_plainly,
    plan_with_tree,
};
pub use shipped::{Loaded, SHIPPED, ShippedLibrary};
pub use sliding_car::{CarState, SlidingCar};
pub use surroundings::{Mover, ObstacleNumber, Phase, Surroundings, Trial};
pub use sweep::{Piece, Sweep, SweepKind, TOLERANCE};
pub use tables::{
    CONTROLS, CORNERED, CORNERED_CARS, FINAL, FINAL_CARS, Printed, ROWS, SHARP_CORNERS, STRAIGHT,
    STRAIGHT_CARS, Table, TableRow, Track, UNPRINTED_LIMIT,
};
pub use text::MoveFileError;
pub use touch::{ClipTouch, first_touch};
pub use track_scenario::Racer;
pub use yards::Yard;

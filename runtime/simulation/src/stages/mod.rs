//! The stages of a step: functions of the parts that they read and write. `docs/stages.md`, which
//! is generated from the source, lists these parts column by column. `agents/lent.rs` defines the
//! columns that stages borrow.
//!
//! | stage | reads | writes |
//! | --- | --- | --- |
//! | [`appear`] | ground, vehicle types, claims, delays, modules, levels | demand, index, all columns of new agents, routes, dynamics, log |
//! | claims (`traffic/claims`) | ground, vehicle types, routes, index, identity, motion, position, progress, statistics | claims, claim, signals, people |
//! | delays (`traffic/delays.rs`) | identity, position, progress | delays |
//! | [`plan`] | ground, vehicle types, identity, motion, position, delays, modules | progress, claim, routes |
//! | [`detour`], of rings of full lanes | ground, vehicle types, identity, delays, modules | progress, claim, routes |
//! | [`behave`] | all that perception reads, modules, messages | wish, position, progress, claim, routes |
//! | [`effects`], including rerouting (`rerouting.rs`, `excursions.rs`, `parking.rs`) and messages ([`company`]) | the same, contacts | identity, position, progress, claim, wish, dynamics, routes, claims, index, modules, messages, demand |
//! | [`ground_plan`], of paths off the lanes (`open_ground`) | ground, vehicle types, identity, motion, dynamics, modules, hands | position, progress, claim, routes, ground plans |
//! | [`play`], of recorded clips (`move_trees`), before and after controllers | ground, vehicle types, identity, motion, position, progress, dynamics, routes, modules, hands, contacts | move trees, command, pedals |
//! | [`aside`] | ground, vehicle types, routes, index, motion, position, progress, wish | aside |
//! | [`control`], with turns on the spot (`pivot.rs`) and exact stops (`exact_drive.rs`), then manual control (`hands.rs`) | all that perception reads, modules, hands | command, claim, statistics, pedals |
//! | [`advance`] | ground, vehicle types, command, pedals, routes, hands | motion, dynamics, position, progress, statistics, identity |
//! | post-encroachment (`traffic/encroachment.rs`), if a fitness function uses it | ground, vehicle types, routes, claims, motion, position, progress | encroachment, statistics |
//! | [`collide`] | ground, vehicle types, routes, identity, motion, dynamics, position, progress | index, neighbours, contacts, statistics |
//! | accounts (`traffic/accounts.rs`), if a fitness function uses them | identity, motion, position, progress, statistics, vehicle types, routes, contacts | accounts |
//! | leaving ([`retire`]), from appear, effects and advance | clock, statistics, modules | identity, dynamics, routes, messages, finished agents |

pub(crate) mod advance;
pub(crate) mod appear;
pub(crate) mod aside;
pub(crate) mod behave;
pub(crate) mod collide;
pub(crate) mod company;
pub(crate) mod control;
pub(crate) mod detour;
pub(crate) mod effects;
mod exact_drive;
mod excursions;
pub(crate) mod ground_plan;
mod over_ground;
mod parking;
mod pivot;
pub(crate) mod plan;
pub(crate) mod play;
mod rerouting;
pub(crate) mod retire;
pub(crate) mod scene;
mod trailers;

//! The stages of a step: functions of the parts that they read and write.
//!
//! | stage | reads | writes |
//! | --- | --- | --- |
//! | [`appear`] | ground, vehicle types, index, delays, modules | demand, agents, routes, dynamics, finished agents |
//! | claims (`traffic/claims.rs`) | ground, vehicle types, routes, index, motion, position, progress | claims, claim |
//! | delays (`traffic/delays.rs`) | position, progress | delays |
//! | [`plan`] | ground, vehicle types, motion, position, delays, modules | progress, claim, routes |
//! | [`behave`] | all that perception reads, modules, messages | wish, position, progress; by effects also claim, routes, modules, messages, finished agents |
//! | [`control`] | all that perception reads, modules | command, statistics |
//! | [`advance`] | ground, vehicle types, command, routes | motion, wheels, position, progress, statistics, phase, finished agents |
//! | [`collide`] | ground, vehicle types, motion, position | index, contacts, statistics |

pub(crate) mod advance;
pub(crate) mod appear;
pub(crate) mod behave;
pub(crate) mod collide;
pub(crate) mod control;
pub(crate) mod effects;
pub(crate) mod plan;
pub(crate) mod retire;

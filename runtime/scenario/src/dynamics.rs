//! Levels of dynamics: the models that move the bodies of agents.

use crate::named::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

named! {
    /// Dynamics level: the model that moves an agent's body.
    #[derive(
        Debug,
        Clone,
        Copy,
        PartialEq,
        Eq,
        PartialOrd,
        Ord,
        Hash,
        Default,
        Serialize,
        Deserialize,
        JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    #[repr(u8)]
    pub enum DynamicsLevel {
        /// The kinematic one-track model. It steers, on lanes and off them.
        #[default]
        OneTrack = "one_track",
        /// A point that follows its lane, for large amounts of traffic. Steering is ignored.
        Lane = "lane",
        /// The dynamic one-track model. Its tyres slip, and their force is limited.
        DynamicOneTrack = "dynamic_one_track",
        /// A rigid body on springs in three dimensions. It rolls, pitches, tips over, pushes other
        /// bodies and is pushed.
        Rigid = "rigid",
        /// The sliding car, which skids into bends. It has a throttle, a brake, and a grip for each
        /// axle.
        Sliding = "sliding",
    }
}

impl fmt::Display for DynamicsLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DynamicsLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|level| level.name() == text);
        let names = || Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| {
            format!(
                "\"{text}\" is not a level of dynamics; use one of {}",
                names()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for level in DynamicsLevel::ALL {
            assert_eq!(level.name().parse(), Ok(level));
            let text = serde_json::to_string(&level).unwrap();
            assert_eq!(text, format!("\"{level}\""));
        }
        let error = "dense".parse::<DynamicsLevel>().unwrap_err();
        assert!(
            error.contains("one_track, lane, dynamic_one_track, rigid, sliding"),
            "{error}"
        );
    }
}

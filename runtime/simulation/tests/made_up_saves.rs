//! Tests of forged saves with valid checksums: they are rejected or run, and never crash the program.

use crate::common::{driven_by, shipped, vehicle};
use crate::made_up;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Ground, RunOptions, SaveError, SavedWorld, World, builtin_modules};
use roadwright_testing::{scaled, seed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Number of mutants of each world in a nightly run. An environment variable can set another number.
const MUTANTS: u64 = 250;
/// Number of steps for which an accepted mutant runs. It is enough for all stages and for decisions at
/// junctions.
const STEPS: u64 = 25;

/// A world whose save is mutated.
struct Original {
    name: &'static str,
    scenario: Scenario,
    options: RunOptions,
    ground: Arc<Ground>,
    bytes: Vec<u8>,
}

impl Original {
    fn new(name: &'static str, scenario: Scenario, options: RunOptions, steps: u64) -> Self {
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        (0..steps).for_each(|_| world.step());
        assert!(world.counts().active > 0, "{name}: {:?}", world.counts());
        let bytes = world.save().unwrap().to_bytes();
        Self {
            name,
            ground: world.ground().clone(),
            scenario,
            options,
            bytes,
        }
    }

    /// Restores a save and runs it briefly. Returns whether it was accepted.
    fn drive(&self, bytes: &[u8]) -> Result<bool, SaveError> {
        let saved = SavedWorld::from_bytes(bytes)?;
        let ground = self.ground.clone();
        let (scenario, options) = (&self.scenario, &self.options);
        let (mut world, _) = World::restore(ground, scenario, &builtin_modules(), options, &saved)?;
        for _ in 0..STEPS {
            world.step();
            let _ = world.snapshot();
        }
        let _ = (world.summary(), world.state_hash(), world.save_inexact());
        Ok(true)
    }
}

fn originals() -> Vec<Original> {
    let one_thread = || RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    let with = |dynamics: Option<DynamicsLevel>, pedestrians: Option<f64>| RunOptions {
        dynamics,
        pedestrians,
        ..one_thread()
    };
    let bus = vehicle("articulated-bus", |_| {});
    vec![
        Original::new("crossroads", shipped("crossroads"), one_thread(), 2500),
        Original::new(
            "obstacle-field",
            shipped("obstacle-field"),
            one_thread(),
            333,
        ),
        Original::new(
            "crossings",
            shipped("crossings"),
            with(Some(DynamicsLevel::Lane), Some(400.0)),
            1500,
        ),
        Original::new(
            "trailers",
            driven_by(shipped("figure-eight"), &bus),
            with(Some(DynamicsLevel::Rigid), None),
            900,
        ),
        Original::new(
            "sliding",
            shipped("signal-corridor"),
            with(Some(DynamicsLevel::Sliding), None),
            900,
        ),
    ]
}

/// A stream of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a value that readers may not expect: the limit of a range, NaN, or any other number.
    fn payload(&mut self) -> u64 {
        match self.below(16) {
            0 => f64::NAN.to_bits(),
            1 => f64::INFINITY.to_bits(),
            2 => 1e300f64.to_bits(),
            3 => (-1e18f64).to_bits(),
            4 => (-1.0f64).to_bits(),
            5 => u64::MAX,
            6 => u64::from(u32::MAX),
            7 => 1 << 40,
            8 => 1 << 62,
            9 => u64::from(u16::MAX),
            10 => 0,
            11 => 1,
            12 | 13 => self.below(300),
            _ => self.next(),
        }
    }

    /// Returns the changes that make a mutant. Usually there is only one, so that changes do not
    /// hide each other's effects.
    fn program(&mut self) -> Vec<u8> {
        let count = [1, 1, 1, 2, 4][self.below(5) as usize];
        let mut program = Vec::new();
        for _ in 0..count {
            program.push(self.below(251) as u8);
            // Lengths and integers are changed most often, because they are used for indexing and allocation.
            program.push([0, 1, 1, 2, 2, 2, 3, 4, 5][self.below(9) as usize]);
            program.extend((self.next() as u16).to_le_bytes());
            program.extend(self.payload().to_le_bytes());
        }
        program
    }
}

#[test]
fn mutants_with_a_right_checksum_are_refused_or_driven() {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.map_or(default, |given| given.parse().expect("a number"))
    };
    let mutants = number("ROADWRIGHT_MUTANTS", scaled(MUTANTS));
    let first = number("ROADWRIGHT_MUTANT_SEED", seed(1));
    let mut failed = Vec::new();
    let (mut refused, mut accepted) = (0, 0);
    for original in originals() {
        // The original is accepted, and a mutant without changes is identical to it, including its checksum.
        assert_eq!(original.drive(&original.bytes), Ok(true));
        let same = made_up::changed(&original.bytes, &[]).unwrap();
        assert_eq!(same, original.bytes, "{}", original.name);
        for seed in first..first + mutants {
            let program = Random(seed).program();
            let bytes = made_up::changed(&original.bytes, &program).unwrap();
            match catch_unwind(AssertUnwindSafe(|| original.drive(&bytes))) {
                Ok(Ok(_)) => accepted += 1,
                Ok(Err(error)) => {
                    let sum = SaveError::Damaged("its checksum differs".into());
                    assert_ne!(error, sum, "the mutant is not read at all");
                    refused += 1;
                }
                Err(_) => failed.push((original.name, seed)),
            }
        }
    }
    assert!(failed.is_empty(), "ended by (world, seed): {failed:?}");
    // Both outcomes are frequent, so the mutants test the checks as well as the code after them.
    let all = 5 * mutants;
    assert!(
        refused > all / 10 && accepted > all / 10,
        "{refused} refused, {accepted} accepted"
    );
}

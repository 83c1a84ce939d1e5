//! Cost of the interface for a law that takes less than a microsecond.
#![expect(unsafe_code, reason = "calls the law of a library without the host")]

use crate::common::{Bench, EXACT, c_source};
use roadwright_agent::{Controller, Objects, Step, Views};
use roadwright_plugin_api::abi::RwView;
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, MotionInput, NearData, NeedsInput, ObjectData, PathPoint,
};
use std::hint::black_box;

const LAW: &str = "org.roadwright.law";
const ROWS: usize = 1024;
const POINTS: usize = 33;
const NEAR: usize = 8;

type LawRow = unsafe extern "C" fn(*const NeedsInput, RwView, RwView, *mut ControllerOutput);

fn view<T>(records: &[T]) -> RwView {
    RwView {
        data: records.as_ptr().cast(),
        count: records.len() as u32,
        stride: size_of::<T>() as u32,
        version: 0,
    }
}

/// Returns rows with their path points and nearby objects, all different.
fn rows() -> (Vec<NeedsInput>, Vec<PathPoint>, Vec<NearData>) {
    let row = |row: usize| NeedsInput {
        seen: ControllerInput {
            speed: 4.0 + (row % 17) as f64 * 0.5,
            wheelbase: 2.7,
            ..ControllerInput::default()
        },
        motion: MotionInput {
            x: row as f64,
            heading: 0.01 * (row % 7) as f64,
            ..MotionInput::default()
        },
        path: (row * POINTS) as u32,
        path_count: POINTS as u32,
        near_first: (row * NEAR) as u32,
        near_count: NEAR as u32,
        ..NeedsInput::default()
    };
    let point = |number: usize| PathPoint {
        s: 0.5 * (number % POINTS) as f64,
        x: (number / POINTS) as f64 + 0.5 * (number % POINTS) as f64,
        y: 0.01 * (number % 11) as f64,
        heading: 0.02 * (number % 13) as f64,
        speed: 13.0,
        ..PathPoint::default()
    };
    let pair = |number: usize| NearData {
        distance: 5.0 + (number % 23) as f64,
        path_distance: (number % 19) as f64 - 3.0,
        path_offset: (number % 9) as f64 - 4.0,
        velocity_ahead: (number % 5) as f64 - 2.0,
        ..NearData::default()
    };
    (
        (0..ROWS).map(row).collect(),
        (0..ROWS * POINTS).map(point).collect(),
        (0..ROWS * NEAR).map(pair).collect(),
    )
}

/// Returns the shortest time of several rounds, ns per row.
#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn least(mut round: impl FnMut()) -> f64 {
    let times = (0..300).map(|_| {
        let began = std::time::Instant::now();
        round();
        began.elapsed().as_secs_f64()
    });
    1e9 * times.fold(f64::INFINITY, f64::min) / ROWS as f64
}

/// Checks that a law gives the same answers through the interface as called directly, and prints the time of both. With
/// `ROADWRIGHT_SLOW=1` it also checks that the interface costs at most 30 %.
#[test]
fn a_law_costs_little_more_through_the_interface() {
    let folder = tempfile::tempdir().unwrap();
    let library = c_source("law.c", &folder.path().join("law"), &[], &EXACT);
    let bench = Bench::new();
    bench.put_file("law.so", &library);
    let registry = bench.host().registry();
    let entries = registry.of::<dyn Controller>();
    let entry = entries.iter().find(|entry| entry.info.id == LAW).unwrap();
    let mut module = entry.make();
    let (inputs, path, near) = rows();
    let objects = [ObjectData::default()];
    let views = Views {
        path: &path,
        near: &near,
        objects: Objects {
            all: &objects,
            ..Objects::default()
        },
        ..Views::default()
    };
    let indices: Vec<u32> = (0..ROWS as u32).collect();
    let ids: Vec<u64> = indices.iter().map(|index| u64::from(*index) + 1).collect();
    let step = Step {
        indices: &indices,
        ids: &ids,
        ..Step::default()
    };
    let mut asked = vec![ControllerOutput::default(); ROWS];
    let mut linked = asked.clone();
    // SAFETY: the library is the one that was compiled above, and its function has this type.
    let (own, law_row) = unsafe {
        let own = libloading::Library::new(&library).unwrap();
        let law_row: LawRow = *own.get(b"law_row\0").unwrap();
        (own, law_row)
    };
    let through = least(|| module.step_with_views(&step, &views, black_box(&inputs), &mut asked));
    let direct = least(|| {
        for (row, (input, output)) in black_box(&inputs).iter().zip(&mut linked).enumerate() {
            let points = view(&path[row * POINTS..(row + 1) * POINTS]);
            let pairs = view(&near[row * NEAR..(row + 1) * NEAR]);
            // SAFETY: the views are alive during the call, and the records are those of the header.
            unsafe { law_row(input, points, pairs, output) };
        }
    });
    drop(own);
    println!(
        "{direct:.0} ns a row linked, {through:.0} through the interface: {:.2}",
        through / direct
    );
    assert_eq!(asked, linked);
    assert!(module.logic.take_failure().is_none(), "{}", bench.said());
    if roadwright_testing::is_slow() {
        assert!(through <= 1.3 * direct, "{through} {direct}");
    }
}

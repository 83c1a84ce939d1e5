//! Cost of opening a scenario. Runs, checks and the editor incur it before the first step.
//!
//! `cargo bench -p roadwright-simulation --bench open -- [FILE..] [--vehicles N] [--rounds N]` reads each
//! scenario, checks it, prepares its ground and a world, and makes the first step with random trips. Files of
//! OpenStreetMap are imported first. It prints one line of JSON per scenario and round: CPU time of each part
//! on all threads, ms. It also opens old-town, and grids of 20 x 20 and 60 x 60 streets, whose junctions all
//! have the same shape.

mod allocator;

use cpu_time::ProcessTime;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_interchange::osm::{ImportOptions, import, read};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{CrossSection, RoadClass, Scenario, check, file};
use roadwright_simulation::{PopulateFrom, RunOptions, World, builtin_modules};
use std::path::PathBuf;

/// Distance between the streets of a grid, m.
const BLOCK: f64 = 100.0;

/// A scenario as the text of a file.
struct Subject {
    name: String,
    text: String,
    /// CPU time of the import, ms; `None` for a scenario.
    imported: Option<f64>,
}

fn main() {
    let (mut files, mut vehicles, mut rounds) = (Vec::new(), 300, 1);
    // Cargo adds the argument `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let mut number = || -> usize {
            let value = words.next().and_then(|value| value.parse().ok());
            value.unwrap_or_else(|| panic!("{word} needs a number"))
        };
        match word.as_str() {
            "--vehicles" => vehicles = number(),
            "--rounds" => rounds = number(),
            file => files.push(PathBuf::from(file)),
        }
    }
    let mut subjects: Vec<Subject> = files.iter().map(|file| of_file(file.clone())).collect();
    let shipped = "../../scenarios/old-town.scenario.json";
    subjects.push(of_file(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(shipped),
    ));
    subjects.extend([20, 60].map(grid));
    for subject in &subjects {
        for _ in 0..rounds {
            open(subject, vehicles);
        }
    }
}

fn of_file(path: PathBuf) -> Subject {
    let name = path.file_name().unwrap_or_default().display().to_string();
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        return Subject {
            name,
            text: std::fs::read_to_string(&path).expect("a file"),
            imported: None,
        };
    }
    let bytes = std::fs::read(&path).expect("a file");
    let (spent, (scenario, _)) = timed(|| {
        let elements = read(&bytes).expect("data of OpenStreetMap");
        import(&elements, &ImportOptions::default()).expect("streets")
    });
    Subject {
        name,
        text: file::to_text(&scenario),
        imported: Some(spent),
    }
}

/// A grid of `count` by `count` streets.
fn grid(count: u32) -> Subject {
    let mut scenario = Scenario::new("grid");
    let style = RoadStyle {
        name: "Street".into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 13.9,
        section: CrossSection::driving(1, 1, 3.25),
    };
    let far = f64::from(count + 1) * BLOCK;
    let mut draw = |from: DVec2, to: DVec2| {
        let line = ReferenceLine::straight(from, to).expect("a line");
        let edit = draw::road(&scenario, &line, &style).expect("room");
        scenario.apply(edit).expect("sound");
    };
    for number in 1..=count {
        let at = f64::from(number) * BLOCK;
        draw(DVec2::new(0.0, at), DVec2::new(far, at));
        draw(DVec2::new(at, 0.0), DVec2::new(at, far));
    }
    Subject {
        name: format!("grid of {count} x {count}"),
        text: file::to_text(&scenario),
        imported: None,
    }
}

/// Opens a scenario and prints the cost.
fn open(subject: &Subject, vehicles: usize) {
    let (read, scenario) = timed(|| file::from_text(&subject.text).expect("a scenario"));
    let options = RunOptions {
        populate: vehicles,
        populate_from: PopulateFrom::Inside,
        lenient: true,
        ..RunOptions::default()
    };
    let modules = builtin_modules();
    let empty = RunOptions::default();
    let (ground, bare) = timed(|| World::new(&scenario, &modules, &empty).expect("sound"));
    drop(bare);
    let (populated, mut world) =
        timed(|| World::new(&scenario, &modules, &options).expect("sound"));
    let (first_step, ()) = timed(|| world.step());
    let (checked, findings) = timed(|| check::check(&scenario).len());
    let import = subject
        .imported
        .map_or_else(String::new, |spent| format!("\"import_ms\": {spent:.1}, "));
    println!(
        "{{\"scenario\": \"{}\", \"roads\": {}, {import}\"read_ms\": {read:.1}, \"world_ms\": {ground:.1}, \
         \"populate_ms\": {:.1}, \"first_step_ms\": {first_step:.1}, \"vehicles\": {vehicles}, \
         \"check_ms\": {checked:.1}, \"findings\": {findings}}}",
        subject.name,
        scenario.network().road_count(),
        populated - ground,
    );
}

/// Runs a piece of work. Returns its CPU time (ms) and its result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let cpu = ProcessTime::now();
    let result = work();
    (1e3 * cpu.elapsed().as_secs_f64(), result)
}

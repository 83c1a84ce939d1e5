//! What the fuzz targets do with their bytes.
//!
//! A reader may refuse anything. What it takes has to hold: it is written and read back the same,
//! and a world made of it can be driven for a few steps. Whatever panics, takes more than ten
//! seconds or more memory than the limit is a finding.

use roadwright_interchange::osm::{self, ImportOptions};
use roadwright_scenario::check::check;
use roadwright_scenario::{Scenario, file};
use roadwright_simulation::{Ending, RunOptions, Session, World, builtin_modules};

/// Steps that are driven: enough for agents to appear, plan and meet a junction.
const STEPS: u32 = 20;

/// A scenario file.
pub fn scenario(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(scenario) = file::from_text(text)
    {
        hold(&scenario);
    }
}

/// An extract of OpenStreetMap as XML; what is no XML is left to the other target.
pub fn osm_xml(bytes: &[u8]) {
    if bytes.contains(&b'<') {
        import(bytes);
    }
}

/// The same as PBF.
pub fn osm_pbf(bytes: &[u8]) {
    import(bytes);
}

fn import(bytes: &[u8]) {
    let Ok(elements) = osm::read(bytes) else {
        return;
    };
    if let Ok((scenario, _)) = osm::import(&elements, &ImportOptions::default()) {
        hold(&scenario);
    }
}

/// A behaviour script: compiling tries out every handler.
pub fn script(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = roadwright_extension::script::compile("fuzz.rhai", text, None);
    }
}

/// A compiled plugin.
pub fn plugin_file(bytes: &[u8]) {
    let _ = roadwright_extension::inspect_bytes(bytes);
}

/// Writes, reads, checks and drives a scenario that a reader has taken.
fn hold(scenario: &Scenario) {
    let text = file::to_text(scenario);
    let again = file::from_text(&text).expect("what was written is read");
    assert!(*scenario == again, "what was written is read the same");
    let _ = check(scenario);
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    if let Ok(world) = World::new(scenario, &builtin_modules(), &options) {
        let time = f64::from(STEPS) * scenario.settings().dt;
        Session::new(world).run(Ending::AtTime(time), &mut [], |_| true);
    }
}

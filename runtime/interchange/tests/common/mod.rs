//! Real data for tests.

use std::path::PathBuf;

/// A file of real data, if it is at hand.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/osm")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {name} is not at hand");
    None
}

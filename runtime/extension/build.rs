//! Lists the files of the vendored `libm`, which are copied into new plugin projects.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../../plugins/vendor/libm");
    println!("cargo::rerun-if-changed={}", root.display());
    let root = root.canonicalize().expect("libm is vendored");
    let mut files = Vec::new();
    collect(&root, &mut files);
    // Sorted, so that the order is the same on every machine.
    files.sort();
    let mut list = String::from("[\n");
    for path in &files {
        let name = path.strip_prefix(&root).expect("found in the same folder");
        let name = name.to_str().expect("file names of libm are UTF-8");
        let name = name.replace('\\', "/");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect(
            "writing to a String \
                                                                          cannot fail",
        );
    }
    list.push_str("]\n");
    let out = Path::new(&variable("OUT_DIR")).join("libm.rs");
    fs::write(out, list).expect("cargo sets OUT_DIR");
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("libm is readable");
    for entry in entries {
        let path = entry.expect("libm is readable").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

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
        let name = path.strip_prefix(&root).expect("it was found there");
        let name = name.to_str().expect("names of libm are plain");
        let name = name.replace('\\', "/");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("a text takes all");
    }
    list.push_str("]\n");
    let out = Path::new(&variable("OUT_DIR")).join("libm.rs");
    fs::write(out, list).expect("cargo gives a folder to write to");
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("libm can be read");
    for entry in entries {
        let path = entry.expect("libm can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

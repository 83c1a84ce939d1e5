//! Lets the linker keep one copy of functions that are the same, where it can: the program is a twentieth
//! smaller for it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Understood by lld, which comes with rustc for Linux on x86-64, by mold and by gold.
const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_release && links().unwrap_or(false) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
}

/// Whether an empty program is linked with it: other linkers refuse what they do not know.
fn links() -> Option<bool> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let source = folder.join("probe.rs");
    fs::write(&source, "fn main() {}\n").ok()?;
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc
        .args(flags.split('\x1f').filter(|flag| !flag.is_empty()))
        .args(["--target", &env::var("TARGET").ok()?])
        .args(["-C", &format!("link-arg={FOLD}")])
        .arg("-o")
        .arg(folder.join("probe"))
        .arg(source)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut words = std::ffi::OsString::from("linker=");
        words.push(linker);
        rustc.arg("-C").arg(words);
    }
    Some(rustc.status().ok()?.success())
}

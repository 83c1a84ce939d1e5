//! Lets the linker keep one copy of functions that are the same, and pack relocations, where it can: the program
//! is a tenth smaller for it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// One copy of functions that are the same. Understood by lld, which comes with rustc for Linux on x86-64, by
/// mold and by gold.
const FOLD: &str = "-Wl,--icf=all";
/// Relocations in bits instead of 24 bytes each. Understood by the same, and by the loaders of glibc from 2.36 and
/// of musl from 1.2.4 on.
const PACK: &str = "-Wl,-z,pack-relative-relocs";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    for flag in [FOLD, PACK].into_iter().filter(|_| is_release) {
        if works(flag).unwrap_or(false) {
            println!("cargo::rustc-link-arg-bins={flag}");
        }
    }
}

/// Whether an empty program is linked with a flag, and runs: other linkers refuse what they do not know, or pass
/// it over, and other loaders refuse what was made of it. What is built for another machine cannot be tried.
fn works(flag: &str) -> Option<bool> {
    if env::var("HOST").ok()? != env::var("TARGET").ok()? {
        return Some(false);
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let source = folder.join("probe.rs");
    fs::write(&source, "fn main() {}\n").ok()?;
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc
        .args(flags.split('\x1f').filter(|flag| !flag.is_empty()))
        .args(["--target", &env::var("TARGET").ok()?])
        .args(["-C", &format!("link-arg={flag}")])
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
    let is_linked = rustc.status().ok()?.success();
    Some(is_linked && Command::new(folder.join("probe")).status().ok()?.success())
}

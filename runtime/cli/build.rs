//! Makes the linker fold identical functions and pack relocations where this is supported. The program
//! becomes a tenth smaller.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Flag that folds identical functions. Supported by lld (which comes with rustc for Linux on x86-64), by
/// mold and by gold.
const FOLD: &str = "-Wl,--icf=all";
/// Flag that stores relocations as bits instead of 24 bytes each. Supported by lld, mold and gold, and by the
/// loaders of glibc (since 2.36) and musl (since 1.2.4).
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

/// Whether an empty program that is linked with a flag runs. `Some(false)` if the program is cross-compiled,
/// because the result cannot be run then; `None` if the attempt fails for another reason. Linkers without
/// support reject or ignore unknown flags, and loaders without support reject the result.
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

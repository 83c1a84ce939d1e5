//! The program as authors of plugins and scripts call it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the whole project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The path of a shipped scenario.
pub(crate) fn scenario(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    format!("{folder}/{name}.scenario.json")
}

/// Runs the program in a folder.
pub(crate) fn roadwright(folder: &Path, words: &[&str]) -> Output {
    command(folder, words).output().unwrap()
}

/// The program with words, to be run in a folder.
pub(crate) fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roadwright"));
    command
        .args(words)
        .current_dir(folder)
        // Nothing of the user's own folders, and no network. Projects made anew need nothing but
        // cargo: its home is empty.
        .env("HOME", folder)
        .env("CARGO_HOME", folder.join("cargo-home"))
        .envs(toolchain_home())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", folder.join("target"));
    command
}

/// Where rustup finds its toolchains when `HOME` is another one.
fn toolchain_home() -> Option<(&'static str, std::ffi::OsString)> {
    let name = "RUSTUP_HOME";
    let known = std::env::var_os(name);
    let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(".rustup").into());
    Some((name, known.or_else(usual)?))
}

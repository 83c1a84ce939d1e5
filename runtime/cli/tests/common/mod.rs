//! Runs the program as authors of plugins and scripts do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the root folder of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the path of a shipped scenario.
pub(crate) fn scenario(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    format!("{folder}/{name}.scenario.json")
}

/// Runs the program in a folder.
pub(crate) fn roadwright(folder: &Path, words: &[&str]) -> Output {
    command(folder, words).output().unwrap()
}

/// Returns the command that runs the program with arguments in a folder.
pub(crate) fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roadwright"));
    command
        .args(words)
        .current_dir(folder)
        // The folders of the user and the network are not accessible. New projects need only cargo, whose
        // home is empty.
        .env("HOME", folder)
        .env("CARGO_HOME", folder.join("cargo-home"))
        .envs(toolchain_home())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", folder.join("target"));
    command
}

/// Returns the location of rustup's toolchains, which is needed while `HOME` is changed.
fn toolchain_home() -> Option<(&'static str, std::ffi::OsString)> {
    let name = "RUSTUP_HOME";
    let known = std::env::var_os(name);
    let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(".rustup").into());
    Some((name, known.or_else(usual)?))
}

/// Collects all files of the project below a folder that have one of the given extensions.
pub(crate) fn files_below(folder: PathBuf, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            // Skips third-party code and build output.
            if !name.starts_with('.') && !["vendor", "target"].contains(&name.as_str()) {
                files_below(path, extensions, found);
            }
        } else if path
            .extension()
            .is_some_and(|e| extensions.iter().any(|known| e == *known))
        {
            found.push(path);
        }
    }
}

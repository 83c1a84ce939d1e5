//! The program as authors of plugins and scripts call it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program in a folder.
pub(crate) fn roadwright(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_roadwright"))
        .args(words)
        .current_dir(folder)
        // Nothing of the user's own folders, and no network: what new projects need is there.
        .env("HOME", folder)
        .env("CARGO_HOME", cargo_home())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap()
}

fn cargo_home() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}

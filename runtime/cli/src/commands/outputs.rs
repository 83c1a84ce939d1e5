//! Where results go.

use anyhow::bail;
use std::path::{Path, PathBuf};

/// Refuses to write over what is read, or two results into one file. Outputs are known by what asks for them.
pub(super) fn keep_apart(
    inputs: &[&Path],
    outputs: &[(&str, Option<&Path>)],
) -> anyhow::Result<()> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| whole(path)).collect();
    let mut known: Vec<(&str, PathBuf)> = Vec::new();
    for (asks, path) in outputs {
        let Some(path) = path else { continue };
        // Devices take anything, as often as one likes.
        if path.exists() && !path.is_file() {
            continue;
        }
        let place = whole(path);
        if inputs.contains(&place) {
            bail!(
                "{asks}: {} is what is read; name another file",
                path.display()
            );
        }
        if let Some((other, _)) = known.iter().find(|(_, known)| *known == place) {
            bail!(
                "{asks}: {} is the file of {other} already; name another one",
                path.display()
            );
        }
        known.push((asks, place));
    }
    Ok(())
}

/// A path without links and detours; of a file that is not there, the folder of it.
fn whole(path: &Path) -> PathBuf {
    let missing = || {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let known = path.canonicalize().ok();
    known.or_else(missing).unwrap_or_else(|| path.to_owned())
}

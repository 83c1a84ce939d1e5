//! Folders whose builds may always run with the user's permission, provided that no other user can
//! write to them.
//!
//! Permission for a folder covers every file that will ever be put there. The folder and its
//! parents must therefore belong to the user or to the system. Folders from a bundle or from the
//! network never qualify.

use std::path::{Path, PathBuf};

/// Names of files that identify an unpacked bundle.
const UNPACKED: [&str; 1] = ["manifest.json"];

/// Returns the canonical folder of a file if all its builds may be allowed, otherwise the reason why not.
/// `own` is a file or folder that is known to belong to the user.
pub(crate) fn may_be_trusted(file: &Path, own: &Path) -> Result<PathBuf, String> {
    let folder = file.parent().ok_or("The file is not in a folder.")?;
    let folder = folder
        .canonicalize()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    if let Some(downloads) = downloads()
        && folder.starts_with(downloads)
    {
        return Err("The file is in your downloads folder.".into());
    }
    // `plugins` is beside the scenario, where unpacking a bundle also writes its manifest.
    let unpacked = folder.ancestors().take(2);
    let mut unpacked = unpacked.flat_map(|folder| UNPACKED.map(|name| folder.join(name)));
    if unpacked.any(|manifest| manifest.exists()) {
        return Err("The file was unpacked from a bundle.".into());
    }
    check_owner(&folder, own)?;
    Ok(folder)
}

fn downloads() -> Option<PathBuf> {
    let folders = directories::UserDirs::new()?;
    folders.download_dir()?.canonicalize().ok()
}

/// Checks that the folder belongs to the user, and that no other user can write to it or replace it.
#[cfg(unix)]
fn check_owner(folder: &Path, own: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    /// Mode bits that give the group or other users write permission.
    const OTHERS_WRITE: u32 = 0o022;
    /// Mode bit of a folder. If it is set, only the owner of a file can move or delete it.
    const STICKY: u32 = 0o1000;
    /// User id of the administrator, who can write to every folder.
    const ROOT: u32 = 0;
    let about = |path: &Path| {
        path.metadata()
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    let person = about(own)?.uid();
    for (depth, folder) in folder.ancestors().enumerate() {
        let about = about(folder)?;
        let (owner, mode) = (about.uid(), about.mode());
        // The parents include system folders such as `/` and `/home`.
        if owner != person && (depth == 0 || owner != ROOT) {
            return Err(format!("{} belongs to another user.", folder.display()));
        }
        let is_open = mode & OTHERS_WRITE != 0;
        // Others can add to a parent such as `/tmp` but cannot replace existing entries.
        if is_open && (depth == 0 || mode & STICKY == 0) {
            return Err(format!("Other users can write to {}.", folder.display()));
        }
    }
    Ok(())
}

/// Refuses every folder, because write permissions are unknown on other systems.
#[cfg(not(unix))]
fn check_owner(_: &Path, _: &Path) -> Result<(), String> {
    Err("This system does not report who else can write there.".into())
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let plugins = home.path().join("plugins");
        std::fs::create_dir(&plugins).unwrap();
        std::fs::set_permissions(&plugins, std::fs::Permissions::from_mode(mode)).unwrap();
        let file = plugins.join("x.so");
        std::fs::write(&file, "").unwrap();
        (home, file)
    }

    #[test]
    fn only_folders_that_nobody_else_can_write_to() {
        let (home, file) = folder(0o755);
        let own = home.path();
        let trusted = may_be_trusted(&file, own).unwrap();
        assert_eq!(trusted, file.parent().unwrap().canonicalize().unwrap());
        for mode in [0o775, 0o777, 0o757] {
            let (home, file) = folder(mode);
            let refused = may_be_trusted(&file, home.path()).unwrap_err();
            assert!(
                refused.contains("Other users can write"),
                "{mode:o}: {refused}"
            );
        }
        // A parent folder that belongs to another user, like that user's home folder.
        std::fs::set_permissions(own, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(may_be_trusted(&file, file.parent().unwrap()).is_err());
    }

    #[test]
    fn what_came_from_a_bundle_or_is_gone_is_refused() {
        let (home, file) = folder(0o755);
        std::fs::write(home.path().join("manifest.json"), "{}").unwrap();
        let refused = may_be_trusted(&file, home.path()).unwrap_err();
        assert!(refused.contains("bundle"), "{refused}");
        assert!(may_be_trusted(Path::new("/no/such/folder/x.so"), home.path()).is_err());
        assert!(may_be_trusted(Path::new("/"), home.path()).is_err());
    }
}

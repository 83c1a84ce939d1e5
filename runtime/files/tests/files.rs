//! What is read and what is refused, and what is left of a file that is written.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_files::{Beside, read, read_text, write};
use std::fs;
use std::io::Write;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_read_up_to_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"12345").unwrap();
    assert_eq!(read(&path, 5).unwrap(), b"12345");
    let error = read(&path, 4).unwrap_err().to_string();
    assert!(error.contains("larger than"), "{error}");
    let error = read(folder.path(), 4).unwrap_err().to_string();
    assert_eq!(error, "it is a folder, not a file");
}

#[test]
fn texts_are_utf8_and_may_begin_with_a_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"\xEF\xBB\xBFhello").unwrap();
    assert_eq!(read_text(&path, 100).unwrap(), "hello");
    fs::write(&path, b"\xFF\xFEh\0").unwrap();
    let error = read_text(&path, 100).unwrap_err().to_string();
    assert!(error.contains("not UTF-8"), "{error}");
}

#[test]
fn a_file_that_is_given_up_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"old").unwrap();
    let mut file = Beside::new(&path).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(names(folder.path()).len(), 2);
    drop(file);
    assert_eq!(names(folder.path()), ["a"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    write(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn pipe(path: &Path) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn pipes_and_devices_are_neither_read_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipe(&path);
        let error = read(&path, 100).unwrap_err().to_string();
        assert_eq!(error, "it is a pipe, not a file");
        let error = write(&path, b"x").unwrap_err().to_string();
        assert_eq!(error, "there is a pipe of this name; nothing was written");
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        let zero = folder.path().join("zero");
        symlink("/dev/zero", &zero).unwrap();
        let error = read(&zero, 100).unwrap_err().to_string();
        assert_eq!(error, "it is a device, not a file");
        let error = write(&zero, b"x").unwrap_err().to_string();
        assert!(error.contains("a device of this name"), "{error}");
        assert_eq!(names(folder.path()), ["pipe", "zero"]);
    }

    #[test]
    fn permissions_are_kept_and_those_of_new_files_are_as_always() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private");
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let owner = fs::metadata(&path).unwrap().uid();
        write(&path, b"new").unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::metadata(&path).unwrap().uid(), owner);
        let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
        write(&ours, b"x").unwrap();
        fs::write(&theirs, b"x").unwrap();
        assert_eq!(mode(&ours), mode(&theirs));
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        let (real, link) = (folder.path().join("real/a"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        symlink("real/a", &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // One that leads to what is not there yet as well.
        let dangling = folder.path().join("dangling");
        symlink("real/b", &dangling).unwrap();
        write(&dangling, b"first").unwrap();
        assert_eq!(fs::read(folder.path().join("real/b")).unwrap(), b"first");
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        let error = write(&circle, b"x").unwrap_err().to_string();
        assert!(error.contains("back to itself"), "{error}");
    }

    #[test]
    fn what_a_killed_program_has_left_is_swept_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        let aged = |name: &str| {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(hour_ago).unwrap();
            file
        };
        drop(aged(".saving-left"));
        let held = aged(".saving-held");
        held.try_lock().unwrap();
        drop(fs::File::create(folder.path().join(".saving-young")).unwrap());
        drop(aged("other"));
        write(&folder.path().join("a"), b"x").unwrap();
        let expected = [".saving-held", ".saving-young", "a", "other"];
        assert_eq!(names(folder.path()), expected);
    }
}

//! Tests which files are read or rejected, and which files exist after a write.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_files::{
    Beside, NewFolder, Output, Standard, Stream, Target, read, read_text, write,
};
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
    fs::write(&path, vec![0u8; 3 << 19]).unwrap();
    let error = read(&path, 1 << 20).unwrap_err().to_string();
    assert_eq!(
        error,
        "the file is too large: 1.500 MiB; the limit is 1.000 MiB"
    );
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

fn result(path: &Path, bytes: &[u8]) -> Output {
    let mut output = Output::open(path).unwrap();
    output.write_all(bytes).unwrap();
    output
}

#[test]
fn results_get_their_names_together_and_old_ones_stay_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
    fs::write(&old, b"before").unwrap();
    let complete = [&old, &new].map(|path| result(path, b"after").complete().unwrap());
    assert_eq!(fs::read(&old).unwrap(), b"before");
    assert!(!new.exists());
    for complete in complete {
        complete.commit().unwrap();
    }
    assert_eq!(fs::read(&old).unwrap(), b"after");
    assert_eq!(names(folder.path()), ["new", "old"]);
    // Dropping the result leaves no file, whether or not it was complete.
    drop(result(&old, b"half"));
    drop(result(&old, b"whole").complete().unwrap());
    assert_eq!(fs::read(&old).unwrap(), b"after");
    assert_eq!(names(folder.path()), ["new", "old"]);
}

#[test]
fn a_result_can_be_left_to_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let left = result(&path, b"one")
        .complete()
        .unwrap()
        .leave()
        .unwrap()
        .unwrap();
    assert!(!path.exists() && left.beside.exists());
    left.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    let left = result(&path, b"two")
        .complete()
        .unwrap()
        .leave()
        .unwrap()
        .unwrap();
    left.discard().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such");
    let error = write(&missing.join("a"), b"x").unwrap_err().to_string();
    let expected = format!("the folder {} does not exist; create it", missing.display());
    assert!(error.starts_with(&expected), "{error}");
    fs::write(folder.path().join("file"), b"x").unwrap();
    let inside = folder.path().join("file/a");
    let error = write(&inside, b"x").unwrap_err().to_string();
    assert!(error.contains("file is not a folder"), "{error}");
    assert!(!error.contains(".saving-"), "{error}");
}

#[test]
fn a_new_folder_is_there_with_all_its_files_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("above/project");
    let new = NewFolder::new(&place).unwrap();
    fs::write(new.beside().join("a"), b"x").unwrap();
    assert!(!place.exists());
    drop(new);
    assert_eq!(names(&folder.path().join("above")), Vec::<String>::new());
    let new = NewFolder::new(&place).unwrap();
    fs::write(new.beside().join("a"), b"x").unwrap();
    new.finish().unwrap();
    assert_eq!(names(&place), ["a"]);
    // A folder with files is not replaced.
    let other = NewFolder::new(&place).unwrap();
    other.finish().unwrap_err();
    assert_eq!(names(&place), ["a"]);
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
        assert_eq!(error, "a pipe with this name exists; nothing was written");
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        let zero = folder.path().join("zero");
        symlink("/dev/zero", &zero).unwrap();
        let error = read(&zero, 100).unwrap_err().to_string();
        assert_eq!(error, "it is a device, not a file");
        let error = write(&zero, b"x").unwrap_err().to_string();
        assert!(error.contains("a device with this name"), "{error}");
        assert_eq!(names(folder.path()), ["pipe", "zero"]);
    }

    #[test]
    fn pipes_and_devices_take_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipe(&path);
        assert_eq!(Target::of(&path).unwrap(), Target::Stream(Stream::Pipe));
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        let complete = result(&path, b"bytes").complete().unwrap();
        assert_eq!(complete.leave().unwrap(), None);
        assert_eq!(reader.join().unwrap(), b"bytes");
        assert_eq!(names(folder.path()), ["pipe"]);
        let null = Path::new("/dev/null");
        assert_eq!(Target::of(null).unwrap(), Target::Stream(Stream::Device));
        result(null, b"x").complete().unwrap().commit().unwrap();
        let output = Target::Stream(Stream::Standard(Standard::Output));
        assert_eq!(Target::of(Path::new("/dev/stdout")).unwrap(), output);
        let error = Target::of(folder.path()).unwrap_err().to_string();
        assert!(error.contains("a folder with this name"), "{error}");
        assert_eq!(
            Target::of(&folder.path().join("new")).unwrap(),
            Target::File
        );
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
        // A link to a file that does not exist yet is also followed.
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

//! Builds a plugin from its folder with cargo, CMake, make, or a compiler, depending on the folder's
//! contents.

use crate::author::{AuthorError, HEADER, OLD_NAMES, file_error, write};
use roadwright_files::{MEBIBYTE, read};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Marker in a source file, followed by packages for pkg-config, as in
/// `roadwright: pkg-config = eigen3 fftw3`.
const PACKAGES: &str = "roadwright: pkg-config =";
/// Maximum depth of the search for a library.
const DEPTH: usize = 4;

/// Builds the plugin in a folder and returns the library. Uses the Cargo.toml, CMakeLists.txt or Makefile in
/// the folder, or else the compilers in `CC` and `CXX`. The compilers use the usual variables (`CPPFLAGS`,
/// `CFLAGS`, `CXXFLAGS`, `LDFLAGS`, `LDLIBS`) and the packages listed in a source by a line
/// `roadwright: pkg-config = NAMES`. `tell` receives the output of the tools as soon as it appears.
///
/// # Errors
/// If there is nothing to build, a program cannot be started, or compilation fails.
pub fn build(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<PathBuf, AuthorError> {
    let has = |name: &str| folder.join(name).exists();
    if has("Cargo.toml") {
        return build_with_cargo(folder, tell);
    }
    if has("CMakeLists.txt") {
        return build_with_cmake(folder, tell);
    }
    if ["GNUmakefile", "makefile", "Makefile"].into_iter().any(has) {
        match build_with_make(folder, tell) {
            // A machine without make may still have a compiler.
            Err(AuthorError::Start { .. }) => {}
            done => return done,
        }
    }
    build_with_compiler(folder, tell)
}

/// Runs a tool and passes on what it writes to standard error. Returns its standard output.
fn run(command: &mut Command, tell: &mut dyn FnMut(&str)) -> Result<String, AuthorError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start = |error| AuthorError::Start {
        program: program.clone(),
        error,
    };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start)?;
    // Both are read at once, because a full pipe would block the tool.
    let stdout = child.stdout.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // Whatever was read before an error is kept.
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    });
    let mut said = String::new();
    for line in child
        .stderr
        .take()
        .into_iter()
        // Split as bytes, because compilers quote sources that may not be UTF-8, and reading lines of text
        // would stop there.
        .flat_map(|pipe| BufReader::new(pipe).split(b'\n'))
    {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        tell(&line);
        said += &line;
        said.push('\n');
    }
    let status = child.wait().map_err(start)?;
    let output = stdout
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default();
    if status.success() {
        return Ok(String::from_utf8_lossy(&output).into_owned());
    }
    Err(AuthorError::Build(said))
}

fn build_with_cargo(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<PathBuf, AuthorError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let lines = run(
        Command::new(cargo)
            .args([
                "build",
                "--release",
                "--message-format=json-render-diagnostics",
            ])
            .arg("--manifest-path")
            .arg(folder.join("Cargo.toml")),
        tell,
    )?;
    let messages = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let is_library = |name: &str| {
        Path::new(name)
            .extension()
            .is_some_and(|ending| ending == std::env::consts::DLL_EXTENSION)
    };
    let mut libraries = messages
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter_map(|message| {
            let files = message["filenames"].as_array()?.clone();
            let mut names = files.iter().filter_map(|name| name.as_str());
            names.find(|name| is_library(name)).map(PathBuf::from)
        });
    // The plugin itself comes last, after any procedural macros that it depends on.
    let library = libraries.by_ref().last();
    library.ok_or_else(|| {
        AuthorError::Build(
            "the build produced no shared library: set crate-type = [\"cdylib\"]".into(),
        )
    })
}

fn build_with_cmake(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<PathBuf, AuthorError> {
    let target = folder.join("build");
    run(
        Command::new("cmake")
            .arg("-S")
            .arg(folder)
            .arg("-B")
            .arg(&target)
            .arg("-DCMAKE_BUILD_TYPE=Release"),
        tell,
    )?;
    run(Command::new("cmake").arg("--build").arg(&target), tell)?;
    newest_library(&target)
}

fn build_with_make(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<PathBuf, AuthorError> {
    let make = words_of("MAKE");
    let (make, first) = match make.split_first() {
        Some((make, first)) => (make.as_str(), first),
        None => ("make", &[][..]),
    };
    run(Command::new(make).args(first).arg("-C").arg(folder), tell)?;
    newest_library(folder)
}

/// Returns the most recently written library below a folder.
fn newest_library(folder: &Path) -> Result<PathBuf, AuthorError> {
    let mut best: Option<(SystemTime, PathBuf)> = None;
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(file_error(&folder))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        // Sorted, so that every machine chooses the same one of two libraries with equal times.
        paths.sort();
        for path in paths {
            let Ok(meta) = fs::symlink_metadata(&path) else {
                continue;
            };
            let ending = path.extension();
            let is_library = ending.is_some_and(|ending| ending == std::env::consts::DLL_EXTENSION);
            if meta.is_dir() && depth < DEPTH {
                open.push((path, depth + 1));
            } else if meta.is_file() && is_library {
                let written = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let is_newer = best.as_ref().is_none_or(|(known, _)| written > *known);
                if is_newer {
                    best = Some((written, path));
                }
            }
        }
    }
    best.map(|(_, path)| path)
        .ok_or_else(|| AuthorError::Build("the build produced no shared library".into()))
}

/// Returns the words of an environment variable.
fn words_of(variable: &str) -> Vec<String> {
    let value = std::env::var(variable).unwrap_or_default();
    value.split_whitespace().map(str::to_owned).collect()
}

/// Maximum size of a source file that is read, in bytes.
const LARGEST_SOURCE: u64 = 64 * MEBIBYTE;

/// Returns the packages listed in sources.
fn packages_of(files: &[&PathBuf]) -> Result<Vec<String>, AuthorError> {
    let mut packages = Vec::new();
    for file in files {
        let text = read(file, LARGEST_SOURCE).map_err(file_error(file))?;
        let text = String::from_utf8_lossy(&text);
        let named = text.lines().filter_map(|line| line.split_once(PACKAGES));
        let names = named.flat_map(|(_, names)| names.trim_end_matches("*/").split_whitespace());
        packages.extend(names.map(str::to_owned));
    }
    Ok(packages)
}

/// Returns the flags that pkg-config prints for packages.
fn package_flags(
    what: &str,
    packages: &[String],
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<String>, AuthorError> {
    if packages.is_empty() {
        return Ok(Vec::new());
    }
    let program = words_of("PKG_CONFIG");
    let program = program.first().map_or("pkg-config", String::as_str);
    let flags = run(Command::new(program).arg(what).args(packages), tell)?;
    Ok(flags.split_whitespace().map(str::to_owned).collect())
}

fn build_with_compiler(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<PathBuf, AuthorError> {
    let entries = fs::read_dir(folder).map_err(file_error(folder))?;
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let of = |endings: &[&str]| {
        let mut found: Vec<&PathBuf> = paths
            .iter()
            .filter(|path| {
                let ending = path.extension().and_then(|ending| ending.to_str());
                ending.is_some_and(|ending| endings.contains(&ending))
            })
            .collect();
        found.sort();
        found
    };
    let (c, cpp) = (of(&["c"]), of(&["cpp", "cc", "cxx"]));
    let (files, variable, default, standard) = match (c.is_empty(), cpp.is_empty()) {
        (_, false) => (cpp, "CXX", "c++", "-std=c++17"),
        (false, true) => (c, "CC", "cc", "-std=c11"),
        (true, true) => return Err(AuthorError::NothingToBuild(folder.to_owned())),
    };
    let target = folder.join("target");
    fs::create_dir_all(&target).map_err(file_error(&target))?;
    // For projects that contain no copy of the header.
    write(&target.join("include/roadwright_plugin.h"), HEADER)?;
    write(
        &target.join("include/roadwright_plugin_names_1_1.h"),
        OLD_NAMES,
    )?;
    let name = folder
        .canonicalize()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_owned()))
        .unwrap_or_else(|| "plugin".into());
    let library = target
        .join(name)
        .with_added_extension(std::env::consts::DLL_EXTENSION);
    let packages = packages_of(&files)?;
    let own = words_of(variable);
    let (compiler, first) = match own.split_first() {
        Some((compiler, first)) => (compiler.as_str(), first),
        None => (default, &[][..]),
    };
    let flags = if variable == "CC" {
        "CFLAGS"
    } else {
        "CXXFLAGS"
    };
    run(
        Command::new(compiler)
            .args(first)
            .args([standard, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC"])
            // Fused multiply-add rounds once instead of twice, so answers would differ between machines with
            // and without it.
            .args(["-fvisibility=hidden", "-ffp-contract=off"])
            // These come after our own options, because the last of contradictory options takes effect.
            .args(words_of("CPPFLAGS"))
            .args(words_of(flags))
            .args(package_flags("--cflags", &packages, tell)?)
            .arg("-I")
            .arg(folder)
            .arg("-I")
            .arg(target.join("include"))
            .args(files)
            .arg("-o")
            .arg(&library)
            .args(words_of("LDFLAGS"))
            .args(package_flags("--libs", &packages, tell)?)
            // Libraries must follow the objects that use them.
            .args(words_of("LDLIBS"))
            .arg("-lm"),
        tell,
    )?;
    Ok(library)
}

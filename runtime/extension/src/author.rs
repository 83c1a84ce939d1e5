//! For authors of plugins: new projects, building, delivering.

use crate::native::probe::probe;
use crate::script::SCRIPT_ENDING;
use roadwright_agent::ModuleKind;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// The C header of the binary interface.
pub const HEADER: &str = include_str!("../../../plugins/api/include/roadwright_plugin.h");

/// The SDK as it is copied into new projects, so that they build without anything else.
const SDK: [(&str, &str); 8] = [
    ("Cargo.toml", include_str!("../templates/sdk.toml")),
    (
        "src/lib.rs",
        include_str!("../../../plugins/sdk/src/lib.rs"),
    ),
    (
        "src/export.rs",
        include_str!("../../../plugins/sdk/src/export.rs"),
    ),
    (
        "src/math.rs",
        include_str!("../../../plugins/sdk/src/math.rs"),
    ),
    (
        "src/parameters.rs",
        include_str!("../../../plugins/sdk/src/parameters.rs"),
    ),
    (
        "src/plugin.rs",
        include_str!("../../../plugins/sdk/src/plugin.rs"),
    ),
    ("api/Cargo.toml", include_str!("../templates/api.toml")),
    (
        "api/src/lib.rs",
        include_str!("../../../plugins/api/src/lib.rs"),
    ),
];
const API: [(&str, &str); 2] = [
    (
        "api/src/abi.rs",
        include_str!("../../../plugins/api/src/abi.rs"),
    ),
    (
        "api/src/records.rs",
        include_str!("../../../plugins/api/src/records.rs"),
    ),
];

/// In which language a new plugin is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// C.
    C,
    /// C++.
    Cpp,
}

/// What went wrong for an author.
#[derive(Debug, Error)]
pub enum AuthorError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The name cannot be used.
    #[error("\"{0}\" cannot be a name: small letters, digits and _ after a letter, at most 40")]
    Name(String),
    /// There is something already.
    #[error("{0} is there already")]
    Exists(PathBuf),
    /// Behaviours are scripts.
    #[error(
        "plugins are planners, controllers or fitnesses; a behaviour is a script: see `roadwright script new`"
    )]
    Behaviour,
    /// There is nothing to build.
    #[error("{0} holds neither a Cargo.toml nor .c nor .cpp files")]
    NothingToBuild(PathBuf),
    /// A program cannot be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        error: std::io::Error,
    },
    /// The compiler says no.
    #[error("the build failed:\n{0}")]
    Build(String),
    /// What was built cannot be loaded.
    #[error("built, but not delivered: {0}")]
    Probe(String),
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> AuthorError + '_ {
    move |error| AuthorError::File {
        path: path.to_owned(),
        error,
    }
}

fn write(path: &Path, text: &str) -> Result<(), AuthorError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(file_error(folder))?;
    }
    fs::write(path, text).map_err(file_error(path))
}

/// Words that cannot name a library in all of the languages.
const KEYWORDS: [&str; 24] = [
    "as", "async", "auto", "break", "case", "const", "crate", "double", "else", "enum", "extern",
    "fn", "for", "if", "impl", "int", "loop", "match", "mod", "self", "struct", "test", "type",
    "use",
];

fn check_name(name: &str) -> Result<(), AuthorError> {
    let mut letters = name.chars();
    let sound = letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.len() <= 40
        && !KEYWORDS.contains(&name);
    if sound {
        Ok(())
    } else {
        Err(AuthorError::Name(name.into()))
    }
}

/// Makes a project that builds and passes the check as it is; gives its folder.
///
/// # Errors
/// If the name cannot be used, the folder is there already, or a file cannot be written.
pub fn new_plugin(
    parent: &Path,
    name: &str,
    kind: ModuleKind,
    language: Language,
) -> Result<PathBuf, AuthorError> {
    check_name(name)?;
    let folder = parent.join(name);
    if folder.exists() {
        return Err(AuthorError::Exists(folder));
    }
    // The ending keeps it apart from the traits of the SDK.
    let type_name: String = name
        .split('_')
        .filter_map(|word| {
            let mut letters = word.chars();
            let first = letters.next()?.to_ascii_uppercase();
            Some(std::iter::once(first).chain(letters).collect::<String>())
        })
        .chain(["Plugin".to_owned()])
        .collect();
    let fill = |text: &str| {
        text.replace("@NAME@", name)
            .replace("@TYPE@", &type_name)
            .replace("@KIND@", kind.name())
            .replace("@CRATE@", &name.replace('_', "-"))
    };
    let put = |file: &str, text: &str| write(&folder.join(file), &fill(text));
    match language {
        Language::Rust => {
            put("Cargo.toml", include_str!("../templates/plugin.toml"))?;
            put(
                "src/lib.rs",
                match kind {
                    ModuleKind::Planner => include_str!("../templates/planner.rs.txt"),
                    ModuleKind::Controller => include_str!("../templates/controller.rs.txt"),
                    ModuleKind::Fitness => include_str!("../templates/fitness.rs.txt"),
                    ModuleKind::Behaviour => return Err(AuthorError::Behaviour),
                },
            )?;
            for (file, text) in SDK.iter().chain(&API) {
                write(&folder.join("roadwright-plugin-sdk").join(file), text)?;
            }
            put(".gitignore", "/target\n")?;
        }
        Language::C | Language::Cpp => {
            let is_c = language == Language::C;
            let text = match kind {
                ModuleKind::Planner => include_str!("../templates/planner.c.txt"),
                ModuleKind::Controller => include_str!("../templates/controller.c.txt"),
                ModuleKind::Fitness => include_str!("../templates/fitness.c.txt"),
                ModuleKind::Behaviour => return Err(AuthorError::Behaviour),
            };
            let (file, language) = if is_c {
                (format!("{name}.c"), "c")
            } else {
                (format!("{name}.cpp"), "c++")
            };
            put(&file, &text.replace("@LANGUAGE@", language))?;
            put("roadwright_plugin.h", HEADER)?;
            let makefile = include_str!("../templates/Makefile.txt");
            let (compiler, flags) = if is_c {
                ("$(CC)", "-std=c11")
            } else {
                ("$(CXX)", "-std=c++17")
            };
            put(
                "Makefile",
                &makefile
                    .replace("@FILE@", &file)
                    .replace("@COMPILER@", compiler)
                    .replace("@STANDARD@", flags),
            )?;
        }
    }
    put("README.md", include_str!("../templates/README.txt"))?;
    Ok(folder)
}

/// Writes a new script into a folder; gives its path.
///
/// # Errors
/// As [`new_plugin`].
pub fn new_script(folder: &Path, name: &str) -> Result<PathBuf, AuthorError> {
    check_name(name)?;
    let path = folder.join(name).with_extension(SCRIPT_ENDING);
    if path.exists() {
        return Err(AuthorError::Exists(path));
    }
    let text = include_str!("../templates/script.rhai").replace("@NAME@", name);
    write(&path, &text)?;
    Ok(path)
}

/// Builds the plugin of a folder with cargo, or with the compilers of `CC` and `CXX`; gives the
/// library.
///
/// # Errors
/// If there is nothing to build, a program cannot be started, or the compiler says no.
pub fn build(folder: &Path) -> Result<PathBuf, AuthorError> {
    if folder.join("Cargo.toml").exists() {
        return build_with_cargo(folder);
    }
    build_with_compiler(folder)
}

fn run(command: &mut Command) -> Result<std::process::Output, AuthorError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| AuthorError::Start { program, error })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(AuthorError::Build(said))
}

fn build_with_cargo(folder: &Path) -> Result<PathBuf, AuthorError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = run(Command::new(cargo)
        .args([
            "build",
            "--release",
            "--message-format=json-render-diagnostics",
        ])
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml")))?;
    let lines = String::from_utf8_lossy(&output.stdout);
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
    // The plugin itself comes last, after proc macros it may depend on.
    let library = libraries.by_ref().last();
    library.ok_or_else(|| {
        AuthorError::Build("no shared library came of it: set crate-type = [\"cdylib\"]".into())
    })
}

fn build_with_compiler(folder: &Path) -> Result<PathBuf, AuthorError> {
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
    // For projects that have no header of their own.
    write(&target.join("include/roadwright_plugin.h"), HEADER)?;
    let name = folder
        .canonicalize()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_owned()))
        .unwrap_or_else(|| "plugin".into());
    let library = target
        .join(name)
        .with_added_extension(std::env::consts::DLL_EXTENSION);
    let compiler = std::env::var_os(variable).unwrap_or_else(|| default.into());
    run(Command::new(compiler)
        .args([standard, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC"])
        .args(["-fvisibility=hidden", "-ffp-contract=off"])
        .arg("-I")
        .arg(folder)
        .arg("-I")
        .arg(target.join("include"))
        .args(files)
        .arg("-o")
        .arg(&library)
        .arg("-lm"))?;
    Ok(library)
}

/// Tries a library in a child process and puts it into a folder under a name, all at once: nobody
/// sees half a file.
///
/// # Errors
/// If it cannot be loaded or the folder cannot be written.
pub fn deliver(library: &Path, folder: &Path, helper: &[OsString]) -> Result<PathBuf, AuthorError> {
    crate::inspect(library).map_err(|error| AuthorError::Probe(error.to_string()))?;
    probe(helper, library).map_err(AuthorError::Probe)?;
    fs::create_dir_all(folder).map_err(file_error(folder))?;
    let name = library.file_name().unwrap_or(library.as_os_str());
    let place = folder.join(name);
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let temporary = folder.join(hidden);
    fs::copy(library, &temporary).map_err(file_error(&temporary))?;
    fs::rename(&temporary, &place).map_err(file_error(&place))?;
    Ok(place)
}

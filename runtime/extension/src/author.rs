//! Support for plugin authors: creates projects, builds plugins and installs them.

use crate::native::probe::probe;
use crate::script::SCRIPT_ENDING;
use roadwright_agent::ModuleKind;
use roadwright_files::NewFolder;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

pub use crate::build::build;

/// The C header of the binary interface.
pub const HEADER: &str = include_str!("../../../plugins/api/include/roadwright_plugin.h");

/// C header that defines the old names of interface versions 1.0 and 1.1, for sources written for
/// them.
pub const OLD_NAMES: &str =
    include_str!("../../../plugins/api/include/roadwright_plugin_names_1_1.h");

/// Files of the SDK that are copied into new projects, so that they build without further downloads.
const SDK: [(&str, &str); 9] = [
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
        "src/ground.rs",
        include_str!("../../../plugins/sdk/src/ground.rs"),
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
const API: [(&str, &str); 3] = [
    (
        "api/src/abi.rs",
        include_str!("../../../plugins/api/src/abi.rs"),
    ),
    (
        "api/src/description.rs",
        include_str!("../../../plugins/api/src/description.rs"),
    ),
    (
        "api/src/records.rs",
        include_str!("../../../plugins/api/src/records.rs"),
    ),
];

/// Files of the vendored `libm`. The SDK depends on it, and with these files, new projects need no registry.
const LIBM: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/libm.rs"));

/// Programming language of a new plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// The Rust programming language.
    Rust,
    /// The C programming language.
    C,
    /// The C++ programming language.
    Cpp,
}

/// Errors reported to plugin authors.
#[derive(Debug, Error)]
pub enum AuthorError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The name is invalid.
    #[error(
        "\"{0}\" is not a valid name: start with a lower-case letter, and use only lower-case letters, digits and _, at most 40 characters"
    )]
    Name(String),
    /// The file or folder already exists.
    #[error("{0} already exists")]
    Exists(PathBuf),
    /// Behaviours are scripts and not plugins.
    #[error(
        "plugins are planners, ground planners, controllers, fitnesses or signal controllers; a behaviour is a script: see `roadwright script new`"
    )]
    Behaviour,
    /// The folder contains nothing to build.
    #[error("{0} contains no Cargo.toml, CMakeLists.txt or Makefile, and no .c or .cpp files")]
    NothingToBuild(PathBuf),
    /// A program cannot be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// Name of the program.
        program: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The build failed. Contains the output of the build tool.
    #[error("the build failed:\n{0}")]
    Build(String),
    /// The library was built but cannot be loaded.
    #[error("built, but not usable: {0}")]
    Probe(String),
}

pub(crate) fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> AuthorError + '_ {
    move |error| AuthorError::File {
        path: path.to_owned(),
        error,
    }
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), AuthorError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(file_error(folder))?;
    }
    roadwright_files::write(path, text.as_bytes()).map_err(file_error(path))
}

/// Words that cannot be the name of a library, because they are reserved in one of the languages.
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

/// Creates a project that builds and passes the check without changes. Returns the folder of the project. It
/// is created either with all its files or not at all.
///
/// # Errors
/// If the name is invalid, the folder exists, or a file cannot be written.
pub fn new_plugin(
    parent: &Path,
    name: &str,
    kind: ModuleKind,
    language: Language,
) -> Result<PathBuf, AuthorError> {
    check_name(name)?;
    let folder = parent.join(name);
    // Refuses existing folders, even empty ones, so that nothing is overwritten.
    if folder.exists() {
        return Err(AuthorError::Exists(folder));
    }
    let type_name = type_name_of(name);
    let fill = |text: &str| {
        text.replace("@NAME@", name)
            .replace("@TYPE@", &type_name)
            .replace("@KIND@", kind.name())
            .replace("@CRATE@", &name.replace('_', "-"))
    };
    // The project is created completely or not at all, because an incomplete project would not build and its
    // folder would block the next attempt.
    let new = NewFolder::new(&folder).map_err(file_error(&folder))?;
    let put = |file: &str, text: &str| write(&new.beside().join(file), &fill(text));
    match language {
        Language::Rust => put_rust(new.beside(), kind, &put)?,
        Language::C | Language::Cpp => put_c(name, kind, language == Language::C, &put)?,
    }
    let prefix = if language == Language::Rust {
        // Cargo gives libraries this prefix; the Makefile of C projects names the library after the plugin.
        "lib"
    } else {
        ""
    };
    let readme = include_str!("../templates/README.txt");
    put(
        "README.md",
        &readme.replace("@LIBRARY@", &format!("{prefix}{name}.so")),
    )?;
    new.finish().map_err(file_error(&folder))?;
    Ok(folder)
}

/// Returns the name of a plugin's type, such as `MyCarPlugin` for `my_car`.
fn type_name_of(name: &str) -> String {
    // The suffix distinguishes it from the traits of the SDK.
    name.split('_')
        .filter_map(|word| {
            let mut letters = word.chars();
            let first = letters.next()?.to_ascii_uppercase();
            Some(std::iter::once(first).chain(letters).collect::<String>())
        })
        .chain(["Plugin".to_owned()])
        .collect()
}

/// Function that writes a project file, given the file's name and its text, in which placeholders
/// such as `@NAME@` are replaced.
type Put<'a> = dyn Fn(&str, &str) -> Result<(), AuthorError> + 'a;

fn put_rust(folder: &Path, kind: ModuleKind, put: &Put<'_>) -> Result<(), AuthorError> {
    put("Cargo.toml", include_str!("../templates/plugin.toml"))?;
    put(
        "src/lib.rs",
        match kind {
            ModuleKind::Planner => include_str!("../templates/planner.rs.txt"),
            ModuleKind::Controller => include_str!("../templates/controller.rs.txt"),
            ModuleKind::Fitness => include_str!("../templates/fitness.rs.txt"),
            ModuleKind::SignalController => {
                include_str!("../templates/signal_controller.rs.txt")
            }
            ModuleKind::Behaviour => return Err(AuthorError::Behaviour),
            ModuleKind::GroundPlanner => include_str!("../templates/ground_planner.rs.txt"),
        },
    )?;
    // Written without `fill`, because these sources are the same in every project.
    for (file, text) in SDK.iter().chain(&API) {
        write(&folder.join("roadwright-plugin-sdk").join(file), text)?;
    }
    for (file, text) in LIBM {
        write(&folder.join("roadwright-plugin-sdk/libm").join(file), text)?;
    }
    put(".gitignore", "/target\n")
}

/// Writes the files of a C or C++ project.
fn put_c(name: &str, kind: ModuleKind, is_c: bool, put: &Put<'_>) -> Result<(), AuthorError> {
    let text = match kind {
        ModuleKind::Planner => include_str!("../templates/planner.c.txt"),
        ModuleKind::Controller => include_str!("../templates/controller.c.txt"),
        ModuleKind::Fitness => include_str!("../templates/fitness.c.txt"),
        ModuleKind::SignalController => include_str!("../templates/signal_controller.c.txt"),
        ModuleKind::Behaviour => return Err(AuthorError::Behaviour),
        ModuleKind::GroundPlanner => include_str!("../templates/ground_planner.c.txt"),
    };
    let (file, language) = if is_c {
        (format!("{name}.c"), "c")
    } else {
        (format!("{name}.cpp"), "c++")
    };
    let text = text.replace("@LANGUAGE@", language);
    put(&file, &if is_c { text } else { guarded(&text) })?;
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
    )
}

/// Converts the C template to C++. All functions of the result catch exceptions.
// Lines of the C template are replaced, so that there is only one template to maintain. An exception that
// leaves a function called from C is undefined behaviour.
fn guarded(text: &str) -> String {
    text.replace(
        "static int32_t step(rw_instance *self, rw_batch *batch) {",
        "static int32_t step_rows(rw_instance *self, rw_batch *batch) {",
    )
    .replace(
        "RW_EXPORT int32_t rw_plugin_main_v1(",
        concat!(
            include_str!("../templates/guard.cpp.txt"),
            "\nRW_EXPORT int32_t rw_plugin_main_v1("
        ),
    )
    .replace(
        "  api.step = step;\n",
        "  api.step = step;\n  api.last_error = last_error;\n",
    )
}

/// Writes a new script into a folder. Returns its path.
///
/// # Errors
/// Same as for [`new_plugin`].
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

/// Tests a library in a child process and copies it into a folder under its own file name. Other
/// processes never see an incomplete file, because the copy is renamed into place.
///
/// # Errors
/// If the library cannot be loaded or the folder cannot be written.
pub fn deliver(library: &Path, folder: &Path, helper: &[OsString]) -> Result<PathBuf, AuthorError> {
    // Inspected before it is run. If the inspection rejects a library, none of its code is executed, not even
    // in a child process.
    crate::inspect(library).map_err(|error| AuthorError::Probe(error.to_string()))?;
    probe(helper, library).map_err(AuthorError::Probe)?;
    fs::create_dir_all(folder).map_err(file_error(folder))?;
    let name = library.file_name().unwrap_or(library.as_os_str());
    let place = folder.join(name);
    // The host that watches the folder ignores names that begin with a dot. The temporary file is in the same
    // folder, because a rename is atomic only within a file system, and its name contains the process id,
    // because two builds may deliver at the same time.
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let temporary = folder.join(hidden);
    fs::copy(library, &temporary).map_err(file_error(&temporary))?;
    fs::rename(&temporary, &place).map_err(file_error(&place))?;
    Ok(place)
}

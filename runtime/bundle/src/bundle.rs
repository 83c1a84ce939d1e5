//! A bundle in memory, either created from a scenario or read and verified.

use crate::archive::{self, ArchiveError, Files};
use crate::available::Available;
use crate::extras::{Extras, PLACEMENT, PRESETS, Placement, is_picture};
use crate::manifest::{FORMAT, FileHash, MANIFEST, Manifest, Need, VERSION};
use crate::needs::{Lack, lacks, needs};
use roadwright_scenario::vehicle_file::{EXTENSION as VEHICLE, VehicleFile, hash};
use roadwright_scenario::{CLIPS_ENDING, MOVES_ENDING, MoveLibrary, Scenario, file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Extension of bundle files.
pub const ENDING: &str = ".rwz";
/// Extension of scenario files.
const SCENARIO: &str = ".scenario.json";
/// Maximum size of a packed vehicle file, in bytes.
const LARGEST_VEHICLE: u64 = roadwright_files::MEBIBYTE;

/// Reason why a bundle cannot be created, read or unpacked.
#[derive(Debug, Error)]
pub enum BundleError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The archive is rejected.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The contents are not valid for a bundle.
    #[error("{0}")]
    Content(String),
    /// The target folder is not empty.
    #[error("{}: the target exists and is not an empty folder; unpack into a new or empty folder", _0.display())]
    Occupied(PathBuf),
}

/// A scenario with everything it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    manifest: Manifest,
    /// All files except the manifest.
    files: Files,
    scenario: Scenario,
}

impl Bundle {
    /// Packs a scenario. `name` is the name of its file without the extension. Vehicle files are
    /// read from the folder of the scenario.
    ///
    /// # Errors
    /// If the name is not a valid file name, or a file exceeds the size limits.
    pub fn pack(
        scenario: &Scenario,
        name: &str,
        folder: Option<&Path>,
        available: &Available,
        extras: Extras,
    ) -> Result<Self, BundleError> {
        let path = format!("{name}{SCENARIO}");
        if path.contains('/') {
            let what = format!("\"{name}\" is not a valid file name");
            return Err(BundleError::Content(what));
        }
        archive::check_path(&path)?;
        let mut files = extras.files;
        // The text contains the vehicles, so it can be read without other files.
        files.insert(path.clone(), file::to_text(scenario).into_bytes());
        files.extend(vehicles(scenario, folder));
        files.extend(move_libraries(scenario));
        for id in available.with_imports(scenario.modules()) {
            let text = available.scripts[&id].clone();
            files.insert(format!("scripts/{id}"), text.into_bytes());
        }
        let about = scenario.about();
        let licence = Some(about.attribution.clone()).filter(|text| !text.is_empty());
        let manifest = Manifest {
            format: FORMAT.into(),
            version: VERSION,
            name: about.name.clone(),
            licences: licence
                .map(|text| (path.clone(), text))
                .into_iter()
                .collect(),
            scenario: path,
            files: hashes(&files),
            needs: needs(scenario, available),
        };
        Ok(Self {
            manifest,
            files,
            scenario: scenario.clone(),
        })
    }

    /// Returns the bytes of the bundle file. Equal bundles have equal bytes.
    ///
    /// # Errors
    /// If the bundle exceeds the size limits.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        let mut text = serde_json::to_vec_pretty(&self.manifest)
            .map_err(|error| BundleError::Content(error.to_string()))?;
        text.push(b'\n');
        let mut files = self.files.clone();
        files.insert(MANIFEST.into(), text);
        Ok(archive::write(&files)?)
    }

    /// Reads and verifies a bundle. Nothing in it is run, and nothing is written.
    ///
    /// # Errors
    /// If the bundle is damaged, unsafe, or of a newer version, or if it does not match its manifest.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BundleError> {
        let mut files = archive::read(bytes)?;
        let manifest = files
            .remove(MANIFEST)
            .ok_or_else(|| BundleError::Content(format!("not a bundle: {MANIFEST} is missing")))?;
        let manifest = read_manifest(&manifest)?;
        check_files(&manifest, &files)?;
        let scenario = read_scenario(&manifest, &files)?;
        Ok(Self {
            manifest,
            files,
            scenario,
        })
    }

    /// Reads and verifies a bundle file.
    ///
    /// # Errors
    /// As for [`from_bytes`](Self::from_bytes), and if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, BundleError> {
        let bytes = roadwright_files::read(path, archive::MOST_BYTES);
        let bytes = bytes.map_err(|error| BundleError::Io {
            path: path.to_owned(),
            error,
        })?;
        Self::from_bytes(&bytes)
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// All files except the manifest, by path.
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// Returns the modules that the scenario uses and that are available neither in the bundle nor
    /// on this machine in the same build.
    pub fn lacks(&self, available: &Available) -> Vec<Lack> {
        // The scenario determines which modules are used. The manifest only records their builds.
        let known = |id: &str| self.manifest.needs.iter().find(|need| need.id == id);
        let needs: Vec<Need> = needs(&self.scenario, &Available::default())
            .into_iter()
            .map(|need| match known(&need.id) {
                Some(known) => Need {
                    kind: need.kind,
                    ..known.clone()
                },
                None => need,
            })
            .collect();
        let in_bundle = |id: &str| self.files.contains_key(&format!("scripts/{id}"));
        lacks(&needs, available, in_bundle)
    }
}

/// Returns the vehicle files of a scenario that exist and match the scenario.
fn vehicles(scenario: &Scenario, folder: Option<&Path>) -> Files {
    let mut files = Files::new();
    let Some(folder) = folder else { return files };
    for kind in scenario.vehicle_types().values() {
        let Some(file) = &kind.file else { continue };
        let path = folder.join(&file.path);
        let is_below = || {
            Some(
                path.canonicalize()
                    .ok()?
                    .starts_with(folder.canonicalize().ok()?),
            )
        };
        if archive::check_path(&file.path).is_err() || is_below() != Some(true) {
            continue;
        }
        let text = roadwright_files::read_text(&path, LARGEST_VEHICLE).ok();
        if let Some(text) = text.filter(|text| hash(text) == file.hash) {
            files.insert(file.path.clone(), text.into_bytes());
        }
    }
    files
}

/// Returns the move graphs and clips of all move libraries of a scenario, by path.
fn move_libraries(scenario: &Scenario) -> Files {
    let kinds = scenario.vehicle_types().values();
    let libraries = kinds.flat_map(|kind| &kind.move_libraries);
    libraries
        .filter_map(|library| {
            let clips = MoveLibrary::clips_path(&library.file, &library.moves).ok()?;
            let files = [(&library.file, &library.moves), (&clips, &library.clips)];
            let is_safe = |(path, _): &(&String, _)| archive::check_path(path).is_ok();
            let files = files.into_iter().filter(is_safe);
            let files = files.map(|(path, text)| (path.clone(), text.as_bytes().to_vec()));
            Some(files.collect::<Vec<_>>())
        })
        .flatten()
        .collect()
}

fn hashes(files: &Files) -> BTreeMap<String, FileHash> {
    let hash = |(path, bytes): (&String, &Vec<u8>)| (path.clone(), FileHash::of(bytes));
    files.iter().map(hash).collect()
}

fn read_manifest(bytes: &[u8]) -> Result<Manifest, BundleError> {
    /// Fields that manifests of all versions have.
    #[derive(serde::Deserialize)]
    struct Header {
        format: String,
        version: u32,
    }
    let wrong = |error: serde_json::Error| BundleError::Content(format!("{MANIFEST}: {error}"));
    let header: Header = serde_json::from_slice(bytes).map_err(wrong)?;
    if header.format != FORMAT || header.version == 0 {
        let what =
            format!("{MANIFEST}: the format must be \"{FORMAT}\", and the version 1 or later");
        return Err(BundleError::Content(what));
    }
    if header.version > VERSION {
        let what = format!(
            "the bundle has version {}, but this Roadwright reads versions up to {VERSION}; \
             update Roadwright",
            header.version
        );
        return Err(BundleError::Content(what));
    }
    serde_json::from_slice(bytes).map_err(wrong)
}

/// Checks the files against the manifest, and each file against the permitted kinds.
fn check_files(manifest: &Manifest, files: &Files) -> Result<(), BundleError> {
    let content = |what: String| Err(BundleError::Content(what));
    if let Some(path) = manifest
        .files
        .keys()
        .find(|path| !files.contains_key(*path))
    {
        return content(format!("{path} is listed in the manifest but missing"));
    }
    for (path, bytes) in files {
        let Some(known) = manifest.files.get(path) else {
            return content(format!("{path} is not listed in the manifest"));
        };
        if *known != FileHash::of(bytes) {
            return content(format!("the hash of {path} does not match the manifest"));
        }
        check_content(manifest, path, bytes)?;
    }
    Ok(())
}

/// Rejects files of kinds that bundles do not contain, in particular native code.
fn check_content(manifest: &Manifest, path: &str, bytes: &[u8]) -> Result<(), BundleError> {
    let is_script = path.starts_with("scripts/") && path.ends_with(".rhai");
    if is_script || *path == manifest.scenario || path == PRESETS || is_picture(path) {
        return Ok(());
    }
    if path == PLACEMENT {
        return match Placement::from_bytes(bytes) {
            Ok(_) => Ok(()),
            Err(error) => Err(BundleError::Content(error)),
        };
    }
    if path.ends_with(VEHICLE) {
        let text = String::from_utf8_lossy(bytes);
        let read = VehicleFile::from_text(&text);
        return match read {
            Ok(_) => Ok(()),
            Err(error) => Err(BundleError::Content(format!("{path}: {error}"))),
        };
    }
    let formats = [
        (MOVES_ENDING, "roadwright-moves"),
        (CLIPS_ENDING, "roadwright-clips"),
    ];
    if let Some((_, format)) = formats.iter().find(|(ending, _)| path.ends_with(ending)) {
        return check_format(path, bytes, format);
    }
    let what = format!("{path} is not a file type that bundles can contain");
    Err(BundleError::Content(what))
}

/// Rejects a file that is not JSON of the given format.
fn check_format(path: &str, bytes: &[u8], format: &str) -> Result<(), BundleError> {
    /// The key that all formats have.
    #[derive(serde::Deserialize)]
    struct Header {
        format: String,
    }
    match serde_json::from_slice::<Header>(bytes) {
        Ok(header) if header.format == format => Ok(()),
        Ok(_) => Err(BundleError::Content(format!(
            "{path}: the format is not \"{format}\""
        ))),
        Err(error) => Err(BundleError::Content(format!("{path}: {error}"))),
    }
}

fn read_scenario(manifest: &Manifest, files: &Files) -> Result<Scenario, BundleError> {
    let path = &manifest.scenario;
    let bytes = files.get(path).filter(|_| path.ends_with(SCENARIO));
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let text = text.filter(|_| !path.contains('/')).ok_or_else(|| {
        BundleError::Content(format!(
            "{MANIFEST}: scenario: the bundle has no such file with the extension {SCENARIO}"
        ))
    })?;
    file::from_text(text).map_err(|error| {
        BundleError::Content(format!("{path}:{}:{}: {error}", error.line, error.column))
    })
}

//! Description of a plugin, read from its file without running any of it.
//!
//! Loading a library runs its initialisers before any query is possible. The description is
//! therefore plain data under a known symbol, which is read from the file. This makes identity,
//! target platform and interface version available even for files that are not allowed to run.

use super::backend::printable;
use super::library::kind_bit;
use object::read::elf::ElfFile64;
use object::{Architecture, BinaryFormat, File, Object, ObjectSection, ObjectSymbol};
use roadwright_agent::ModuleKind;
use roadwright_plugin_api::abi::{
    ABI_MAJOR, ABI_MINOR, INFO_SYMBOL, MAGIC, MAIN_SYMBOL, ROW_SCHEMA, RwPluginInfo, text_of,
};
use serde::Serialize;
use std::path::Path;
use thiserror::Error;

/// Maximum size of a file that is read, bytes.
const MAX_SIZE: u64 = 512 << 20;

/// Description of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PluginInfo {
    /// Stable id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// Name of the author.
    pub author: String,
    /// Programming language.
    pub language: String,
    /// Text that identifies the build.
    pub build_id: String,
    /// Description, in one sentence.
    pub doc: String,
    /// Names of the kinds of module that the plugin provides.
    pub kinds: Vec<&'static str>,
    /// `CAP_*` of the binary interface, combined by bitwise or.
    pub caps: u64,
    /// Version of the binary interface for which the plugin was built.
    pub abi: (u16, u16),
}

impl PluginInfo {
    /// Returns the kinds of module that the plugin provides.
    pub fn module_kinds(&self) -> impl Iterator<Item = ModuleKind> + '_ {
        self.kinds
            .iter()
            .filter_map(|kind| ModuleKind::from_name(kind))
    }

    /// Whether the plugin has a capability.
    pub fn has(&self, cap: u64) -> bool {
        self.caps & cap != 0
    }
}

/// A file that appears to be a valid plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspected {
    /// Description of the plugin.
    pub info: PluginInfo,
    /// Hash of the contents, 64 hexadecimal digits.
    pub hash: String,
    /// Size of the file, bytes.
    pub size: u64,
}

/// Reason why a file is not a plugin that can be loaded here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InspectError {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Read(String),
    /// The file is not a library of any kind.
    #[error("this is not a shared library ({0})")]
    Format(String),
    /// The file ends too early.
    #[error("the file is truncated: {0}")]
    Truncated(String),
    /// The library is for another platform.
    #[error("this is a {found} library, but this computer needs {needed}")]
    Platform {
        /// Platform of the library.
        found: String,
        /// Platform of this computer.
        needed: String,
    },
    /// The library does not export the symbols of a plugin.
    #[error(
        "not a Roadwright plugin: {0} not exported. C++: add extern \"C\"; Rust: use export_plugin! and crate-type cdylib"
    )]
    Symbol(&'static str),
    /// The library was built for another major version of the interface.
    #[error(
        "built for plugin ABI {found}, but this Roadwright uses {ABI_MAJOR}; rebuild with SDK {ABI_MAJOR}.x"
    )]
    Major {
        /// Major version of the library.
        found: u16,
    },
    /// The plugin needs a newer host.
    #[error(
        "needs ABI {ABI_MAJOR}.{needed}, but this host has {ABI_MAJOR}.{ABI_MINOR}; update Roadwright"
    )]
    Minor {
        /// Minor version that the plugin needs.
        needed: u16,
    },
    /// The description is invalid.
    #[error("the plugin's description is invalid: {0}")]
    Info(String),
}

impl InspectError {
    /// Whether the reason may be that the file is still incomplete.
    pub fn may_be_incomplete(&self) -> bool {
        matches!(self, Self::Truncated(_) | Self::Format(_))
    }
}

/// Reads and inspects a file without running any of it.
///
/// # Errors
/// If it is not a valid plugin for this computer and this host.
pub fn inspect(path: &Path) -> Result<(Inspected, Vec<u8>), InspectError> {
    let read = |error: std::io::Error| InspectError::Read(error.to_string());
    // The bytes are returned as well, so that exactly the inspected and hashed bytes are copied and loaded,
    // even if the file changes meanwhile.
    let bytes = roadwright_files::read(path, MAX_SIZE).map_err(read)?;
    Ok((inspect_bytes(&bytes)?, bytes))
}

/// Inspects the bytes of a library.
///
/// # Errors
/// Same as for [`inspect`].
pub fn inspect_bytes(bytes: &[u8]) -> Result<Inspected, InspectError> {
    if bytes.is_empty() {
        return Err(InspectError::Truncated("it is empty".into()));
    }
    check_elf_extent(bytes)?;
    let file = File::parse(bytes).map_err(|error| InspectError::Format(error.to_string()))?;
    check_platform(&file)?;
    let exported = |name: &str| {
        let symbols = file.dynamic_symbols().chain(file.symbols());
        let plain = name.to_owned();
        // Mach-O prefixes names with an underscore.
        let mangled = format!("_{name}");
        symbols
            .filter(|symbol| symbol.is_definition())
            .find(|symbol| {
                symbol
                    .name()
                    .is_ok_and(|found| found == plain || found == mangled)
            })
            .map(|symbol| symbol.address())
            .or_else(|| exported_by_table(&file, name))
    };
    let address = exported(INFO_SYMBOL).ok_or(InspectError::Symbol(INFO_SYMBOL))?;
    let raw = data_at(&file, address, size_of::<RwPluginInfo>())
        .ok_or_else(|| InspectError::Info("it is outside the file's data".into()))?;
    let info = read_info(raw)?;
    exported(MAIN_SYMBOL).ok_or(InspectError::Symbol(MAIN_SYMBOL))?;
    Ok(Inspected {
        info,
        hash: blake3::hash(bytes).to_hex().to_string(),
        size: bytes.len() as u64,
    })
}

/// Returns the address of a symbol in the export table. This look-up is needed because exports of PE files
/// are not in the symbol table.
fn exported_by_table(file: &File<'_>, name: &str) -> Option<u64> {
    let exports = file.exports().ok()?;
    let found = exports.iter().find(|e| e.name() == name.as_bytes())?;
    Some(found.address())
}

/// Rejects an ELF file whose tables lie beyond its end. Otherwise, the loader would die with SIGBUS.
fn check_elf_extent(bytes: &[u8]) -> Result<(), InspectError> {
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(());
    }
    let short = |what: &str| {
        InspectError::Truncated(format!(
            "{what} extends beyond the end of the \
                                                              file"
        ))
    };
    let Ok(elf) = ElfFile64::<object::Endianness>::parse(bytes) else {
        // The file has another class (32 bits), which `check_platform` reports, or it is damaged.
        return match File::parse(bytes) {
            Ok(_) => Ok(()),
            Err(error) => Err(InspectError::Truncated(error.to_string())),
        };
    };
    let endian = elf.endian();
    let length = bytes.len() as u64;
    let header = elf.elf_header();
    let table = |offset: u64, size: u16, count: u64| {
        offset.checked_add(u64::from(size).checked_mul(count)?)
    };
    let sections = u64::from(header.e_shnum.get(endian));
    let end = table(
        header.e_shoff.get(endian),
        header.e_shentsize.get(endian),
        sections,
    );
    if end.is_none_or(|end| end > length) {
        return Err(short("section table"));
    }
    // The loader maps segments without checking the length of the file, and the process dies at the first
    // access beyond it.
    for segment in elf.elf_program_headers() {
        let end = segment
            .p_offset
            .get(endian)
            .checked_add(segment.p_filesz.get(endian));
        if end.is_none_or(|end| end > length) {
            return Err(short("segment"));
        }
    }
    for section in elf.elf_section_table().iter() {
        // Zeros that the loader creates (`.bss`), which are not stored.
        let is_empty = section.sh_type.get(endian) == object::elf::SHT_NOBITS;
        let end = section
            .sh_offset
            .get(endian)
            .checked_add(section.sh_size.get(endian));
        if !is_empty && end.is_none_or(|end| end > length) {
            return Err(short("section"));
        }
    }
    // Every library that can be loaded has this section, even if it is stripped. If it is missing, the table
    // of section names cannot be read.
    if sections > 0 && elf.section_by_name(".dynsym").is_none() {
        return Err(InspectError::Truncated(
            "the section names are missing".into(),
        ));
    }
    Ok(())
}

fn check_platform(file: &File<'_>) -> Result<(), InspectError> {
    let architecture = |a: Architecture| match a {
        Architecture::X86_64 => "x86-64".to_owned(),
        Architecture::Aarch64 => "aarch64".to_owned(),
        other => format!("{other:?}"),
    };
    let system = |f: BinaryFormat| match f {
        BinaryFormat::Elf => "Linux",
        BinaryFormat::MachO => "macOS",
        BinaryFormat::Pe => "Windows",
        _ => "unknown",
    };
    let (needed_architecture, needed_format) = this_platform();
    let found = (file.architecture(), file.format());
    if found != (needed_architecture, needed_format) {
        return Err(InspectError::Platform {
            found: format!("{} {}", architecture(found.0), system(found.1)),
            needed: format!(
                "{} {}",
                architecture(needed_architecture),
                system(needed_format)
            ),
        });
    }
    if file.kind() != object::ObjectKind::Dynamic {
        return Err(InspectError::Format(format!(
            "it is an object file of kind {:?}",
            file.kind()
        )));
    }
    Ok(())
}

fn this_platform() -> (Architecture, BinaryFormat) {
    let architecture = if cfg!(target_arch = "aarch64") {
        Architecture::Aarch64
    } else {
        Architecture::X86_64
    };
    let format = if cfg!(target_os = "macos") {
        BinaryFormat::MachO
    } else if cfg!(windows) {
        BinaryFormat::Pe
    } else {
        BinaryFormat::Elf
    };
    (architecture, format)
}

/// Returns the bytes of the file that are loaded at an address; `None` if no section contains them.
fn data_at<'a>(file: &File<'a>, address: u64, length: usize) -> Option<&'a [u8]> {
    // Symbols have addresses in memory; the sections map them to positions in the file.
    file.sections().find_map(|section| {
        let offset = address.checked_sub(section.address())?;
        if offset >= section.size() {
            return None;
        }
        let data = section.data().ok()?;
        data.get(offset as usize..)?.get(..length)
    })
}

fn read_info(raw: &[u8]) -> Result<PluginInfo, InspectError> {
    let bad = |what: &str| InspectError::Info(what.into());
    // Read by the offsets of `RwPluginInfo` instead of through a pointer, because the bytes of a file are not
    // aligned.
    let field = |at: usize, size: usize| &raw[at..at + size];
    let u16_at = |at: usize| u16::from_le_bytes([raw[at], raw[at + 1]]);
    let u32_at = |at: usize| {
        let bytes = field(at, 4).try_into();
        u32::from_le_bytes(bytes.expect("four bytes"))
    };
    let u64_at = |at: usize| {
        let bytes = field(at, 8).try_into();
        u64::from_le_bytes(bytes.expect("eight bytes"))
    };
    // The version is checked before size and rows, because both differ between versions, and a
    // plugin for another version has to be rebuilt in any case.
    if field(0, 8) != MAGIC {
        return Err(bad("it does not begin with RWPLUG1"));
    }
    // A plugin may use features of a later minor version and still run without them. It states the minimum
    // version that it needs.
    let (major, minor, least) = (u16_at(12), u16_at(14), u16_at(16));
    if major != ABI_MAJOR {
        return Err(InspectError::Major { found: major });
    }
    if least > ABI_MINOR {
        return Err(InspectError::Minor { needed: least });
    }
    if (u32_at(8) as usize) < size_of::<RwPluginInfo>() {
        return Err(bad("it is shorter than in ABI 1.0"));
    }
    // The version is the same but the fields differ, so the plugin was built with a modified copy of the
    // header.
    if u64_at(32) != ROW_SCHEMA {
        return Err(bad(
            "the fields of its rows differ from those of this version",
        ));
    }
    let kinds = ModuleKind::ALL.into_iter();
    let kinds = kinds.filter(|kind| u32_at(20) & kind_bit(*kind) != 0);
    let kinds: Vec<&'static str> = kinds.map(ModuleKind::name).collect();
    if kinds.is_empty() {
        return Err(bad(
            "it is not a planner, ground_planner, controller, fitness or signal_controller",
        ));
    }
    let info = PluginInfo {
        name: printable(&text_of(field(40, 64))),
        id: printable(&text_of(field(104, 64))),
        version: printable(&text_of(field(168, 32))),
        author: printable(&text_of(field(200, 64))),
        language: printable(&text_of(field(264, 16))),
        build_id: printable(&text_of(field(280, 32))),
        doc: printable(&text_of(field(312, 160))),
        kinds,
        caps: u64_at(24),
        abi: (major, minor),
    };
    // Ids become parts of file names (saved inputs) and of command lines.
    let sound = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if info.id.is_empty() || !info.id.chars().all(sound) {
        return Err(bad(
            "its id must not be empty and may contain only letters, digits, '.', '_' and '-'",
        ));
    }
    Ok(info)
}

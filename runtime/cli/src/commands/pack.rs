//! `roadwright pack` and `roadwright unpack`: scenarios as a single file.

use super::{load, print_json};
use crate::Outcome;
use crate::arguments::{ExtensionFlags, Pack, Unpack};
use crate::extensions;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::terminal;
use anyhow::Context;
use roadwright_bundle::{Available, Bundle, ENDING, Extras, Lack, Need};
use roadwright_extension::{Host, HostOptions, Wanted};
use roadwright_simulation::builtin_modules;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

pub(crate) fn pack(arguments: &Pack) -> anyhow::Result<Outcome> {
    let scenario = load(&arguments.file)?;
    let flags = ExtensionFlags {
        plugins: arguments.plugins.clone(),
        scripts: arguments.scripts.clone(),
        ..ExtensionFlags::default()
    };
    let inputs = Inputs::none().scenario(&arguments.file, &scenario);
    let mut outputs = Outputs::of(inputs.extensions(&flags, Some(&arguments.file)));
    if arguments.json {
        outputs.prints("--json");
    } else if !arguments.quiet {
        outputs.prints("the list of contents (--quiet leaves it out)");
    }
    let place = outputs.file("--out", &arguments.out, Kind::Bundle)?;
    let available = available(&flags, Some(&arguments.file));
    let folder = arguments.file.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = arguments.file.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let name = name.trim_end_matches(".json").trim_end_matches(".scenario");
    let extras = Extras::beside(folder);
    let bundle = Bundle::pack(&scenario, name, Some(folder), &available, extras)
        .context("cannot pack the scenario")?;
    let bytes = bundle.to_bytes().context("cannot pack the scenario")?;
    outputs.write(&place, &bytes)?;
    outputs.commit()?;
    let unknown = unknown(&bundle);
    if arguments.json {
        print_json(&json!({
            "out": arguments.out,
            "bytes": bytes.len(),
            "manifest": bundle.manifest(),
            "unknown": unknown,
        }))?;
    } else if !arguments.quiet {
        let mut out = terminal::out();
        write!(out, "{}", contents(&bundle))?;
        for need in &unknown {
            writeln!(
                out,
                "unknown  {} {}: the module is not available here",
                need.kind.name(),
                need.id
            )?;
        }
        writeln!(
            out,
            "wrote    {}, {} bytes",
            arguments.out.display(),
            bytes.len()
        )?;
    }
    Ok(Outcome::of(unknown.is_empty()))
}

pub(crate) fn unpack(arguments: &Unpack) -> anyhow::Result<Outcome> {
    let file = &arguments.file;
    let bundle = Bundle::read(file).with_context(|| format!("cannot open {}", file.display()))?;
    let scenario = bundle
        .unpack(&arguments.into)
        .with_context(|| format!("cannot unpack {}", file.display()))?;
    let lacks = bundle.lacks(&available(&ExtensionFlags::default(), None));
    if arguments.json {
        print_json(&json!({
            "scenario": scenario,
            "manifest": bundle.manifest(),
            "lacks": lacks.iter().map(lack_as_json).collect::<Vec<_>>(),
        }))?;
    } else if !arguments.quiet {
        let mut out = terminal::out();
        write!(out, "{}", contents(&bundle))?;
        for lack in &lacks {
            writeln!(out, "lacks    {lack}")?;
        }
        writeln!(out, "wrote    {}", scenario.display())?;
    }
    Ok(Outcome::of(lacks.is_empty()))
}

/// Returns the modules that are available here, without loading any plugin.
fn available(flags: &ExtensionFlags, scenario: Option<&Path>) -> Available {
    let options = extensions::options(flags, scenario);
    let folders = options.scripts.clone();
    let host = Host::open(HostOptions {
        // Plugins are inspected for ids and hashes, but their code is not run.
        wanted: Wanted::Ids(BTreeSet::new()),
        ..options
    });
    Available::new(&builtin_modules(), &host, &folders)
}

/// Returns the modules that the scenario uses but that are unknown here.
fn unknown(bundle: &Bundle) -> Vec<&Need> {
    let needs = bundle.manifest().needs.iter();
    // A module that is known here has the hash of its build or text.
    needs.filter(|need| need.hash.is_empty()).collect()
}

fn contents(bundle: &Bundle) -> String {
    let manifest = bundle.manifest();
    let mut text = format!("scenario {}, \"{}\"\n", manifest.scenario, manifest.name);
    for (path, file) in &manifest.files {
        text += &format!("file     {path}, {} bytes\n", file.bytes);
    }
    for (path, licence) in &manifest.licences {
        text += &format!("licence  {path}: {licence}\n");
    }
    text
}

fn lack_as_json(lack: &Lack) -> serde_json::Value {
    json!({ "need": lack.need, "here": lack.other })
}

/// Whether a path has the extension of a bundle; used for hints.
pub(crate) fn is_bundle(path: &Path) -> bool {
    path.to_string_lossy().ends_with(ENDING)
}

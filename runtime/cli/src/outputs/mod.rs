//! The module through which all commands write their results.
//!
//! A command first lists its inputs ([`Inputs`]) and claims a path for each result
//! ([`Outputs::file`]). Only then does it open and write files ([`Outputs::open`],
//! [`Outputs::write`]). To protect files from mistyped names, a claim is refused if the path
//! belongs to an input or to another result, or if it has the extension of another kind of file.
//! All files get their final names at [`Outputs::commit`]; if the program ends earlier, the results
//! of an earlier run remain unchanged. Checkpoints, from which a command resumes, are the
//! exception: each one replaces the previous one immediately ([`Checkpoint::write`]).

mod endings;
mod inputs;
mod place;

pub(crate) use endings::Kind;
pub(crate) use inputs::Inputs;

use crate::worker;
use anyhow::{Context, bail};
use place::Identity;
use roadwright_files::{Complete, Output, Standard, Stream, Target};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The results of a command.
pub(crate) struct Outputs {
    inputs: Vec<(String, Identity)>,
    claims: Vec<Claim>,
    complete: Vec<Complete>,
}

/// A path that is claimed for a result.
struct Claim {
    /// The option that requests the result, such as `--trace`.
    asks: String,
    identity: Identity,
    /// Whether several results may share the path, as on a device.
    is_shared: bool,
}

/// A checked path for a result.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    path: PathBuf,
    target: Target,
}

impl Place {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether writing creates a file at this path instead of sending the bytes to a pipe or a device.
    pub(crate) fn is_file(&self) -> bool {
        self.target == Target::File
    }
}

/// A file that is rewritten repeatedly, so that the command can resume from it.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint(PathBuf);

impl Checkpoint {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces the previous checkpoint immediately.
    pub(crate) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        roadwright_files::write(&self.0, bytes).with_context(|| cannot_write(&self.0))
    }
}

impl Outputs {
    /// Creates the outputs of a command with the given inputs.
    pub(crate) fn of(inputs: Inputs) -> Self {
        let known = inputs.files().into_iter();
        Self {
            inputs: known
                .map(|(what, path)| (what, Identity::of(&path)))
                .collect(),
            claims: Vec::new(),
            complete: Vec::new(),
        }
    }

    /// Reserves standard output for the command itself, so that no other result can be written
    /// there. `what` describes the output and how to turn it off.
    pub(crate) fn prints(&mut self, what: &str) {
        // Standard output may be redirected to a file, which then counts as a result.
        let opened = Standard::Output.open();
        let metadata = opened.and_then(|file| file.metadata());
        let own = metadata.map_or(Identity::standard(Standard::Output), |metadata| {
            Identity::of_standard_output(&metadata)
        });
        self.claims.push(Claim {
            asks: what.to_owned(),
            identity: own,
            is_shared: false,
        });
    }

    /// Claims a path for a result of some kind. The path may be a file, a pipe, a device or a
    /// standard stream.
    ///
    /// # Errors
    /// If the path is an input or belongs to another result, or has the extension of another kind.
    pub(crate) fn file(&mut self, asks: &str, path: &Path, kind: Kind) -> anyhow::Result<Place> {
        let target = Target::of(path).with_context(|| cannot_write(path))?;
        if target == Target::File {
            endings::check(asks, path, kind)?;
        }
        let is_shared = target == Target::Stream(Stream::Device);
        let identity = Identity::of(path);
        if target == Target::File && identity.path() != path {
            // Checks the target of a link.
            endings::check(asks, identity.path(), kind)?;
        }
        if let Some((what, _)) = self.inputs.iter().find(|(_, input)| input.is(&identity)) {
            bail!(
                "{asks}: {} is {what}, an input of this command; choose another file",
                path.display()
            );
        }
        let mut others = self.claims.iter();
        let other = others.find(|claim| !claim.is_shared && claim.identity.is(&identity));
        if let Some(Claim { asks: other, .. }) = other {
            bail!(
                "{asks}: {} is already used for {other}; choose another file",
                path.display()
            );
        }
        self.claims.push(Claim {
            asks: asks.to_owned(),
            identity,
            is_shared,
        });
        let path = path.to_owned();
        Ok(Place { path, target })
    }

    /// Claims a path for a table. The command chooses its name, for example for a table beside
    /// another result. An existing file is replaced only if it is a table that begins with these
    /// columns.
    ///
    /// # Errors
    /// As for [`Self::file`], and if the existing file does not begin with these columns.
    pub(crate) fn own_table(
        &mut self,
        asks: &str,
        path: &Path,
        columns: &str,
    ) -> anyhow::Result<Place> {
        let place = self.file(asks, path, Kind::Table)?;
        if place.is_file() && !is_empty(path) && !begins_with(path, columns.as_bytes()) {
            bail!(
                "{asks}: {} already exists but is not a table of this kind; move it or choose \
                 another path",
                path.display()
            );
        }
        Ok(place)
    }

    /// Claims a file that is written at each checkpoint. It must be a file, because the command reads it
    /// again.
    ///
    /// # Errors
    /// As for [`Self::file`], and if the path is a pipe or a device or cannot be written.
    pub(crate) fn checkpoint(
        &mut self,
        asks: &str,
        path: &Path,
        kind: Kind,
    ) -> anyhow::Result<Checkpoint> {
        let place = self.file(asks, path, kind)?;
        if !place.is_file() {
            bail!(
                "{asks}: {} is a pipe or a device, but the command has to read it again; choose a file",
                path.display()
            );
        }
        self.try_out(&place)?;
        Ok(Checkpoint(place.path))
    }

    /// Checks that a file can be written to a path, for results that are written at the end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn try_out(&self, place: &Place) -> anyhow::Result<()> {
        // A pipe is not opened, because its reader would take closing it for the end of the data.
        if place.is_file() {
            drop(self.open(place)?);
        }
        Ok(())
    }

    /// Claims a folder for results and creates it if it is missing.
    ///
    /// # Errors
    /// If the path is already used for another result, a file has this name, or the folder cannot be created.
    pub(crate) fn folder(&self, asks: &str, path: &Path) -> anyhow::Result<()> {
        let identity = Identity::of(path);
        let claimed = self
            .claims
            .iter()
            .find(|claim| claim.identity.is(&identity));
        if let Some(Claim { asks: other, .. }) = claimed {
            bail!(
                "{asks}: {} is already used for {other}; choose another folder",
                path.display()
            );
        }
        if path.exists() && !path.is_dir() {
            bail!(
                "{asks}: {} is not a folder; choose another one",
                path.display()
            );
        }
        let made = std::fs::create_dir_all(path);
        made.with_context(|| format!("{asks}: cannot create the folder {}", path.display()))
    }

    /// Opens a result that is written in parts. When it is complete, [`Self::keep`] adds it.
    ///
    /// # Errors
    /// If the folder is missing or cannot be written to.
    pub(crate) fn open(&self, place: &Place) -> anyhow::Result<Output> {
        Output::open(&place.path).with_context(|| cannot_write(&place.path))
    }

    /// Adds a result that has been written completely. It gets its final name at [`Self::commit`].
    ///
    /// # Errors
    /// If it could not be written completely.
    pub(crate) fn keep(&mut self, output: Output) -> anyhow::Result<()> {
        let path = output.path().to_owned();
        let complete = output.complete().with_context(|| cannot_write(&path))?;
        self.complete.push(complete);
        Ok(())
    }

    /// Writes a whole result. It gets its final name at [`Self::commit`].
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&mut self, place: &Place, bytes: &[u8]) -> anyhow::Result<()> {
        let mut output = self.open(place)?;
        let written = output.write_all(bytes);
        written.with_context(|| cannot_write(&place.path))?;
        self.keep(output)
    }

    /// Gives all results their final names. Call this when the work is done and before its results are
    /// printed, so that nothing is lost if the terminal is closed.
    ///
    /// # Errors
    /// If a file cannot be moved to its place. The other files are still moved.
    pub(crate) fn commit(&mut self) -> anyhow::Result<()> {
        let mut first = Ok(());
        for complete in self.complete.drain(..) {
            let path = complete.path().to_owned();
            let moved = worker::commit(complete).with_context(|| cannot_write(&path));
            first = first.and(moved);
        }
        first
    }
}

fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0)
}

fn begins_with(path: &Path, head: &[u8]) -> bool {
    use std::io::Read;
    let mut begin = vec![0; head.len()];
    let read = roadwright_files::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == head
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

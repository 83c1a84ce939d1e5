//! The one door through which commands write their results.
//!
//! A command says what it reads ([`Inputs`]), claims a place for each result ([`Outputs::file`]), and
//! only then opens and writes ([`Outputs::open`], [`Outputs::write`]). So that nothing is lost by a slip,
//! a claim is refused if the place is that of an input or of another result, or if its ending belongs to
//! another kind of file. Files get their names together at [`Outputs::commit`]; whatever ends the
//! program before leaves the results of an earlier run as they were. Checkpoints, from which a command
//! resumes, are the exception: each replaces the one before at once ([`Checkpoint::write`]).

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

/// A place that no other result has.
struct Claim {
    /// The option that asks for it, such as `--trace`.
    asks: String,
    identity: Identity,
    /// Whether results may share it, as they may a device.
    is_shared: bool,
}

/// A place for a result, which has been checked.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    path: PathBuf,
    target: Target,
}

impl Place {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a file is made there; otherwise the bytes go to a pipe or a device.
    pub(crate) fn is_file(&self) -> bool {
        self.target == Target::File
    }
}

/// A result that is written again and again, so that the command can resume from it after any end.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint(PathBuf);

impl Checkpoint {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces the checkpoint before, at once.
    pub(crate) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        roadwright_files::write(&self.0, bytes).with_context(|| cannot_write(&self.0))
    }
}

impl Outputs {
    /// The results of a command that reads these inputs.
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

    /// Says that the command prints something itself, so that no other result can go to standard output.
    /// `what` says what that is and how to do without.
    pub(crate) fn prints(&mut self, what: &str) {
        // Standard output may be redirected to a file, which is one of the results then.
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

    /// Claims a place for a result of a kind: a file, a pipe, a device or a standard stream.
    ///
    /// # Errors
    /// If it is an input or the place of another result, or has the ending of another kind.
    pub(crate) fn file(&mut self, asks: &str, path: &Path, kind: Kind) -> anyhow::Result<Place> {
        let target = Target::of(path).with_context(|| cannot_write(path))?;
        if target == Target::File {
            endings::check(asks, path, kind)?;
        }
        let is_shared = target == Target::Stream(Stream::Device);
        let identity = Identity::of(path);
        if target == Target::File && identity.path() != path {
            // The file that a link stands for.
            endings::check(asks, identity.path(), kind)?;
        }
        if let Some((what, _)) = self.inputs.iter().find(|(_, input)| input.is(&identity)) {
            bail!(
                "{asks}: {} is {what}, which is read; name another file",
                path.display()
            );
        }
        let mut others = self.claims.iter();
        let other = others.find(|claim| !claim.is_shared && claim.identity.is(&identity));
        if let Some(Claim { asks: other, .. }) = other {
            bail!(
                "{asks}: {} is the file of {other} already; name another one",
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

    /// Claims a place for a table that the command names by itself, such as one beside another result. A
    /// file that is there is only replaced if it is such a table: if it begins with these columns.
    ///
    /// # Errors
    /// As [`Self::file`], and if something else is there.
    pub(crate) fn own_table(
        &mut self,
        asks: &str,
        path: &Path,
        columns: &str,
    ) -> anyhow::Result<Place> {
        let place = self.file(asks, path, Kind::Table)?;
        if place.is_file() && !is_empty(path) && !begins_with(path, columns.as_bytes()) {
            bail!(
                "{asks}: {} is there and is not such a table; move it away, or name another place",
                path.display()
            );
        }
        Ok(place)
    }

    /// Claims a file that is written at each checkpoint. It has to be a file, since the command reads it
    /// again.
    ///
    /// # Errors
    /// As [`Self::file`], if it is a pipe or a device, or if it cannot be written.
    pub(crate) fn checkpoint(
        &mut self,
        asks: &str,
        path: &Path,
        kind: Kind,
    ) -> anyhow::Result<Checkpoint> {
        let place = self.file(asks, path, kind)?;
        if !place.is_file() {
            bail!(
                "{asks}: {} is a pipe or a device, and what is written there is read again; name a file",
                path.display()
            );
        }
        self.try_out(&place)?;
        Ok(Checkpoint(place.path))
    }

    /// Finds out whether a file can be written to a place, for results that are made at the end.
    ///
    /// # Errors
    /// If it cannot.
    pub(crate) fn try_out(&self, place: &Place) -> anyhow::Result<()> {
        // The program that reads from a pipe would take it for the end that it is closed.
        if place.is_file() {
            drop(self.open(place)?);
        }
        Ok(())
    }

    /// Claims a folder that results are written into. Makes the folder if it is missing.
    ///
    /// # Errors
    /// If something else has this name, or it cannot be made.
    pub(crate) fn folder(&self, asks: &str, path: &Path) -> anyhow::Result<()> {
        let identity = Identity::of(path);
        let claimed = self
            .claims
            .iter()
            .find(|claim| claim.identity.is(&identity));
        if let Some(Claim { asks: other, .. }) = claimed {
            bail!("{asks}: {} is the file of {other} already", path.display());
        }
        if path.exists() && !path.is_dir() {
            bail!(
                "{asks}: {} is not a folder; name another one",
                path.display()
            );
        }
        let made = std::fs::create_dir_all(path);
        made.with_context(|| format!("{asks}: cannot make the folder {}", path.display()))
    }

    /// Opens a result that is written bit by bit. It is added by [`Self::keep`].
    ///
    /// # Errors
    /// If the folder is missing or cannot be written to.
    pub(crate) fn open(&self, place: &Place) -> anyhow::Result<Output> {
        Output::open(&place.path).with_context(|| cannot_write(&place.path))
    }

    /// Adds a result that is wholly written. It gets its name at [`Self::commit`].
    ///
    /// # Errors
    /// If not all could be written.
    pub(crate) fn keep(&mut self, output: Output) -> anyhow::Result<()> {
        let path = output.path().to_owned();
        let complete = output.complete().with_context(|| cannot_write(&path))?;
        self.complete.push(complete);
        Ok(())
    }

    /// Writes a whole result. It gets its name at [`Self::commit`].
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&mut self, place: &Place, bytes: &[u8]) -> anyhow::Result<()> {
        let mut output = self.open(place)?;
        let written = output.write_all(bytes);
        written.with_context(|| cannot_write(&place.path))?;
        self.keep(output)
    }

    /// Gives all results their names. To be called when the work is done, and before anything is printed
    /// about it, because a closed terminal must not cost results.
    ///
    /// # Errors
    /// If a file cannot be moved to its place. The others are moved all the same.
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

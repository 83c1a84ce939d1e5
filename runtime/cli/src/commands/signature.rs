//! Signatures of published files. A hash shows that a file is intact; a signature also shows its author.
//!
//! Signatures are compatible with minisign, whose tools can also create keys and check signatures.

use super::bench::Sign;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use minisign::{KeyPair, PublicKey, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a signed file, bytes.
const LARGEST: u64 = 512 * roadwright_files::MEBIBYTE;
/// Maximum size of a key or signature that is read, bytes.
const LARGEST_KEY: u64 = 64 * 1024;

/// Returns the path of a file's signature, beside the file.
fn beside(file: &Path) -> PathBuf {
    with_ending(file, "minisig")
}

/// Returns a path with an additional extension.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Carries out `bench sign`.
pub(super) fn sign(arguments: &Sign) -> anyhow::Result<Outcome> {
    let (file, key) = (&arguments.file, &arguments.key);
    let mut read_files = Inputs::none().file("the file to sign", file);
    if !arguments.new_key {
        read_files = read_files.file("the key", key);
    }
    let mut outputs = Outputs::of(read_files);
    let place = outputs.file("the signature", &beside(file), Kind::Signature)?;
    let data = read(file)?;
    check_kind(file, &data)?;
    let umask = arguments.new_key.then(OwnFilesOnly::begin);
    let secret = if arguments.new_key {
        make_key(key, &mut outputs)?
    } else {
        secret_key(key)?
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // The trusted comment is signed too; by default it would contain the time.
    let comment = format!("file:{name}");
    let signature = minisign::sign(None, &secret, Cursor::new(data), Some(&comment), None);
    let signature = signature.with_context(|| format!("cannot sign {}", file.display()))?;
    outputs.write(&place, signature.to_string().as_bytes())?;
    outputs.commit()?;
    if let Some(umask) = umask {
        let published = [public_half(key), place.path().to_owned()];
        umask.end(&published)?;
    }
    let mut out = terminal::out();
    if arguments.new_key {
        writeln!(
            out,
            "{}: secret key, not password-protected; keep it safe",
            key.display()
        )?;
        writeln!(
            out,
            "{}: public key; publish it",
            public_half(key).display()
        )?;
    }
    writeln!(out, "{}: signed", place.path().display())?;
    Ok(Outcome::Fine)
}

/// Returns the path of the public key that belongs to a secret key; it is beside the secret key.
fn public_half(key: &Path) -> PathBuf {
    with_ending(key, "pub")
}

/// Creates a key pair, which is written with the other results of the command.
fn make_key(path: &Path, outputs: &mut Outputs) -> anyhow::Result<SecretKey> {
    let public = public_half(path);
    for path in [path, &public] {
        if path.exists() {
            bail!(
                "{} already exists; choose another file for --key",
                path.display()
            );
        }
    }
    let KeyPair { pk, sk } = KeyPair::generate_unencrypted_keypair()?;
    for (asks, path, text) in [
        ("--key", path, sk.to_box(None)?.to_string()),
        ("the public key", public.as_path(), pk.to_box()?.to_string()),
    ] {
        let place = outputs.file(asks, path, Kind::Key)?;
        outputs.write(&place, text.as_bytes())?;
    }
    Ok(sk)
}

/// Refuses to sign files other than results and training records.
fn check_kind(path: &Path, data: &[u8]) -> anyhow::Result<()> {
    #[derive(serde::Deserialize)]
    struct Head {
        format: String,
    }
    let head: Option<Head> = serde_json::from_slice(data).ok();
    let format = head.map(|head| head.format).unwrap_or_default();
    if !["roadwright-results", "roadwright-training"].contains(&format.as_str()) {
        bail!(
            "{}: neither results of `bench run` nor a record of `train`, so there is nothing to sign",
            path.display()
        );
    }
    Ok(())
}

/// Makes new files readable only by their owner, from the first byte onwards, as long as this value
/// exists.
struct OwnFilesOnly {
    #[cfg(unix)]
    before: rustix::fs::Mode,
}

impl OwnFilesOnly {
    fn begin() -> Self {
        Self {
            #[cfg(unix)]
            before: rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO),
        }
    }

    /// Restores the usual permissions for new files, and applies them to the published files.
    fn end(self, published: &[PathBuf]) -> anyhow::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            rustix::process::umask(self.before);
            let mode = 0o666 & !self.before.bits();
            for path in published {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
                    .with_context(|| format!("cannot publish {}", path.display()))?;
            }
        }
        Ok(())
    }
}

fn secret_key(path: &Path) -> anyhow::Result<SecretKey> {
    let at = || format!("cannot use the key {}", path.display());
    let text = roadwright_files::read_text(path, LARGEST_KEY).with_context(at)?;
    let key = || SecretKeyBox::from_string(&text);
    match key().and_then(SecretKeyBox::into_unencrypted_secret_key) {
        Ok(key) => Ok(key),
        // The user is asked for the password of a key that has one.
        Err(_) => key()
            .and_then(|key| key.into_secret_key(None))
            .with_context(at),
    }
}

/// Checks the signature of a file against a public key. Returns the fault, or `None` for a valid signature.
///
/// # Errors
/// If the file, its signature or the key cannot be read.
pub(super) fn check(file: &Path, key: &Path) -> anyhow::Result<Option<String>> {
    let public = public_key(key)?;
    let place = beside(file);
    let at = || format!("cannot read the signature {}", place.display());
    let text = roadwright_files::read_text(&place, LARGEST_KEY).with_context(at)?;
    let signature = SignatureBox::from_string(&text).with_context(at)?;
    let data = Cursor::new(read(file)?);
    let checked = minisign::verify(&public, &signature, data, true, false, false);
    Ok(checked.err().map(|error| format!("signature: {error}")))
}

fn public_key(path: &Path) -> anyhow::Result<PublicKey> {
    let at = || format!("cannot use the public key {}", path.display());
    let text = roadwright_files::read_text(path, LARGEST_KEY).with_context(at)?;
    let key = PublicKeyBox::from_string(&text).and_then(PublicKeyBox::into_public_key);
    key.with_context(at)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let text = roadwright_files::read_text(path, LARGEST);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.into_bytes())
}

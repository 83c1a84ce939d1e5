//! Saves with changed parts, and with a checksum that matches the changes.
//!
//! A checksum detects damage by a disk, but not changes that a person or a program has made on purpose.
//! Reading a save is therefore safe only if each of its numbers is checked.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of bytes that describe a change.
pub const CHANGE: usize = 12;
/// Maximum number of changes to a save.
const MOST_CHANGES: usize = 16;
/// Maximum number of bytes removed by a change.
const MOST_REMOVED: usize = 64;

/// Contents of a save before its checksum.
#[derive(Serialize, Deserialize)]
struct Frame {
    format: String,
    version: u16,
    program: String,
    ground: u64,
    inexact: Vec<String>,
    parts: BTreeMap<String, (u16, Vec<u8>)>,
}

/// Returns a save after the changes that `program` describes with [`CHANGE`] bytes each. An incomplete last
/// change is ignored. Any bytes are a valid program, so a fuzzer needs no knowledge of the format.
///
/// ```text
/// byte 0   number of the part, in the order of names, modulo the number of parts
/// byte 1   kind of the change, modulo 6
/// byte 2-3 place in the part, as a share of its length (little-endian, of 65,536)
/// byte 4.. eight bytes of contents
/// ```
///
/// Returns `None` if `save` is not a save.
pub fn changed(save: &[u8], program: &[u8]) -> Option<Vec<u8>> {
    let (frame, _) = save.split_last_chunk::<8>()?;
    let mut frame: Frame = postcard::from_bytes(frame).ok()?;
    let count = frame.parts.len();
    for change in program.chunks_exact(CHANGE).take(MOST_CHANGES) {
        let part = usize::from(change[0]) % count.max(1);
        let (_, bytes) = frame.parts.values_mut().nth(part)?;
        apply(bytes, change);
    }
    let mut bytes = postcard::to_allocvec(&frame).ok()?;
    let sum = twox_hash::XxHash3_64::oneshot(&bytes);
    bytes.extend(sum.to_le_bytes());
    Some(bytes)
}

fn apply(bytes: &mut Vec<u8>, change: &[u8]) {
    let share = usize::from(u16::from_le_bytes([change[2], change[3]]));
    let at = share * bytes.len() / 65_536;
    let contents = &change[4..];
    let rest = bytes.len() - at;
    match change[1] % 6 {
        0 => overwrite(bytes, at, &contents[..1]),
        // A number in double precision, if one begins here.
        1 => overwrite(bytes, at, contents),
        // A whole number or a length, with its number of bytes.
        2 => {
            let old = bytes[at..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
            let new = varint(contents);
            bytes.splice(at..at + old.min(rest), new);
        }
        3 => {
            let length = usize::from(contents[0]) % MOST_REMOVED;
            bytes.drain(at..at + length.min(rest));
        }
        4 => {
            bytes.splice(at..at, contents.iter().copied());
        }
        _ => bytes.truncate(at),
    }
}

fn overwrite(bytes: &mut [u8], at: usize, contents: &[u8]) {
    for (byte, new) in bytes[at..].iter_mut().zip(contents) {
        *byte = *new;
    }
}

/// Encodes a little-endian number with a variable length: seven bits per byte, lowest bits first.
fn varint(contents: &[u8]) -> Vec<u8> {
    let mut number = contents
        .iter()
        .rev()
        .fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

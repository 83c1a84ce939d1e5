//! Layout of scenario files: top-level keys on separate lines, and one object per line.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::collections::BTreeMap;
use std::io;

/// Collects the text of a document.
pub(crate) struct Writer {
    out: Vec<u8>,
    empty: bool,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self {
            out: b"{".to_vec(),
            empty: true,
        }
    }

    /// Writes a key with a value on one line.
    pub(crate) fn value(&mut self, key: &str, value: &impl Serialize) {
        self.key(key);
        self.compact(value);
    }

    /// Writes a key and its value on one line. Writes nothing if there is no value.
    pub(crate) fn given(&mut self, key: &str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            self.value(key, value);
        }
    }

    /// Writes a key with an object, one entry per line. An empty object is left out.
    pub(crate) fn map<K: Serialize, V: Serialize>(&mut self, key: &str, map: &BTreeMap<K, V>) {
        self.entries(key, map.iter());
    }

    /// Like [`map`](Self::map), but writes the entries of an iterator, in their given order.
    pub(crate) fn entries<K: Serialize, V: Serialize>(
        &mut self,
        key: &str,
        entries: impl Iterator<Item = (K, V)>,
    ) {
        let mut first = true;
        for (id, value) in entries {
            if first {
                self.key(key);
                self.out.push(b'{');
            } else {
                self.out.push(b',');
            }
            first = false;
            self.out.extend(b"\n    ");
            self.compact_key(&id);
            self.out.extend(b": ");
            self.compact(&value);
        }
        // An empty section is left out together with its key. A reader treats a missing section as
        // empty.
        if !first {
            self.out.extend(b"\n  }");
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.extend(b"\n}\n");
        String::from_utf8(self.out).expect("JSON is UTF-8")
    }

    fn key(&mut self, key: &str) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.extend(b"\n  ");
        self.compact(&key);
        self.out.extend(b": ");
    }

    /// Writes a map key. Numbers become strings.
    fn compact_key(&mut self, id: &impl Serialize) {
        // JSON keys are always strings, but ids are numbers.
        let value = serde_json::to_value(id).expect("ids are plain data");
        match value {
            serde_json::Value::String(text) => self.compact(&text),
            other => self.compact(&other.to_string()),
        }
    }

    fn compact(&mut self, value: &impl Serialize) {
        let mut serializer = Serializer::with_formatter(&mut self.out, Spaced);
        value
            .serialize(&mut serializer)
            .expect("scenario data is serializable and its numbers are finite");
    }
}

/// Compact JSON with a space after commas and colons.
// One object per line makes long lines. The spaces make them readable and allow them to wrap.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

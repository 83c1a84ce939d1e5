//! OSM PBF.
//!
//! A file is a sequence of blobs, each a header and a block of elements, usually compressed with
//! zlib. A library reads the wire format. The fields are interpreted here, so that limits apply
//! during reading. A file of half a megabyte can claim to contain 600 million nodes. Format:
//! <https://wiki.openstreetmap.org/wiki/PBF_Format>.

use super::ImportError;
use super::elements::{Elements, Relation, Sign, Tags, Way};
use protobuf::CodedInputStream;
use std::io::Read;

/// Maximum size of a blob header, bytes, as defined by the format.
const MAX_HEADER: usize = 64 * 1024;
/// Maximum size of an unpacked blob, bytes, as defined by the format.
const MAX_BLOCK: u64 = 32 * 1024 * 1024;

/// Features that a file may require from its reader. Other features change the meaning of elements.
const KNOWN_FEATURES: [&str; 2] = ["OsmSchema-V0.6", "DenseNodes"];

/// Number of elements, references and tags that a file of any size may contain. Larger files may
/// contain two of them per byte. In real data, a node takes at least three bytes.
const MIN_BUDGET: u64 = 2_000_000;

/// Reads the elements of an OSM PBF file.
pub(super) fn read(bytes: &[u8]) -> Result<Elements, ImportError> {
    let mut reader = PbfReader {
        elements: Elements {
            names_openstreetmap: true,
            ..Elements::default()
        },
        // zlib compresses zeros a thousandfold, and a dense node of zeros takes three bytes when unpacked.
        // Without a limit, a file of 0.5 MB could fill the memory with nodes.
        left: MIN_BUDGET.max(2 * bytes.len() as u64),
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        //   4 bytes    length of the header, big-endian
        //   header     type, size of the blob
        //   blob       raw or zlib: a header block first, then blocks of elements
        let length = take(&mut rest, 4)?;
        let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
        if length > MAX_HEADER {
            return Err(damaged("the header of a blob is larger than 64 KiB"));
        }
        let header = BlobHeader::read(take(&mut rest, length)?)?;
        let blob = take(&mut rest, header.size)?;
        match header.kind.as_str() {
            "OSMHeader" => check_features(&unpacked(blob)?)?,
            "OSMData" => reader.block(&unpacked(blob)?)?,
            // The format permits skipping blobs of other types.
            _ => {}
        }
    }
    Ok(reader.elements)
}

/// Returns an error about damaged data, with a message from the library or from this module.
fn damaged(what: impl ToString) -> ImportError {
    ImportError::Damaged {
        line: 0,
        what: what.to_string(),
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], ImportError> {
    let Some((head, tail)) = rest.split_at_checked(count) else {
        return Err(damaged("the file is truncated within a blob"));
    };
    *rest = tail;
    Ok(head)
}

/// The value of a field of a message.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn number(&self) -> Result<u64, ImportError> {
        match self {
            Self::Number(value) => Ok(*value),
            Self::Bytes(_) => Err(damaged("found bytes where a number is expected")),
        }
    }

    fn bytes(&self) -> Result<&'a [u8], ImportError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => Err(damaged("found a number where bytes are expected")),
        }
    }

    fn signed(&self) -> Result<i64, ImportError> {
        self.number().map(zigzag)
    }
}

/// Decodes the signed numbers of protobuf. They are stored so that small negative numbers stay short: 0, 1,
/// 2, 3, 4 stand for 0, -1, 1, -2, 2.
fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Calls `field` with the number and the value of each field of a message.
fn for_each_field<'a>(
    message: &'a [u8],
    mut field: impl FnMut(u32, Value<'a>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut stream = CodedInputStream::from_bytes(message);
    while let Some(tag) = stream.read_raw_tag_or_eof().map_err(damaged)? {
        // A tag consists of the field's number and its wire type: 0 varint, 1 eight bytes, 2 length and
        // bytes, 5 four bytes. Types 3 and 4 (groups) are obsolete.
        let value = match tag & 7 {
            0 => Value::Number(stream.read_raw_varint64().map_err(damaged)?),
            1 => Value::Number(stream.read_fixed64().map_err(damaged)?),
            5 => Value::Number(stream.read_fixed32().map_err(damaged)?.into()),
            2 => {
                let count = stream.read_raw_varint32().map_err(damaged)?;
                let start = stream.pos() as usize;
                // Fails if the message is shorter than it claims, so the slice below is in range.
                stream.skip_raw_bytes(count).map_err(damaged)?;
                Value::Bytes(&message[start..start + count as usize])
            }
            kind => return Err(damaged(format!("a field of unknown type {kind}"))),
        };
        field(tag >> 3, value)?;
    }
    Ok(())
}

/// Returns the numbers of a packed list. A damaged list ends with an error.
fn packed(bytes: &[u8]) -> impl Iterator<Item = Result<u64, ImportError>> {
    let mut stream = CodedInputStream::from_bytes(bytes);
    std::iter::from_fn(move || match stream.eof() {
        Ok(true) => None,
        Ok(false) => Some(stream.read_raw_varint64().map_err(damaged)),
        Err(error) => Some(Err(damaged(error))),
    })
    // After an error, the stream does not advance, so the error would be repeated endlessly.
    .scan(false, |failed, item| {
        (!std::mem::replace(failed, item.is_err())).then_some(item)
    })
}

/// Returns the values of a list that is stored as differences between entries.
fn deltas(bytes: &[u8]) -> impl Iterator<Item = Result<i64, ImportError>> {
    packed(bytes).scan(0_i64, |sum, item| {
        // Neighbours in a file are usually neighbours on the map and in the numbering, so differences are
        // short: the ids 1000, 1001, 1005 are written as 1000, 1, 4. In damaged data, the sum may overflow
        // and wrap around.
        Some(item.map(|value| {
            *sum = sum.wrapping_add(zigzag(value));
            *sum
        }))
    })
}

#[derive(Default)]
struct BlobHeader {
    kind: String,
    size: usize,
}

impl BlobHeader {
    fn read(message: &[u8]) -> Result<Self, ImportError> {
        let mut header = Self::default();
        for_each_field(message, |field, value| {
            match field {
                1 => header.kind = String::from_utf8_lossy(value.bytes()?).into_owned(),
                3 => header.size = usize::try_from(value.number()?).unwrap_or(usize::MAX),
                _ => {}
            }
            Ok(())
        })?;
        Ok(header)
    }
}

/// Returns the unpacked contents of a blob.
fn unpacked(blob: &[u8]) -> Result<Vec<u8>, ImportError> {
    let mut content = None;
    for_each_field(blob, |field, value| {
        match field {
            1 => content = Some(value.bytes()?.to_vec()),
            3 => content = Some(inflated(value.bytes()?)?),
            4 | 6 | 7 => {
                let packing = ["LZMA", "", "LZ4", "Zstandard"][field as usize - 4];
                return Err(ImportError::Unsupported(format!(
                    "blocks compressed with {packing}"
                )));
            }
            _ => {}
        }
        Ok(())
    })?;
    content.ok_or_else(|| damaged("a blob without content"))
}

fn inflated(packed: &[u8]) -> Result<Vec<u8>, ImportError> {
    let mut content = Vec::new();
    // Reads one byte more than allowed, to distinguish a block of maximum size from one that is too large.
    let mut decoder = flate2::read::ZlibDecoder::new(packed).take(MAX_BLOCK + 1);
    decoder.read_to_end(&mut content).map_err(damaged)?;
    if content.len() as u64 > MAX_BLOCK {
        return Err(damaged("a block decompresses to more than 32 MiB"));
    }
    Ok(content)
}

/// Rejects a file that requires an unsupported feature.
fn check_features(header: &[u8]) -> Result<(), ImportError> {
    for_each_field(header, |field, value| {
        // Field 4 lists required features. "HistoricalInformation" includes deleted versions among the
        // elements. If they were read like current elements, demolished streets would reappear. Optional
        // features (field 5) can be ignored.
        if field != 4 {
            return Ok(());
        }
        let feature = String::from_utf8_lossy(value.bytes()?).into_owned();
        if KNOWN_FEATURES.contains(&feature.as_str()) {
            return Ok(());
        }
        Err(ImportError::Unsupported(format!(
            "the feature \"{feature}\""
        )))
    })
}

/// Values that a block contains only once and that apply to all its elements.
struct Block<'a> {
    strings: Vec<&'a [u8]>,
    /// Nanodegrees per unit of a coordinate.
    granularity: i64,
    latitude_offset: i64,
    longitude_offset: i64,
}

impl<'a> Block<'a> {
    fn degrees(&self, offset: i64, value: i64) -> f64 {
        // Units of `granularity` nanodegrees, 100 by default: about 1 cm.
        1e-9 * offset.wrapping_add(self.granularity.wrapping_mul(value)) as f64
    }

    fn text(&self, index: u64) -> Result<&'a str, ImportError> {
        let text = usize::try_from(index)
            .ok()
            .and_then(|i| self.strings.get(i));
        let text = text.ok_or_else(|| damaged("a string index outside the string table"))?;
        std::str::from_utf8(text).map_err(|_| damaged("text that is not UTF-8"))
    }
}

struct PbfReader {
    elements: Elements,
    /// Number of elements, references and tags that may still be read.
    left: u64,
}

impl PbfReader {
    fn spend(&mut self, count: usize) -> Result<(), ImportError> {
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            damaged("it decompresses to far more elements than a file of its size can contain")
        })?;
        Ok(())
    }

    fn block(&mut self, message: &[u8]) -> Result<(), ImportError> {
        let mut block = Block {
            strings: Vec::new(),
            // Default values of the format. Fields with these values may be omitted.
            granularity: 100,
            latitude_offset: 0,
            longitude_offset: 0,
        };
        // The string table may follow the elements that use it.
        for_each_field(message, |field, value| {
            match field {
                1 => for_each_field(value.bytes()?, |_, text| {
                    self.spend(1)?;
                    block.strings.push(text.bytes()?);
                    Ok(())
                })?,
                17 => block.granularity = value.number()? as i64,
                19 => block.latitude_offset = value.number()? as i64,
                20 => block.longitude_offset = value.number()? as i64,
                _ => {}
            }
            Ok(())
        })?;
        for_each_field(message, |field, value| match field {
            2 => self.group(&block, value.bytes()?),
            _ => Ok(()),
        })
    }

    fn group(&mut self, block: &Block<'_>, message: &[u8]) -> Result<(), ImportError> {
        for_each_field(message, |field, value| match field {
            1 => self.node(block, value.bytes()?),
            2 => self.dense_nodes(block, value.bytes()?),
            3 => self.way(block, value.bytes()?),
            4 => self.relation(block, value.bytes()?),
            _ => Ok(()),
        })
    }

    fn node(&mut self, block: &Block<'_>, message: &[u8]) -> Result<(), ImportError> {
        let (mut id, mut latitude, mut longitude) = (0, 0, 0);
        let mut tags = TagLists::default();
        for_each_field(message, |field, value| {
            match field {
                1 => id = value.signed()?,
                8 => latitude = value.signed()?,
                9 => longitude = value.signed()?,
                _ => tags.field(field, &value)?,
            }
            Ok(())
        })?;
        let tags = self.tags(block, &tags)?;
        self.add_node(block, id, latitude, longitude, Sign::of(&tags))
    }

    fn dense_nodes(&mut self, block: &Block<'_>, message: &[u8]) -> Result<(), ImportError> {
        let (mut ids, mut latitudes, mut longitudes, mut tags): (&[u8], &[u8], &[u8], &[u8]) =
            Default::default();
        for_each_field(message, |field, value| {
            match field {
                1 => ids = value.bytes()?,
                8 => latitudes = value.bytes()?,
                9 => longitudes = value.bytes()?,
                10 => tags = value.bytes()?,
                _ => {}
            }
            Ok(())
        })?;
        // There are three parallel lists of differences, and a list of tags for all nodes: key, value, key,
        // value, 0, key, value, 0, ... with a 0 after each node. If it is empty, no node has tags.
        let mut tags = packed(tags);
        let places = deltas(latitudes).zip(deltas(longitudes));
        for (id, (latitude, longitude)) in deltas(ids).zip(places) {
            let sign = self.dense_tags(block, &mut tags)?;
            self.add_node(block, id?, latitude?, longitude?, sign)?;
        }
        Ok(())
    }

    /// Reads the key-value pairs of a node up to the end mark, and returns its sign.
    fn dense_tags(
        &mut self,
        block: &Block<'_>,
        tags: &mut impl Iterator<Item = Result<u64, ImportError>>,
    ) -> Result<Sign, ImportError> {
        let mut sign = Sign::default();
        while let Some(key) = tags.next().transpose()?.filter(|key| *key != 0) {
            self.spend(1)?;
            let Some(value) = tags.next().transpose()? else {
                return Err(damaged("a tag without a value"));
            };
            sign.add(block.text(key)?, block.text(value)?);
        }
        Ok(sign)
    }

    fn add_node(
        &mut self,
        block: &Block<'_>,
        id: i64,
        latitude: i64,
        longitude: i64,
        sign: Sign,
    ) -> Result<(), ImportError> {
        self.spend(1)?;
        let latitude = block.degrees(block.latitude_offset, latitude);
        let longitude = block.degrees(block.longitude_offset, longitude);
        self.elements.add_node(id, latitude, longitude, sign);
        Ok(())
    }

    fn way(&mut self, block: &Block<'_>, message: &[u8]) -> Result<(), ImportError> {
        let (mut id, mut refs): (i64, &[u8]) = (0, &[]);
        let mut tags = TagLists::default();
        for_each_field(message, |field, value| {
            match field {
                1 => id = value.number()? as i64,
                8 => refs = value.bytes()?,
                _ => tags.field(field, &value)?,
            }
            Ok(())
        })?;
        let tags = self.tags(block, &tags)?;
        let mut nodes = Vec::new();
        for node in deltas(refs) {
            self.spend(1)?;
            nodes.push(node?);
        }
        self.spend(1)?;
        self.elements.add_way(Way { id, nodes, tags });
        Ok(())
    }

    fn relation(&mut self, block: &Block<'_>, message: &[u8]) -> Result<(), ImportError> {
        let (mut id, mut roles, mut ids, mut kinds): (i64, &[u8], &[u8], &[u8]) =
            Default::default();
        let mut tags = TagLists::default();
        for_each_field(message, |field, value| {
            match field {
                1 => id = value.number()? as i64,
                8 => roles = value.bytes()?,
                9 => ids = value.bytes()?,
                10 => kinds = value.bytes()?,
                _ => tags.field(field, &value)?,
            }
            Ok(())
        })?;
        let tags = self.tags(block, &tags)?;
        let mut members = Vec::new();
        for ((role, member), kind) in packed(roles).zip(deltas(ids)).zip(packed(kinds)) {
            self.spend(1)?;
            // An unknown kind is kept as `?`, which no role matches.
            let kind = *['n', 'w', 'r'].get(kind? as usize).unwrap_or(&'?');
            members.push((kind, member?, block.text(role?)?.to_owned()));
        }
        self.spend(1)?;
        self.elements.add_relation(Relation { id, members, tags });
        Ok(())
    }

    fn tags(&mut self, block: &Block<'_>, lists: &TagLists<'_>) -> Result<Tags, ImportError> {
        let mut tags = Tags::new();
        for (key, value) in packed(lists.keys).zip(packed(lists.values)) {
            self.spend(1)?;
            tags.insert(block.text(key?)?.into(), block.text(value?)?.into());
        }
        Ok(tags)
    }
}

/// Keys and values of an element as lists of indices into the string table.
#[derive(Default)]
struct TagLists<'a> {
    keys: &'a [u8],
    values: &'a [u8],
}

impl<'a> TagLists<'a> {
    /// Reads fields 2 and 3, which are the tags of all elements except dense nodes.
    fn field(&mut self, field: u32, value: &Value<'a>) -> Result<(), ImportError> {
        match field {
            2 => self.keys = value.bytes()?,
            3 => self.values = value.bytes()?,
            _ => {}
        }
        Ok(())
    }
}

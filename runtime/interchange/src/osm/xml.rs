//! OSM XML.

use super::ImportError;
use super::elements::{Elements, Relation, Sign, Tags, Way};
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

/// The element that is being read.
enum Open {
    Node {
        id: i64,
        latitude: f64,
        longitude: f64,
    },
    Way {
        id: i64,
        nodes: Vec<i64>,
    },
    Relation {
        id: i64,
        members: Vec<(char, i64, String)>,
    },
}

impl Open {
    fn node(tag: &BytesStart<'_>) -> Result<Self, String> {
        let (latitude, longitude) = (number(tag, "lat")?, number(tag, "lon")?);
        if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
            return Err(format!(
                "node coordinates out of range: latitude {latitude}, longitude {longitude}"
            ));
        }
        Ok(Self::Node {
            id: integer(tag, "id")?,
            latitude,
            longitude,
        })
    }
}

/// Reads OSM XML. Attributes that are only relevant for editing (version, user, ...) may be missing.
pub(super) fn read(bytes: &[u8]) -> Result<Elements, ImportError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        damaged(
            &format!("not UTF-8: {error}"),
            line_at(bytes, error.valid_up_to()),
        )
    })?;
    let mut reader = Reader::from_str(text);
    let mut state = State::default();
    loop {
        let event = reader.read_event();
        let line = || line_at(bytes, reader.buffer_position() as usize);
        match event {
            Ok(Event::Start(tag)) => state.start(&tag).map_err(|what| damaged(&what, line()))?,
            Ok(Event::Empty(tag)) => {
                state.start(&tag).map_err(|what| damaged(&what, line()))?;
                state.end(tag.name().as_ref());
            }
            Ok(Event::End(tag)) => state.end(tag.name().as_ref()),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            // Invalid XML before <osm> means that the file is something else, such as a web page. Invalid XML
            // after it means that the file is damaged. The user needs different advice in the two cases.
            Err(error) if state.in_osm => return Err(damaged(&error.to_string(), line())),
            Err(error) => return Err(ImportError::Foreign(format!("broken XML: {error}"))),
        }
        if let Some(root) = state.foreign_root.take() {
            return Err(ImportError::Foreign(format!(
                "an XML file with the root <{root}>"
            )));
        }
    }
    if !state.in_osm {
        return Err(ImportError::Foreign("XML without an <osm> element".into()));
    }
    if !state.closed {
        // A download that was cut off between two elements is well-formed up to the cut. Without this check,
        // half of a city would be imported silently.
        let line = line_at(bytes, bytes.len());
        return Err(damaged("the file is truncated: </osm> is missing", line));
    }
    Ok(state.elements)
}

fn damaged(what: &str, line: usize) -> ImportError {
    ImportError::Damaged {
        line,
        what: what.into(),
    }
}

// Returns the line number of an offset. It is counted only for errors, because counting while reading would
// cost time.
fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes[..offset.min(bytes.len())]
        .iter()
        .filter(|&&b| b == b'\n')
        .count()
}

#[derive(Default)]
struct State {
    elements: Elements,
    in_osm: bool,
    closed: bool,
    foreign_root: Option<String>,
    open: Option<Open>,
    tags: Tags,
}

impl State {
    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        let name = tag.name();
        if !self.in_osm {
            match name.as_ref() {
                "osm" => {
                    self.in_osm = true;
                    self.elements.names_openstreetmap = names_openstreetmap(tag);
                }
                other => self.foreign_root = Some(other.to_owned()),
            }
            return Ok(());
        }
        match name.as_ref() {
            "node" => self.open(Open::node(tag)?),
            "way" => self.open(Open::Way {
                id: integer(tag, "id")?,
                nodes: Vec::new(),
            }),
            "relation" => self.open(Open::Relation {
                id: integer(tag, "id")?,
                members: Vec::new(),
            }),
            "nd" => {
                if let Some(Open::Way { nodes, .. }) = &mut self.open {
                    nodes.push(integer(tag, "ref")?);
                }
            }
            // The kinds node, way and relation are stored as their first letter. PBF files use numbers, which
            // are converted to the same letters.
            "member" => {
                let kind = required(tag, "type")?.chars().next().unwrap_or('?');
                let (id, role) = (integer(tag, "ref")?, text(tag, "role")?.unwrap_or_default());
                if let Some(Open::Relation { members, .. }) = &mut self.open {
                    members.push((kind, id, role));
                }
            }
            "tag" if self.open.is_some() => {
                self.tags.insert(required(tag, "k")?, required(tag, "v")?);
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, open: Open) {
        self.tags.clear();
        self.open = Some(open);
    }

    fn end(&mut self, name: &str) {
        match name {
            "osm" => self.closed = true,
            "node" | "way" | "relation" => self.close(),
            _ => {}
        }
    }

    fn close(&mut self) {
        let tags = std::mem::take(&mut self.tags);
        match self.open.take() {
            Some(Open::Node {
                id,
                latitude,
                longitude,
            }) => {
                let sign = Sign::of(&tags);
                self.elements.add_node(id, latitude, longitude, sign);
            }
            Some(Open::Way { id, nodes }) => self.elements.add_way(Way { id, nodes, tags }),
            Some(Open::Relation { id, members }) => {
                self.elements.add_relation(Relation { id, members, tags });
            }
            None => {}
        }
    }
}

/// Words in the attributes of a file that show that it comes from the OpenStreetMap database or from an
/// extract tool.
const SOURCES: [&str; 6] = [
    "openstreetmap",
    "overpass",
    "osmium",
    "osmosis",
    "osmconvert",
    "cgimap",
];

/// Whether the `generator`, `copyright`, `attribution` or `license` attribute of a file names OpenStreetMap.
fn names_openstreetmap(tag: &BytesStart<'_>) -> bool {
    ["generator", "copyright", "attribution", "license"]
        .iter()
        .filter_map(|key| text(tag, key).ok().flatten())
        .map(|value| value.to_ascii_lowercase())
        .any(|value| SOURCES.iter().any(|source| value.contains(source)))
}

fn text(tag: &BytesStart<'_>, key: &str) -> Result<Option<String>, String> {
    let attribute = tag
        .try_get_attribute(key)
        .map_err(|error| error.to_string())?;
    let Some(attribute) = attribute else {
        return Ok(None);
    };
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    Ok(Some(value.map_err(|error| error.to_string())?.into_owned()))
}

fn required(tag: &BytesStart<'_>, key: &str) -> Result<String, String> {
    let name = tag.name().as_ref().to_owned();
    text(tag, key)?.ok_or_else(|| format!("<{name}> without the attribute \"{key}\""))
}

fn integer(tag: &BytesStart<'_>, key: &str) -> Result<i64, String> {
    let value = required(tag, key)?;
    value
        .parse()
        .map_err(|_| format!("{key}=\"{value}\" is not a whole number"))
}

fn number(tag: &BytesStart<'_>, key: &str) -> Result<f64, String> {
    let value = required(tag, key)?;
    let number: Option<f64> = value.parse().ok().filter(|v: &f64| v.is_finite());
    number.ok_or_else(|| format!("{key}=\"{value}\" is not a number"))
}

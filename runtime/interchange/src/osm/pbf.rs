//! OSM PBF.

use super::ImportError;
use super::elements::{Elements, Relation, Tags, Way};
use osmpbf::{Element, ElementReader, RelMemberType};

/// Reads OSM PBF.
pub(super) fn read(bytes: &[u8]) -> Result<Elements, ImportError> {
    let mut elements = Elements::default();
    let damaged = |what: String| ImportError::Damaged { line: 0, what };
    // The library indexes string tables by what the file says: a file that lies must not take
    // the program down.
    let read = std::panic::AssertUnwindSafe(|| {
        ElementReader::new(bytes).for_each(|element| add(&mut elements, &element))
    });
    match std::panic::catch_unwind(read) {
        Ok(Ok(())) => Ok(elements),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its tables contradict each other".into())),
    }
}

fn add(elements: &mut Elements, element: &Element<'_>) {
    match element {
        Element::Node(node) => {
            let signals = is_signal(node.tags());
            elements.add_node(node.id(), node.lat(), node.lon(), signals);
        }
        Element::DenseNode(node) => {
            let signals = is_signal(node.tags());
            elements.add_node(node.id(), node.lat(), node.lon(), signals);
        }
        Element::Way(way) => elements.add_way(Way {
            id: way.id(),
            nodes: way.refs().collect(),
            tags: collect(way.tags()),
        }),
        Element::Relation(relation) => elements.add_relation(Relation {
            id: relation.id(),
            members: relation
                .members()
                .map(|member| {
                    let kind = match member.member_type {
                        RelMemberType::Node => 'n',
                        RelMemberType::Way => 'w',
                        RelMemberType::Relation => 'r',
                    };
                    let role = member.role().unwrap_or_default().to_owned();
                    (kind, member.member_id, role)
                })
                .collect(),
            tags: collect(relation.tags()),
        }),
    }
}

fn is_signal<'a>(mut tags: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    tags.any(|tag| tag == ("highway", "traffic_signals"))
}

fn collect<'a>(tags: impl Iterator<Item = (&'a str, &'a str)>) -> Tags {
    tags.map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

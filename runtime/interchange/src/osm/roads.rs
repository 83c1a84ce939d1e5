//! Roads and nodes from ways.

use super::carriageways;
use super::carriageways::merges::{self, Merging};
use super::clip::{Clipper, away_from_antimeridian};
use super::crossings;
use super::elements::{Elements, OsmNode, SignKind};
use super::minis;
use super::projection::{LocalProjection, great_circle_distance};
use super::ranks::{self, Standing};
use super::restrictions::Found;
use super::signs::{Signals, place_signals, place_signs};
use super::split_arms;
use super::tags::{self, WayStyle};
use super::trams;
use super::turning_circles;
use super::{ATTRIBUTION, ImportError, ImportOptions, MovedCarriageway, Warnings};
use country_boundaries::{BOUNDARIES_ODBL_360X180, CountryBoundaries, LatLon};
use glam::DVec2;
use roadwright_geometry::fillet::{FilletOptions, SmallestRadii, fillet, fillet_widened};
use roadwright_scenario::{
    About, Control, CrossingRule, DrivingSide, Edit, GeoOrigin, MAX_ROAD_ENDS, Node, NodeId, Poly3,
    Road, RoadClass, RoadEnd, RoadId, Scenario, SignalMode, SignalPlan,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Options for converting traced points to a smooth line, which misses a vertex by at most 15 cm.
const FILLET: FilletOptions = FilletOptions {
    radius: 40.0,
    miss: 0.15,
};
/// Distance by which the radius of a bend exceeds the half-width of its road on the inner side, m.
const BEND_MARGIN: f64 = 1.0;
/// Largest error at a vertex whose bend would otherwise be tighter than its road is wide, m.
const BEND_MISS: f64 = 1.5;
/// Change of direction above which a vertex is a corner, rad. The way is cut at a corner, which
/// thus gets the radius of a junction, and the reference lines keep the length of the way.
const SHARP_TURN: f64 = 0.6;
/// Minimum length of a piece, m.
const MIN_LENGTH: f64 = 0.05;

/// A stretch of a drivable way whose nodes are present and inside the box. At first, it is as long
/// as possible (a run). Later, it is cut into the roads of the graph.
pub(super) struct Piece {
    pub(super) way: i64,
    pub(super) style: usize,
    /// OSM node ids. Created nodes have negative ids below all ids in the data.
    pub(super) nodes: Vec<i64>,
    /// Whether the piece runs against the direction of its way.
    pub(super) is_reversed: bool,
    /// Whether the piece's way is tagged as the ring of a roundabout.
    pub(super) is_ring: bool,
    /// Whether the piece begins where its run begins.
    pub(super) begins: bool,
    /// Whether the piece ends where its run ends.
    pub(super) ends: bool,
}

/// Ways cut into the roads of the graph.
pub(super) struct Built {
    pub(super) pieces: Vec<Piece>,
    styles: Vec<WayStyle>,
    places: BTreeMap<i64, OsmNode>,
    signals: Signals,
    /// All nodes of drivable ways.
    on_ways: BTreeSet<i64>,
    way_count: usize,
    /// All ways of each piece that replaces a split arm, by the index of the piece.
    joined_ways: BTreeMap<usize, BTreeSet<i64>>,
    /// Attribution that the data require; empty for data that do not come from OpenStreetMap.
    attribution: &'static str,
}

/// Numbers of objects added to a scenario.
pub(super) struct Counts {
    pub(super) ways: usize,
    pub(super) signals: usize,
    /// Number of junctions and crossings with signals.
    pub(super) controllers: usize,
    /// Number of signals that could not be assigned to a road of the scenario.
    pub(super) signals_unassigned: usize,
    /// Number of stop and give-way signs at junctions.
    pub(super) signs: usize,
    /// Number of mini roundabouts mapped as a single node.
    pub(super) mini_roundabouts: usize,
    /// Number of turning circles at the ends of streets.
    pub(super) turning_circles: usize,
    /// Number of pedestrian crossings assigned to an arm. The next field counts the crossings that
    /// belong to no arm.
    pub(super) crossings: usize,
    pub(super) crossings_unassigned: usize,
    /// Carriageways that were moved apart.
    pub(super) moved: Vec<MovedCarriageway>,
}

/// Cuts the drivable ways into pieces.
pub(super) fn build(
    elements: &Elements,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<Built, ImportError> {
    let (elements, area) = &away_from_antimeridian(elements, options.clip);
    let mut clipper = Clipper::new(elements, *area);
    let drivable = drivable_runs(&mut clipper, warnings);
    let (runs, mut places) = (drivable.runs, clipper.places);
    if runs.is_empty() {
        let hint = if area.is_some() {
            " inside the box"
        } else {
            ""
        };
        return Err(ImportError::NoRoads(hint));
    }
    // Signals are handled last, because they are assigned to junctions, which have to be known. A signal that
    // becomes a separate node is another place at which ways are cut.
    let mut cuts = cut_nodes(&runs);
    cuts.extend(runs.iter().flat_map(|run| sharp_nodes(run, &places)));
    let signals = place_signals(&runs, &places, &mut cuts);
    let mut on_ways: BTreeSet<i64> = runs
        .iter()
        .flat_map(|run| run.nodes.iter().copied())
        .collect();
    cuts.extend(crossings::alone(&runs, &places, &cuts));
    trams::warn(elements, &runs, &places, warnings);
    warn_of_signals_off_roads(elements, &places, warnings);
    let mut pieces = cut_runs(&runs, &cuts, &places, warnings);
    leave_out_crowded(&mut pieces, warnings);
    if pieces.is_empty() {
        return Err(ImportError::NoRoads(" of non-zero length"));
    }
    let mut styles = drivable.styles;
    let graph = split_arms::Graph {
        pieces: &mut pieces,
        styles: &mut styles,
        places: &mut places,
    };
    let joined = split_arms::join(graph, &signals.carriers, warnings);
    joined.renew(&mut on_ways);
    Ok(Built {
        pieces,
        styles,
        places,
        joined_ways: joined.ways,
        signals,
        on_ways,
        way_count: drivable.way_count,
        attribution: match elements.is_openstreetmap() {
            true => ATTRIBUTION,
            false => "",
        },
    })
}

/// The ways that motor vehicles may use, before they are cut.
struct Drivable {
    runs: Vec<Piece>,
    styles: Vec<WayStyle>,
    /// Number of ways with at least one run.
    way_count: usize,
}

/// Returns the runs of all drivable ways, each in the direction of its future road.
fn drivable_runs(clipper: &mut Clipper<'_>, warnings: &mut Warnings) -> Drivable {
    let (mut runs, mut styles, mut way_count) = (Vec::new(), Vec::new(), 0);
    let elements = clipper.elements;
    for way in &elements.ways {
        let style = match tags::style(&way.tags) {
            Ok(style) => style,
            Err(reason) => {
                warnings.add(reason, format!("way {}", way.id));
                continue;
            }
        };
        let lists = clipper.runs_of(way, warnings);
        if lists.is_empty() {
            continue;
        }
        way_count += 1;
        for reason in &style.notes {
            warnings.add(*reason, format!("way {}", way.id));
        }
        let reversed = style.reversed;
        let kind = way.tags.get("junction").map(String::as_str);
        let is_ring = matches!(kind, Some("roundabout" | "circular"));
        runs.extend(lists.into_iter().map(|mut nodes| {
            // For `oneway=-1`, the tags were read as a one-way road along its line, so the nodes are
            // reversed.
            if reversed {
                nodes.reverse();
            }
            Piece {
                way: way.id,
                style: styles.len(),
                nodes,
                is_reversed: reversed,
                is_ring,
                begins: true,
                ends: true,
            }
        }));
        styles.push(style);
    }
    begin_rings_at_junctions(&mut runs);
    Drivable {
        runs,
        styles,
        way_count,
    }
}

/// Makes closed rings begin at a node where another way meets them. Ways are cut at their ends, but
/// the node where a mapper began to draw a ring has no meaning.
fn begin_rings_at_junctions(runs: &mut [Piece]) {
    let mut ways_at: BTreeMap<i64, usize> = BTreeMap::new();
    for run in runs.iter() {
        for &node in run.nodes.iter().collect::<BTreeSet<_>>() {
            *ways_at.entry(node).or_default() += 1;
        }
    }
    for run in runs.iter_mut().filter(|run| run.is_ring) {
        let nodes = &mut run.nodes;
        let last = nodes.len() - 1;
        let is_junction = |&i: &usize| ways_at[&nodes[i]] > 1;
        if nodes[0] == nodes[last]
            && let Some(first) = (0..last).find(is_junction)
        {
            nodes.truncate(last);
            nodes.rotate_left(first);
            nodes.push(nodes[0]);
        }
    }
}

fn warn_of_signals_off_roads(
    elements: &Elements,
    places: &BTreeMap<i64, OsmNode>,
    warnings: &mut Warnings,
) {
    let is_signal = |node: &OsmNode| node.sign.kind == Some(SignKind::Signals);
    let signals = elements.nodes.iter().filter(|(_, node)| is_signal(node));
    for (id, _) in signals.filter(|(id, _)| !places.contains_key(*id)) {
        let reason = "signals not on a drivable way";
        warnings.add(reason, format!("node {id}"));
    }
}

/// Returns the nodes where runs are cut. These are the ends of runs, nodes shared by two runs, and
/// nodes that a run passes twice.
fn cut_nodes(runs: &[Piece]) -> BTreeSet<i64> {
    let mut seen: BTreeMap<i64, usize> = BTreeMap::new();
    for run in runs {
        let last = run.nodes.len() - 1;
        for (i, &node) in run.nodes.iter().enumerate() {
            // Ends count twice. Junctions in OpenStreetMap are nodes that ways share. Lines that only cross
            // in plan view (bridges) share no node. A node inside one way and at the end of another counts 1
            // + 2, a node at the ends of two ways counts 4, and a node that a single way passes counts 1 and
            // is only a vertex.
            *seen.entry(node).or_default() += if i == 0 || i == last { 2 } else { 1 };
        }
    }
    seen.into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(node, _)| node)
        .collect()
}

/// Returns the inner nodes of a run where it turns sharply.
fn sharp_nodes(run: &Piece, places: &BTreeMap<i64, OsmNode>) -> Vec<i64> {
    // For angles, any projection near the run is accurate enough. The centre of the data is not known yet.
    let first = &places[&run.nodes[0]];
    let projection = LocalProjection::new(first.latitude, first.longitude);
    let point = |node: &i64| {
        let place = &places[node];
        projection.to_world(place.latitude, place.longitude)
    };
    let is_sharp = |corner: &&[i64]| {
        let [a, b, c] = [point(&corner[0]), point(&corner[1]), point(&corner[2])];
        (b - a).angle_to(c - b).abs() > SHARP_TURN
    };
    run.nodes
        .windows(3)
        .filter(is_sharp)
        .map(|corner| corner[1])
        .collect()
}

/// Cuts runs into pieces at the cut nodes. Pieces that cannot become roads are left out with a
/// warning.
fn cut_runs(
    runs: &[Piece],
    cuts: &BTreeSet<i64>,
    places: &BTreeMap<i64, OsmNode>,
    warnings: &mut Warnings,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for run in runs {
        // Both ends of a run are cut nodes, so every node is on a stretch between two cut nodes.
        let mut start = 0;
        for i in 1..run.nodes.len() {
            if cuts.contains(&run.nodes[i]) {
                match stretch(&run.nodes[start..=i], places) {
                    Ok(parts) => {
                        let count = parts.len();
                        pieces.extend(parts.into_iter().enumerate().map(|(part, nodes)| Piece {
                            nodes: nodes.to_vec(),
                            begins: start == 0 && part == 0,
                            ends: i + 1 == run.nodes.len() && part + 1 == count,
                            ..*run
                        }));
                    }
                    Err(reason) => warnings.add(reason, format!("way {}", run.way)),
                }
                start = i;
            }
        }
    }
    pieces
}

/// Creates one or two roads from the nodes between two cuts, or returns the reason why that is impossible.
fn stretch<'a>(
    nodes: &'a [i64],
    places: &BTreeMap<i64, OsmNode>,
) -> Result<Vec<&'a [i64]>, &'static str> {
    let length: f64 = nodes
        .windows(2)
        .map(|pair| great_circle_distance(&places[&pair[0]], &places[&pair[1]]))
        .sum();
    let is_loop = nodes[0] == nodes[nodes.len() - 1];
    if length < MIN_LENGTH {
        Err("stretches shorter than 5 cm")
    } else if !is_loop {
        Ok(vec![nodes])
    } else if nodes.len() > 3 {
        // A loop would start and end at the same junction, so it is cut in the middle. A turning circle a b c
        // d a at the end of a street becomes the two roads a b c and c d a.
        let middle = nodes.len() / 2;
        Ok(vec![&nodes[..=middle], &nodes[middle..]])
    } else {
        // A line that returns to its start.
        Err("loops with only two points")
    }
}

/// Leaves out pieces at nodes with too many roads.
fn leave_out_crowded(pieces: &mut Vec<Piece>, warnings: &mut Warnings) {
    let mut ends: BTreeMap<i64, usize> = BTreeMap::new();
    pieces.retain(|piece| {
        let both = [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]];
        let fits = both
            .iter()
            .all(|node| ends.get(node) < Some(&MAX_ROAD_ENDS));
        if fits {
            for node in both {
                *ends.entry(node).or_default() += 1;
            }
        } else {
            warnings.add(
                format!("roads at a node that already has {MAX_ROAD_ENDS} road ends"),
                format!("way {}", piece.way),
            );
        }
        fits
    });
}

impl Built {
    /// Returns the ways of a piece. Only a piece that replaces a split arm has several.
    pub(super) fn ways_of(&self, index: usize) -> BTreeSet<i64> {
        let joined = self.joined_ways.get(&index);
        joined.map_or_else(|| BTreeSet::from([self.pieces[index].way]), Clone::clone)
    }

    /// Builds the scenario, and counts its objects.
    pub(super) fn into_scenario(
        self,
        options: &ImportOptions,
        restrictions: &Found,
        warnings: &mut Warnings,
    ) -> Result<(Scenario, Counts), ImportError> {
        let centre = self.centre();
        let country = (options.country.clone()).unwrap_or_else(|| country_of(centre.0, centre.1));
        let side = options.driving_side.unwrap_or_else(|| side_of(&country));
        let projection = LocalProjection::new(centre.0, centre.1);
        let mut scenario = Scenario::new(&options.name);
        scenario.apply(Edit::About(Box::new(About {
            name: options.name.clone(),
            description: "Imported from OpenStreetMap.".into(),
            attribution: self.attribution.into(),
            driving_side: side,
            country,
            origin: Some(GeoOrigin {
                latitude_deg: centre.0.into(),
                longitude_deg: centre.1.into(),
            }),
        })))?;
        // Nodes are added before roads, because the scenario rejects a road without nodes.
        let ids = self.node_ids();
        let signs = place_signs(&self.pieces, &self.places);
        let minis = minis::place(&self.pieces, &self.places, &self.on_ways, side, warnings);
        let crossings = crossings::place_crossings(&self.pieces, &self.places, &self.on_ways);
        let majors = self.majors(|node| minis.contains(&node) || signs.decided.contains_key(&node));
        for (osm, id) in &ids {
            let mut node = Node::at(self.world(&projection, *osm));
            if self.signals.carriers.contains(osm) {
                node.rules.control = Some(Control::Signals);
                // The data contain the positions of signals but not their plans. Signals in towns are usually
                // actuated.
                node.rules.plan = Some(SignalPlan {
                    mode: SignalMode::Actuated,
                    ..SignalPlan::default()
                });
            } else if minis.contains(osm) {
                node.rules.control = Some(Control::MiniRoundabout);
            } else if let Some((control, major)) = signs.decided.get(osm) {
                node.rules.control = Some(*control);
                node.rules.major.clone_from(major);
            } else if let Some(major) = majors.get(osm) {
                node.rules.control = Some(Control::Priority);
                node.rules.major.clone_from(major);
            }
            let over = crossings.over.get(osm).into_iter().flatten();
            node.rules.crossings = over.map(|&road| CrossingRule::over(road)).collect();
            node.rules.restrictions = restrictions.at.get(osm).cloned().unwrap_or_default();
            node.rules.via_restrictions = restrictions.via.get(osm).cloned().unwrap_or_default();
            node.rules.timed_restrictions =
                restrictions.timed.get(osm).cloned().unwrap_or_default();
            scenario.apply(Edit::Node(*id, Some(node)))?;
        }
        let mut roads = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let (road, widened) = self.road(piece, &projection, &ids, side)?;
            roads.push(road);
            for _ in 0..widened {
                warnings.add(
                    "bends too tight for the width of their road (rounded, at most 1.5 m away from \
                     the data)",
                    format!("way {}", piece.way),
                );
            }
        }
        let is_street = |index: usize| !self.pieces[index].is_ring;
        let carriageways::Separated { moved, left } =
            carriageways::separate(&mut roads, side, is_street);
        for &(index, by) in &moved {
            warnings.add(
                "carriageways too close together for their lanes (moved apart)",
                format!("way {} by {by:.1} m", self.pieces[index].way),
            );
        }
        for index in left {
            warnings.add(
                "carriageways that still overlap, because there is not enough room between their lines",
                format!("way {}", self.pieces[index].way),
            );
        }
        for index in merges::align(&mut roads, side, &self.merging()) {
            warnings.add(
                "merging lanes (merge_to_left, merge_to_right) that do not end at the next road",
                format!("way {}", self.pieces[index].way),
            );
        }
        let turning_circles = turning_circles::part_lanes(&mut roads, &self.pieces, &self.places);
        let moved = moved.into_iter().map(|(index, by)| MovedCarriageway {
            way: self.pieces[index].way,
            road: road_id(index),
            by,
        });
        let moved = moved.collect();
        for (index, road) in roads.into_iter().enumerate() {
            scenario.apply(Edit::Road(road_id(index), Some(Box::new(road))))?;
        }
        let nodes: BTreeSet<i64> = ids.keys().copied().collect();
        let counts = Counts {
            ways: self.way_count,
            signals: self.signals.count,
            controllers: self.signals.carriers.intersection(&nodes).count(),
            signals_unassigned: self.signals.carriers.difference(&nodes).count(),
            signs: signs.count,
            mini_roundabouts: minis.len(),
            turning_circles,
            crossings: crossings.count,
            crossings_unassigned: crossings.unassigned,
            moved,
        };
        Ok((scenario, counts))
    }

    /// Returns the lanes that end because they merge.
    fn merging(&self) -> Vec<Merging> {
        let mut merging = Vec::new();
        for (road, piece) in self.pieces.iter().enumerate() {
            let ends = [(piece.begins, RoadEnd::Start), (piece.ends, RoadEnd::End)];
            for (is_end_of_way, end) in ends {
                let lanes = self.styles[piece.style].turn_lanes.ending_at(end);
                if is_end_of_way && lanes.count() > 0 {
                    merging.push(Merging { road, end, lanes });
                }
            }
        }
        merging
    }

    /// Returns the major roads of nodes where main streets of several ranks meet without signals or signs.
    fn majors(&self, has_sign: impl Fn(i64) -> bool) -> BTreeMap<i64, Vec<RoadId>> {
        let standing = |piece: &Piece| {
            let style = &self.styles[piece.style];
            let mut backward = style.section.backward.iter();
            Standing {
                rank: style.rank,
                is_above: style.class > RoadClass::Ramp,
                is_two_way: backward.any(|(kind, _)| kind.is_drivable()),
            }
        };
        let is_decided = |node| self.signals.carriers.contains(&node) || has_sign(node);
        ranks::majors(&self.pieces, &self.places, standing, is_decided)
    }

    /// Returns the middle of the data in degrees (latitude, longitude).
    fn centre(&self) -> (f64, f64) {
        let range = |value: fn(&OsmNode) -> f64| {
            let values = self.places.values().map(value);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
                (l.min(v), h.max(v))
            })
        };
        let (south, north) = range(|node| node.latitude);
        let (west, east) = range(|node| node.longitude);
        // Rounded, so that the origin is readable and small changes of the data do not change it.
        let rounded = |v: f64| (v * 1e4).round() / 1e4;
        let longitude = rounded(0.5 * (west + east));
        let longitude = if longitude > 180.0 {
            longitude - 360.0
        } else {
            longitude
        };
        (rounded(0.5 * (south + north)), longitude)
    }

    fn world(&self, projection: &LocalProjection, node: i64) -> DVec2 {
        let place = &self.places[&node];
        let point = projection.to_world(place.latitude, place.longitude);
        // Millimetres are more precise than any survey.
        (point * 1e3).round() / 1e3
    }

    /// Returns the node ids in the order in which pieces use them.
    fn node_ids(&self) -> BTreeMap<i64, NodeId> {
        let mut ids = BTreeMap::new();
        for piece in &self.pieces {
            for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
                let next = NodeId(ids.len() as u32 + 1);
                ids.entry(node).or_insert(next);
            }
        }
        ids
    }

    /// Returns the road of a piece, and the number of its bends that were widened.
    fn road(
        &self,
        piece: &Piece,
        projection: &LocalProjection,
        ids: &BTreeMap<i64, NodeId>,
        side: DrivingSide,
    ) -> Result<(Road, usize), ImportError> {
        let style = &self.styles[piece.style];
        let points: Vec<_> = piece
            .nodes
            .iter()
            .map(|&n| self.world(projection, n))
            .collect();
        // The data contain a polyline. Each inner vertex b becomes an arc with a radius of at most 40 m that
        // passes within 15 cm of it. The ends stay exact, so that roads meet at their nodes.
        //
        //     a --------.  b               A turn of 10 degrees gets a radius of 39 m, one of
        //                ` .               20 degrees 9.7 m.
        //                    ` c
        let failed = |error| ImportError::Geometry {
            way: piece.way,
            error,
        };
        let reference_line = fillet(&points, FILLET).map_err(failed)?;
        let (mut lane_offset, mut lanes) = style.section.lanes(side);
        if let Some(placement) = style.placement.filter(|_| !piece.is_ring) {
            lane_offset = vec![Poly3::constant(placement.lane_offset(&style.section, side))];
        }
        style.bus_lanes.apply(&mut lanes, side);
        (style.turn_lanes).apply(&mut lanes, side, piece.begins, piece.ends);
        style.change_lanes.apply(&mut lanes, side);
        let mut road = Road {
            from: ids[&piece.nodes[0]],
            to: ids[&piece.nodes[piece.nodes.len() - 1]],
            name: style.name.clone(),
            class: style.class,
            layer: style.layer,
            access: style.access,
            speed_limit: style.speed_limit.into(),
            reference_line,
            lane_offset,
            lane_sections: vec![lanes],
        };
        // All lanes have constant widths.
        let (right, left) = road.edges(0.0);
        let smallest = SmallestRadii {
            left: left + BEND_MARGIN,
            right: BEND_MARGIN - right,
            miss: BEND_MISS,
        };
        let widened = fillet_widened(&points, FILLET, smallest).map_err(failed)?;
        road.reference_line = widened.line;
        Ok((road, widened.count))
    }
}

/// Returns the id of the road that a piece becomes.
pub(super) fn road_id(index: usize) -> RoadId {
    RoadId(index as u32 + 1)
}

/// Countries and territories with left-hand traffic (ISO 3166-1).
const LEFT_HAND: [&str; 76] = [
    "AG", "AI", "AU", "BB", "BD", "BM", "BN", "BS", "BT", "BW", "CC", "CK", "CX", "CY", "DM", "FJ",
    "FK", "GB", "GD", "GG", "GS", "GY", "HK", "ID", "IE", "IM", "IN", "JE", "JM", "JP", "KE", "KI",
    "KN", "KY", "LC", "LK", "LS", "MO", "MS", "MT", "MU", "MV", "MW", "MY", "MZ", "NA", "NF", "NP",
    "NR", "NU", "NZ", "PG", "PK", "PN", "SB", "SC", "SG", "SH", "SR", "SZ", "TC", "TH", "TK", "TL",
    "TO", "TT", "TV", "TZ", "UG", "VC", "VG", "VI", "WS", "ZA", "ZM", "ZW",
];

/// Boundaries of all countries. They are part of the program, so that an import needs no server and gives the
/// same result everywhere. They are parsed only once, because that takes longer than a small import.
static BOUNDARIES: LazyLock<Option<CountryBoundaries>> =
    LazyLock::new(|| CountryBoundaries::from_reader(BOUNDARIES_ODBL_360X180).ok());

/// Returns the ISO 3166-1 alpha-2 code of the country that contains a position; empty at sea.
fn country_of(latitude: f64, longitude: f64) -> String {
    let (Some(boundaries), Ok(place)) = (&*BOUNDARIES, LatLon::new(latitude, longitude)) else {
        return String::new();
    };
    // Parts of countries also have codes, such as "US-NY", and overseas territories have both their own code
    // and that of the country. Smaller areas come first.
    let ids = boundaries.ids(place);
    let country = ids.iter().find(|id| id.len() == 2);
    country.map_or_else(String::new, |id| (*id).to_owned())
}

/// Returns the driving side of a country; the default is right-hand traffic.
fn side_of(country: &str) -> DrivingSide {
    match LEFT_HAND.contains(&country) {
        true => DrivingSide::Left,
        false => DrivingSide::Right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_tells_the_country_and_the_driving_side() {
        let places = [
            ((53.34, -6.26), "IE", DrivingSide::Left),
            ((35.68, 139.69), "JP", DrivingSide::Left),
            ((22.28, 114.16), "HK", DrivingSide::Left),
            ((48.85, 2.35), "FR", DrivingSide::Right),
            ((40.71, -74.0), "US", DrivingSide::Right),
            ((18.45, -66.07), "PR", DrivingSide::Right),
            ((-40.0, -130.0), "", DrivingSide::Right),
            ((f64::NAN, 0.0), "", DrivingSide::Right),
        ];
        for ((latitude, longitude), country, side) in places {
            assert_eq!(country_of(latitude, longitude), country);
            assert_eq!(side_of(country), side, "{country}");
        }
    }
}

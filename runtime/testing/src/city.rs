//! A small fictitious city as an OpenStreetMap file.
//!
//! It replaces real extracts where these are not available, and contains the same kinds of objects: signals,
//! a roundabout and a mini roundabout, one-way streets, a dual carriageway whose crossings merge, turn
//! restrictions, a bridge, signs, footpaths, private yards, houses, a park with a lake, and trees.
//!
//! ```text
//!   y 600 ──┬────┬────┬────┬────┬──   k0 .. k4: avenues from south to north, x = 0, 150 .. 600
//!           │    │    │    │    │     s0 .. s4: streets from west to east,  y = 0, 150 .. 600
//!   y 450 ──┼────O────┼────┼────┼──   O: roundabout, at k1/s3
//!           │    │    │    │    │     =: dual carriageway along s2, two lanes each way
//!   y 300 ==╪====╪====╪====╪====╪==   bridge: from k0/s0.5 over k1 to k2
//!           │    │    │    │    │
//!   y 150 ──┼────┼────┼────┼────┼──
//!           ├──bridge──┤   │    │
//!   y 0   ──┴────┴────┴────┴────┴──
//! ```

use std::fmt::Write;

/// Number of nodes with signals in the city. Each of them is a separate crossing.
pub const CITY_SIGNALS: usize = 7;
/// Number of turn restrictions in the city that can be imported.
pub const CITY_RESTRICTIONS: usize = 4;

/// South-west corner in degrees. It is in Dublin, where traffic keeps left.
const ORIGIN: (f64, f64) = (53.34, -6.27);
/// Metres per degree of latitude, and metres per degree of longitude at this latitude.
const METRES: (f64, f64) = (111_195.0, 66_400.0);
/// Distance between neighbouring streets, m.
const BLOCK: f64 = 150.0;
/// Number of streets in each direction.
const STREETS: usize = 5;
/// Length of streets beyond the outermost crossing, m.
const EDGE: f64 = 120.0;
/// Distance between the carriageways of the wide street, m.
const APART: f64 = 14.0;
/// Index of the street with two carriageways.
const WIDE: usize = 2;
/// The crossing with the roundabout, as avenue and street.
const ROUNDABOUT: (usize, usize) = (1, 3);
/// Radius of the roundabout, m.
const RADIUS: f64 = 18.0;
/// Sine of 45 degrees, which gives the positions of the roundabout's corners.
const DIAGONAL: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A position, in metres east and north of the south-west corner.
#[derive(Debug, Clone, Copy)]
struct At(f64, f64);

/// The elements written so far. Ids are consecutive across all kinds of elements.
#[derive(Debug, Default)]
struct File {
    nodes: String,
    ways: String,
    relations: String,
    last: i64,
}

/// A crossing of an avenue with a street, with the nodes through which each of the two passes.
#[derive(Debug, Clone)]
struct Crossing {
    /// Nodes of the avenue from south to north. There are two of them at the wide street and at the
    /// roundabout.
    along_avenue: Vec<i64>,
    /// Nodes of the westbound and of the eastbound carriageway. On other streets, nodes from west to east.
    along_street: Vec<i64>,
}

impl File {
    fn id(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    fn node(&mut self, at: At, tags: &str) -> i64 {
        let id = self.id();
        let latitude = ORIGIN.0 + at.1 / METRES.0;
        let longitude = ORIGIN.1 + at.0 / METRES.1;
        let tags = tagged(tags);
        let _ = writeln!(
            self.nodes,
            r#"<node id="{id}" lat="{latitude:.7}" lon="{longitude:.7}">{tags}</node>"#
        );
        id
    }

    fn way(&mut self, nodes: &[i64], tags: &str) -> i64 {
        let id = self.id();
        let nodes: String = nodes
            .iter()
            .map(|node| format!(r#"<nd ref="{node}"/>"#))
            .collect();
        let tags = tagged(tags);
        let _ = writeln!(self.ways, r#"<way id="{id}">{nodes}{tags}</way>"#);
        id
    }

    fn area(&mut self, corners: &[At], tags: &str) -> i64 {
        let mut nodes: Vec<i64> = corners.iter().map(|at| self.node(*at, "")).collect();
        nodes.extend(nodes.first().copied());
        self.way(&nodes, tags)
    }

    fn relation(&mut self, members: &[(&str, i64, &str)], tags: &str) {
        let id = self.id();
        let members: String = members
            .iter()
            .map(|(kind, member, role)| {
                format!(r#"<member type="{kind}" ref="{member}" role="{role}"/>"#)
            })
            .collect();
        let tags = tagged(tags);
        let _ = writeln!(
            self.relations,
            r#"<relation id="{id}">{members}{tags}</relation>"#
        );
    }

    fn restriction(&mut self, kind: &str, from: i64, via: i64, to: i64) {
        let members = [
            ("way", from, "from"),
            ("node", via, "via"),
            ("way", to, "to"),
        ];
        self.relation(&members, &format!("type=restriction restriction={kind}"));
    }
}

/// Converts `key=value key=value` to tags. Underscores in names stand for spaces.
fn tagged(tags: &str) -> String {
    let pairs = tags
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| {
            let value = if key == "name" {
                value.replace('_', " ")
            } else {
                value.to_owned()
            };
            format!(r#"<tag k="{key}" v="{value}"/>"#)
        })
        .collect()
}

fn rectangle(west: f64, south: f64, width: f64, height: f64) -> [At; 4] {
    [
        At(west, south),
        At(west + width, south),
        At(west + width, south + height),
        At(west, south + height),
    ]
}

/// Returns the city as OSM XML. The text is the same every time.
#[must_use]
pub fn city() -> String {
    let mut file = File::default();
    let crossings = crossings(&mut file);
    let avenues = avenues(&mut file, &crossings);
    let streets = streets(&mut file, &crossings);
    restrictions(&mut file, &crossings, &avenues, &streets);
    bridge(&mut file, &crossings);
    back_streets(&mut file);
    land(&mut file);
    let File {
        nodes,
        ways,
        relations,
        ..
    } = file;
    format!("<?xml version=\"1.0\"?>\n<osm version=\"0.6\">\n{nodes}{ways}{relations}</osm>\n")
}

fn centre(avenue: usize, street: usize) -> At {
    At(avenue as f64 * BLOCK, street as f64 * BLOCK)
}

/// Returns the control of a crossing: signals along the second and the middle avenue, and signs elsewhere.
fn control(avenue: usize, street: usize) -> &'static str {
    match (avenue, street) {
        (2 | 3, 1 | 3) | (2, 4) => "highway=traffic_signals",
        (4, 1) => "highway=mini_roundabout",
        (4, 3) => "highway=stop stop=all",
        _ => "",
    }
}

/// Creates all crossings, indexed by avenue and then by street.
fn crossings(file: &mut File) -> Vec<Vec<Crossing>> {
    let mut of = |avenue: usize, street: usize| {
        let At(x, y) = centre(avenue, street);
        if (avenue, street) == ROUNDABOUT {
            return roundabout(file, At(x, y));
        }
        if street == WIDE {
            let signals = if avenue == 2 {
                "highway=traffic_signals"
            } else {
                ""
            };
            let south = file.node(At(x, y - APART / 2.0), signals);
            let north = file.node(At(x, y + APART / 2.0), signals);
            return Crossing {
                along_avenue: vec![south, north],
                along_street: vec![north, south],
            };
        }
        let node = file.node(At(x, y), control(avenue, street));
        Crossing {
            along_avenue: vec![node],
            along_street: vec![node],
        }
    };
    (0..STREETS)
        .map(|avenue| (0..STREETS).map(|street| of(avenue, street)).collect())
        .collect()
}

/// Creates a roundabout in which traffic circulates clockwise, as it does where traffic keeps left.
fn roundabout(file: &mut File, At(x, y): At) -> Crossing {
    let mut corner =
        |east: f64, north: f64| file.node(At(x + RADIUS * east, y + RADIUS * north), "");
    let (south, south_west) = (corner(0.0, -1.0), corner(-DIAGONAL, -DIAGONAL));
    let (west, north_west) = (corner(-1.0, 0.0), corner(-DIAGONAL, DIAGONAL));
    let (north, north_east) = (corner(0.0, 1.0), corner(DIAGONAL, DIAGONAL));
    let (east, south_east) = (corner(1.0, 0.0), corner(DIAGONAL, -DIAGONAL));
    let ring = [
        south, south_west, west, north_west, north, north_east, east, south_east, south,
    ];
    file.way(&ring, "highway=tertiary junction=roundabout name=Ring");
    Crossing {
        along_avenue: vec![south, north],
        along_street: vec![west, east],
    }
}

/// Draws a line through crossings. Each stretch of the line is a separate OSM way. Stretches inside a crossing
/// with separate OSM ways (the ring of a roundabout) are left out. Returns the ids of the stretches in order.
fn line(
    file: &mut File,
    start: At,
    stops: &[Vec<i64>],
    end: At,
    tags: &str,
    gap: Option<usize>,
) -> Vec<i64> {
    let mut last = file.node(start, "");
    let mut ways = Vec::new();
    for (number, stop) in stops.iter().enumerate() {
        let (Some(&first), Some(&beyond)) = (stop.first(), stop.last()) else {
            continue;
        };
        if gap == Some(number) {
            ways.push(file.way(&[last, first], tags));
        } else {
            let mut nodes = vec![last];
            nodes.extend(stop);
            ways.push(file.way(&nodes, tags));
        }
        last = beyond;
    }
    let end = file.node(end, "");
    ways.push(file.way(&[last, end], tags));
    ways
}

/// Draws the avenues. The second one is one-way to the south, the fourth one-way to the north, and the middle
/// avenue has four lanes.
fn avenues(file: &mut File, crossings: &[Vec<Crossing>]) -> Vec<Vec<i64>> {
    let far = (STREETS - 1) as f64 * BLOCK + EDGE;
    let mut all = Vec::new();
    for (number, own) in crossings.iter().enumerate() {
        let x = number as f64 * BLOCK;
        let stops: Vec<Vec<i64>> = own.iter().map(|c| c.along_avenue.clone()).collect();
        let kind = match number {
            2 => "highway=secondary lanes=4 maxspeed=50",
            3 => "highway=residential oneway=yes lanes=2",
            4 => "highway=tertiary lanes=2",
            _ => "highway=residential",
        };
        let tags = format!("{kind} name=Avenue_{number}");
        let gap = (number == ROUNDABOUT.0).then_some(ROUNDABOUT.1);
        all.push(line(file, At(x, -EDGE), &stops, At(x, far), &tags, gap));
    }
    all
}

/// Draws the streets. The middle one has two carriageways, and the first one is one-way to the east.
fn streets(file: &mut File, crossings: &[Vec<Crossing>]) -> Vec<Vec<i64>> {
    let far = (STREETS - 1) as f64 * BLOCK + EDGE;
    let mut all = Vec::new();
    for number in 0..STREETS {
        let y = number as f64 * BLOCK;
        let own: Vec<Vec<i64>> = crossings
            .iter()
            .map(|avenue| avenue[number].along_street.clone())
            .collect();
        let name = format!("name=Street_{number}");
        if number == WIDE {
            let tags = format!("highway=primary oneway=yes lanes=2 maxspeed=60 {name}");
            // Traffic keeps left, so the northern carriageway leads east.
            let eastbound: Vec<Vec<i64>> = own.iter().map(|pair| vec![pair[0]]).collect();
            let westbound: Vec<Vec<i64>> = own.iter().rev().map(|pair| vec![pair[1]]).collect();
            let (north, south) = (y + APART / 2.0, y - APART / 2.0);
            let mut ways = line(
                file,
                At(-EDGE, north),
                &eastbound,
                At(far, north),
                &tags,
                None,
            );
            ways.extend(line(
                file,
                At(far, south),
                &westbound,
                At(-EDGE, south),
                &tags,
                None,
            ));
            all.push(ways);
            continue;
        }
        let kind = match number {
            0 => "highway=residential oneway=yes",
            3 => "highway=tertiary",
            _ => "highway=residential",
        };
        let gap = (number == ROUNDABOUT.1).then_some(ROUNDABOUT.0);
        let tags = format!("{kind} {name}");
        all.push(line(file, At(-EDGE, y), &own, At(far, y), &tags, gap));
    }
    all
}

/// Adds turn restrictions. Stretch `n` of a street ends at crossing `n`, where stretch `n + 1` begins.
fn restrictions(
    file: &mut File,
    crossings: &[Vec<Crossing>],
    avenues: &[Vec<i64>],
    streets: &[Vec<i64>],
) {
    let via = |avenue: usize, street: usize| crossings[avenue][street].along_street[0];
    file.restriction("no_right_turn", avenues[2][1], via(2, 1), streets[1][3]);
    file.restriction("no_left_turn", avenues[2][1], via(2, 1), streets[1][2]);
    file.restriction("only_straight_on", streets[1][4], via(4, 1), streets[1][5]);
    file.restriction("no_u_turn", streets[4][2], via(2, 4), streets[4][2]);
    // A restriction without its target way, which the import reports and leaves out.
    let members = [("way", avenues[0][1], "from"), ("node", via(0, 1), "via")];
    file.relation(&members, "type=restriction restriction=no_left_turn");
}

/// Draws a street over the second avenue, with ramps that end at the first and the third avenue.
fn bridge(file: &mut File, crossings: &[Vec<Crossing>]) {
    let y = BLOCK / 2.0;
    let start = crossings[0][0].along_avenue[0];
    let end = crossings[2][1].along_avenue[0];
    let (west, east) = (
        file.node(At(BLOCK - 40.0, y - 8.0), ""),
        file.node(At(BLOCK + 40.0, y + 8.0), ""),
    );
    let low = file.node(At(50.0, y - 40.0), "");
    file.way(&[start, low, west], "highway=residential name=Ramp");
    file.way(
        &[west, east],
        "highway=residential bridge=yes layer=1 name=Bridge",
    );
    let high = file.node(At(BLOCK + 90.0, y + 35.0), "");
    file.way(&[east, high, end], "highway=residential name=Ramp");
}

/// Draws short streets near each other, a footpath, a private yard and a gate.
fn back_streets(file: &mut File) {
    // Two lanes leave a back street 7 m apart, so that their junctions merge.
    let at = |file: &mut File, x: f64, y: f64| file.node(At(x, y), "");
    for (number, y) in [(0, 500.0), (1, 540.0)] {
        let street: Vec<i64> = [660.0, 700.0, 707.0, 760.0]
            .map(|x| at(file, x, y))
            .to_vec();
        file.way(
            &street,
            &format!("highway=residential name=Back_street_{number}"),
        );
        let (up, down) = (at(file, 700.0, y + 18.0), at(file, 707.0, y - 18.0));
        file.way(&[street[1], up], "highway=service name=Mews");
        file.way(&[street[2], down], "highway=service name=Mews");
        let yard = at(file, 790.0, y);
        file.way(&[street[3], yard], "highway=service access=private");
        let path = at(file, 760.0, y + 30.0);
        file.way(&[street[3], path], "highway=footway");
    }
}

/// Adds rows of houses in most blocks, a school with several buildings, a park with a lake, and trees.
fn land(file: &mut File) {
    for avenue in 0..STREETS - 1 {
        for street in 0..STREETS - 1 {
            let At(x, y) = centre(avenue, street);
            if (avenue, street) == (3, 3) {
                let park = rectangle(x + 20.0, y + 20.0, BLOCK - 40.0, BLOCK - 40.0);
                file.area(&park, "leisure=park name=Park");
                file.area(&rectangle(x + 50.0, y + 50.0, 40.0, 30.0), "natural=water");
                for number in 0..6 {
                    file.node(
                        At(x + 25.0 + 18.0 * f64::from(number), y + 26.0),
                        "natural=tree",
                    );
                }
                continue;
            }
            // The bridge is in this block.
            if street == 0 && avenue < 2 {
                continue;
            }
            for house in 0..3 {
                let west = x + 22.0 + 36.0 * f64::from(house);
                let height = 3 + house;
                let tags = format!("building=house building:levels={height}");
                file.area(&rectangle(west, y + 24.0, 30.0, 14.0), &tags);
                file.area(&rectangle(west, y + BLOCK - 40.0, 30.0, 14.0), &tags);
            }
        }
    }
    // A school around a yard, and a house that stands in a street.
    let outer = file.area(&rectangle(640.0, 20.0, 60.0, 60.0), "");
    let inner = file.area(&rectangle(655.0, 35.0, 30.0, 30.0), "");
    let members = [("way", outer, "outer"), ("way", inner, "inner")];
    file.relation(&members, "type=multipolygon building=school name=School");
    file.area(&rectangle(225.0, 146.0, 12.0, 12.0), "building=house");
}

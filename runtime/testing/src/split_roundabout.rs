//! OpenStreetMap data of a fictitious roundabout whose arms are split around islands.

/// Metres in a degree of latitude, and in a degree of longitude at this latitude.
const METRES: (f64, f64) = (111_195.0, 69_070.0);
/// Position of the roundabout, degrees: in England, where traffic keeps left.
const CENTRE: (f64, f64) = (51.6, -1.2);
/// Number of nodes in a ring.
const RING_NODES: usize = 24;
/// Cosines of 0, 15, .. 90 degrees.
const COSINES: [f64; 7] = [
    1.0,
    0.965_925_826,
    0.866_025_404,
    std::f64::consts::FRAC_1_SQRT_2,
    0.5,
    0.258_819_045,
    0.0,
];

/// A roundabout with arms that are split into an entry and an exit.
#[derive(Debug, Clone, Copy)]
pub struct SplitRoundabout {
    /// Radius of the ring, m; `None` for a mini roundabout, which is a single node.
    pub ring: Option<f64>,
    /// Distance from the roundabout at which each arm splits into entry and exit, m.
    pub fork: f64,
    /// Further elements, such as relations. Arm `i` in 0, 1, 2 has the OSM ways `10 i + 1` (stem), `10 i + 2`
    /// (entry) and `10 i + 3` (exit), and meets the roundabout in node 1, or in node `100 + 8 i` of a ring.
    pub more: &'static str,
}

impl SplitRoundabout {
    /// Returns the data as XML. Three arms lead to the west, north and east.
    pub fn osm(&self) -> String {
        let mut text = String::from("<osm version=\"0.6\">\n");
        let radius = self.ring.unwrap_or(0.0);
        if self.ring.is_none() {
            text += &node(1, [0.0, 0.0], "<tag k=\"highway\" v=\"mini_roundabout\"/>");
        }
        for i in 0..RING_NODES * usize::from(self.ring.is_some()) {
            text += &node(100 + i, scaled(direction(i), radius), "");
        }
        let mut ways = String::new();
        for arm in 0..3 {
            let (at, joint) = match self.ring {
                Some(_) => (8 * arm, 100 + 8 * arm),
                None => (6 * arm, 1),
            };
            let (out, first) = (direction(at), 10 * (arm + 1));
            // Seen from the roundabout, vehicles leave on the left and arrive on the right.
            let beside = |along: f64, left: f64| {
                let [x, y] = scaled(out, radius + along);
                [x - left * out[1], y + left * out[0]]
            };
            text += &node(first, beside(160.0, 0.0), "");
            text += &node(first + 1, beside(self.fork, 0.0), "");
            text += &node(first + 2, beside(0.27 * self.fork, -4.0), "");
            text += &node(first + 3, beside(0.27 * self.fork, 4.0), "");
            let street = "<tag k=\"highway\" v=\"secondary\"/>";
            let one_way = "<tag k=\"highway\" v=\"secondary\"/><tag k=\"oneway\" v=\"yes\"/>";
            ways += &way(10 * arm + 1, &[first, first + 1], street);
            ways += &way(10 * arm + 2, &[first + 1, first + 2, joint], one_way);
            ways += &way(10 * arm + 3, &[joint, first + 3, first + 1], one_way);
        }
        if self.ring.is_some() {
            let ring: Vec<usize> = (0..=RING_NODES).map(|i| 100 + i % RING_NODES).collect();
            let tags = "<tag k=\"highway\" v=\"secondary\"/><tag k=\"junction\" v=\"roundabout\"/>";
            ways += &way(90, &ring, tags);
        }
        text + &ways + self.more + "</osm>"
    }
}

/// Returns the direction from the centre of the ring to node `i`. The first node is in the west,
/// and the others follow clockwise, which is the direction of traffic that keeps left.
fn direction(i: usize) -> [f64; 2] {
    let cosine = |i: usize| match i % RING_NODES {
        i @ 0..=6 => COSINES[i],
        i @ 7..=12 => -COSINES[12 - i],
        i @ 13..=18 => -COSINES[i - 12],
        i => COSINES[RING_NODES - i],
    };
    [-cosine(i), cosine(i + 18)]
}

fn scaled([x, y]: [f64; 2], by: f64) -> [f64; 2] {
    [by * x, by * y]
}

pub(crate) fn node(id: usize, [x, y]: [f64; 2], tags: &str) -> String {
    let (latitude, longitude) = (CENTRE.0 + y / METRES.0, CENTRE.1 + x / METRES.1);
    format!("<node id=\"{id}\" lat=\"{latitude:.8}\" lon=\"{longitude:.8}\">{tags}</node>\n")
}

pub(crate) fn way(id: usize, nodes: &[usize], tags: &str) -> String {
    let nodes: String = nodes.iter().map(|n| format!("<nd ref=\"{n}\"/>")).collect();
    format!("<way id=\"{id}\">{nodes}{tags}</way>\n")
}

/// A street at a ring. The number is the node of the ring, in steps of 15 degrees, clockwise from the west.
#[derive(Debug, Clone, Copy)]
pub enum RingArm {
    /// A two-way street with a lane in each direction.
    Street(usize),
    /// A one-way street that leads to the ring.
    Entry(usize),
    /// A one-way street that leads away from the ring.
    Exit(usize),
}

/// Returns OpenStreetMap data of a roundabout with a ring of the given radius, m, which starts between two arms.
pub fn ring(radius: f64, arms: &[RingArm]) -> String {
    let mut text = String::from("<osm version=\"0.6\">\n");
    for i in 0..RING_NODES {
        text += &node(100 + i, scaled(direction(i), radius), "");
    }
    let tags = |lanes: &str| format!("<tag k=\"highway\" v=\"residential\"/>{lanes}");
    let street = tags("<tag k=\"lanes\" v=\"2\"/>");
    let one_way = tags("<tag k=\"oneway\" v=\"yes\"/><tag k=\"lanes\" v=\"1\"/>");
    let mut ways = String::new();
    for (number, &arm) in (1..).zip(arms) {
        let (RingArm::Street(at) | RingArm::Entry(at) | RingArm::Exit(at)) = arm;
        text += &node(number, scaled(direction(at), 200.0), "");
        let outwards = [100 + at, number];
        ways += &match arm {
            RingArm::Street(_) => way(number, &outwards, &street),
            RingArm::Exit(_) => way(number, &outwards, &one_way),
            RingArm::Entry(_) => way(number, &[number, 100 + at], &one_way),
        };
    }
    let first = 13;
    let round: Vec<usize> = (0..=RING_NODES)
        .map(|i| 100 + (first + i) % RING_NODES)
        .collect();
    let tags = tags("<tag k=\"junction\" v=\"roundabout\"/>");
    text + &ways + &way(99, &round, &tags) + "</osm>"
}

/// Returns OpenStreetMap data of a small roundabout with five two-way arms. The arms meet the ring at
/// irregular distances, so that some pieces of the ring are shorter than a car.
pub fn small_ring() -> String {
    ring(6.3, &[0, 7, 12, 15, 21].map(RingArm::Street))
}

//! Finds the cheapest chain of lines and arcs through samples by dynamic programming.
//!
//! ```text
//!   samples  0 . . . . 5 . . . . . 11 . . . 15
//!            |- line --|---- arc ---|- line -|
//!
//!   best(to) = min over from < to and both primitives of
//!              best(from) + penalty of the primitive + sum of squared distances / (1.2 tolerance)^2
//! ```
//!
//! A primitive may be used if it stays within the tolerance of every sample that it explains. The
//! penalty keeps the chain short: an additional line has to reduce the residuals by more than 6.
//! Running sums give fits of any range in constant time. Most of the time is spent on checking the
//! tolerance for the samples of a range.

use super::StrokeOptions;
use crate::polyline;
use glam::DVec2;

/// Cost of an additional line. Higher penalties give fewer and coarser primitives.
const LINE_PENALTY: f64 = 6.0;
/// Cost of an additional arc, which has one more parameter than a line.
const ARC_PENALTY: f64 = 8.0;
/// Scale of the residuals, as a multiple of the tolerance.
const SIGMA: f64 = 1.2;
/// Maximum radius of an arc, m. Above it, a line represents the same shape.
const MAX_RADIUS: f64 = 3000.0;
/// Minimum turn of an arc, rad. Below it, a line represents the same shape.
const MIN_TURN: f64 = 0.05;
/// After this number of consecutive starts without a fitting primitive, no further starts are
/// examined for an end. Starts are examined backwards from the end, so the ranges become longer.
/// Once a range is too long for any primitive, longer ranges rarely fit.
const MAX_REJECTED: usize = 12;
/// Maximum number of starts that are examined for an end.
const MAX_LOOK_BACK: usize = 400;

/// A stretch of samples represented by one primitive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    /// Index of the first sample. `to` is the index of the last one.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Curvature, 1/m; 0 for a line.
    pub(super) curvature: f64,
}

/// Sums over the samples up to an index, relative to the first sample. They allow fits of any range in
/// constant time.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: f64,
    p: DVec2,
    pp: DVec2,
    xy: f64,
    /// Sums of p |p|^2, |p|^2 and |p|^4.
    pz: DVec2,
    z: f64,
    zz: f64,
}

impl Sums {
    fn plus(&self, p: DVec2) -> Self {
        let z = p.length_squared();
        Self {
            n: self.n + 1.0,
            p: self.p + p,
            pp: self.pp + p * p,
            xy: self.xy + p.x * p.y,
            pz: self.pz + z * p,
            z: self.z + z,
            zz: self.zz + z * z,
        }
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            n: self.n - other.n,
            p: self.p - other.p,
            pp: self.pp - other.pp,
            xy: self.xy - other.xy,
            pz: self.pz - other.pz,
            z: self.z - other.z,
            zz: self.zz - other.zz,
        }
    }
}

/// A line, given by a point and a unit normal, or a circle.
#[derive(Debug, Clone, Copy)]
enum Primitive {
    Line { through: DVec2, normal: DVec2 },
    Circle { centre: DVec2, radius: f64 },
}

impl Primitive {
    fn distance(&self, p: DVec2) -> f64 {
        match *self {
            Self::Line { through, normal } => (p - through).dot(normal).abs(),
            Self::Circle { centre, radius } => ((p - centre).length() - radius).abs(),
        }
    }
}

/// Fits a total least-squares line. Returns it with its sum of squared distances.
fn line_of(s: &Sums) -> (Primitive, f64) {
    let mean = s.p / s.n;
    let (xx, yy) = (
        s.pp.x / s.n - mean.x * mean.x,
        s.pp.y / s.n - mean.y * mean.y,
    );
    let xy = s.xy / s.n - mean.x * mean.y;
    let half_gap = 0.5 * (xx - yy);
    let root = (half_gap * half_gap + xy * xy).sqrt();
    let largest = 0.5 * (xx + yy) + root;
    // The larger eigenvalue of the covariance of the samples is along the line. The smaller one,
    // the mean squared distance, is across it. The eigenvector of the larger one is computed from
    // the better-conditioned row.
    let direction = if half_gap >= 0.0 {
        DVec2::new(half_gap + root, xy)
    } else {
        DVec2::new(xy, root - half_gap)
    };
    let direction = direction.try_normalize().unwrap_or(DVec2::X);
    let squared = s.n * (xx + yy - largest).max(0.0);
    let line = Primitive::Line {
        through: mean,
        normal: direction.perp(),
    };
    (line, squared)
}

/// Fits the circle with the smallest algebraic distance ([Kasa 1976]). Returns it with its sum of
/// squared distances; `None` if the samples are collinear.
fn circle_of(s: &Sums) -> Option<(Primitive, f64)> {
    let mean = s.p / s.n;
    let mean_z = s.z / s.n;
    let (xx, yy) = (
        s.pp.x / s.n - mean.x * mean.x,
        s.pp.y / s.n - mean.y * mean.y,
    );
    let xy = s.xy / s.n - mean.x * mean.y;
    // The equation |p|^2 = 2 c.p + (r^2 - |c|^2) is linear in the centre and in the last term: the normal
    // equations are those of a plane fitted to z = |p|^2.
    let rhs = 0.5 * (s.pz / s.n - mean * mean_z);
    let det = xx * yy - xy * xy;
    // The determinant is the product of the eigenvalues of the covariance matrix, and xx + yy is their sum.
    // Their ratio is dimensionless: it measures how close the samples are to a line, whatever their extent.
    if det < 1e-9 * (xx + yy) * (xx + yy) {
        return None;
    }
    let centre = DVec2::new(rhs.x * yy - rhs.y * xy, rhs.y * xx - rhs.x * xy) / det;
    let radius_squared = mean_z - 2.0 * centre.dot(mean) + centre.length_squared();
    if radius_squared <= 0.0 {
        return None;
    }
    // |p - c|^2 - r^2 = (|p - c| - r)(|p - c| + r) is about 2 r times the distance from the circle.
    // The sum of (|p - c|^2 - r^2)^2 is therefore divided by 4 r^2 to get a sum of squared distances.
    let k = centre.length_squared() - radius_squared;
    let (cx, cy) = (centre.x, centre.y);
    let quartic =
        s.zz + 4.0 * (cx * cx * s.pp.x + cy * cy * s.pp.y + 2.0 * cx * cy * s.xy) + s.n * k * k
            - 4.0 * (cx * s.pz.x + cy * s.pz.y)
            + 2.0 * k * s.z
            - 4.0 * k * centre.dot(s.p);
    let squared = (quartic / (4.0 * radius_squared)).max(0.0);
    let circle = Primitive::Circle {
        centre,
        radius: radius_squared.sqrt(),
    };
    Some((circle, squared))
}

/// The cheapest chain for the samples up to and including a given sample.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    /// Start of the chain's last primitive.
    from: usize,
    /// Curvature of the chain's last primitive, 1/m.
    curvature: f64,
}

impl Best {
    /// Replaces the chain by another one if the other one costs less.
    fn improve(&mut self, cost: f64, from: usize, curvature: f64) {
        if cost < self.cost {
            *self = Self {
                cost,
                from,
                curvature,
            };
        }
    }
}

/// Returns the cheapest chain of primitives that stays within the tolerance. Costs of additional primitives
/// are multiplied by `penalty`.
pub(super) fn spans(samples: &[DVec2], options: &StrokeOptions, penalty: f64) -> Vec<Span> {
    // Coordinates are relative to the first sample, because sums of fourth powers of world coordinates would
    // have too few digits for a deviation of half a metre.
    let origin = samples[0];
    let local: Vec<DVec2> = samples.iter().map(|p| *p - origin).collect();
    let mut sums = vec![Sums::default()];
    for &p in &local {
        let next = sums[sums.len() - 1].plus(p);
        sums.push(next);
    }
    let mut best = vec![
        Best {
            cost: 0.0,
            from: 0,
            curvature: 0.0,
        };
        samples.len()
    ];
    // Two samples form a line without any residual, so every sample can be reached and every cost
    // is finite. Neighbouring spans share the sample at their joint.
    for to in 1..samples.len() {
        best[to].cost = f64::INFINITY;
        let mut rejected = 0;
        // Starts with the shortest range. Of several chains of equal cost, the first one is kept,
        // because only a lower cost replaces it.
        for from in (to.saturating_sub(MAX_LOOK_BACK)..to).rev() {
            let fits = column(&local, &sums, from, to, options, penalty, &mut best);
            rejected = if fits { 0 } else { rejected + 1 };
            if rejected > MAX_REJECTED {
                break;
            }
        }
    }
    merged(cheapest(&best), &local, &sums, options)
}

/// Traces the cheapest chain back from the last sample along the recorded choices.
fn cheapest(best: &[Best]) -> Vec<Span> {
    let mut chain = Vec::new();
    let mut to = best.len() - 1;
    while to > 0 {
        let Best {
            from, curvature, ..
        } = best[to];
        chain.push(Span {
            from,
            to,
            curvature,
        });
        to = from;
    }
    chain.reverse();
    chain
}

/// Joins neighbouring primitives of the same type if one primitive represents both within the
/// tolerance. Otherwise, a slow wobble of the hand would produce two lines.
fn merged(chain: Vec<Span>, local: &[DVec2], sums: &[Sums], options: &StrokeOptions) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::with_capacity(chain.len());
    for mut span in chain {
        while let Some(before) = merged.last() {
            let Some(joint) = joint(before, &span, local, sums, options) else {
                break;
            };
            // The result may also fit together with the previous span, so this is tried next.
            merged.pop();
            span = joint;
        }
        merged.push(span);
    }
    merged
}

fn joint(
    a: &Span,
    b: &Span,
    local: &[DVec2],
    sums: &[Sums],
    options: &StrokeOptions,
) -> Option<Span> {
    // Only spans of the same type are joined: a line and an arc, or a left and a right bend, stay separate.
    // `sums[i]` covers the first i samples, so both ends of the range are included.
    let range = sums[b.to + 1].minus(&sums[a.from]);
    let points = &local[a.from..=b.to];
    let (primitive, curvature) = if a.curvature == 0.0 && b.curvature == 0.0 {
        (line_of(&range).0, 0.0)
    } else if a.curvature * b.curvature > 0.0 {
        let circle = circle_of(&range)?.0;
        (circle, curvature_of(&circle, points, options)?)
    } else {
        return None;
    };
    let holds = points
        .iter()
        .all(|p| primitive.distance(*p) <= options.tolerance);
    holds.then_some(Span {
        from: a.from,
        to: b.to,
        curvature,
    })
}

/// Tries both primitives on one range. Returns whether at least one stays within the tolerance.
fn column(
    local: &[DVec2],
    sums: &[Sums],
    from: usize,
    to: usize,
    options: &StrokeOptions,
    penalty: f64,
    best: &mut [Best],
) -> bool {
    let range = sums[to + 1].minus(&sums[from]);
    let points = &local[from..=to];
    let sigma_squared = (SIGMA * options.tolerance) * (SIGMA * options.tolerance);
    let holds = |primitive: &Primitive| {
        points
            .iter()
            .all(|p| primitive.distance(*p) <= options.tolerance)
    };
    let mut fits = false;
    let (line, squared) = line_of(&range);
    let cost = best[from].cost + penalty * LINE_PENALTY + squared / sigma_squared;
    if holds(&line) {
        fits = true;
        best[to].improve(cost, from, 0.0);
    }
    // A circle through three points or fewer always fits.
    if points.len() < 4 {
        return fits;
    }
    if let Some((circle, squared)) = circle_of(&range)
        && let Some(curvature) = curvature_of(&circle, points, options)
    {
        let cost = best[from].cost + penalty * ARC_PENALTY + squared / sigma_squared;
        // The points are checked only if the result matters.
        if (cost < best[to].cost || !fits) && holds(&circle) {
            fits = true;
            best[to].improve(cost, from, curvature);
        }
    }
    fits
}

/// Returns the signed curvature of an arc through the points; `None` if its radius or its turn is
/// implausible for a road.
fn curvature_of(circle: &Primitive, points: &[DVec2], options: &StrokeOptions) -> Option<f64> {
    let Primitive::Circle { centre, radius } = *circle else {
        return None;
    };
    if !(0.5 * options.min_radius..=MAX_RADIUS).contains(&radius) {
        return None;
    }
    if polyline::length(points) / radius < MIN_TURN {
        return None;
    }
    // The centre is either to the left of the drawing direction or to its right.
    let middle = points.len() / 2;
    let direction = points[points.len() - 1] - points[0];
    let left = direction.perp_dot(centre - points[middle]);
    Some(left.signum() / radius)
}

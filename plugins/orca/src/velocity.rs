//! Optimal reciprocal collision avoidance [Berg 2011]: finds the velocity that avoids all
//! neighbours and is nearest to the preferred one, provided that the neighbours do their half of
//! the avoidance.
//!
//! Velocities are in the frame of the agent: x ahead, y to the left. In addition to the half-planes
//! of neighbours, hard half-planes limit the velocity to what the vehicle can drive. If no velocity
//! satisfies all of them, the half-planes of neighbours are violated as little as possible, and the
//! hard ones never.

/// A vector in the frame of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vector {
    /// Component straight ahead.
    pub x: f64,
    /// Component to the left.
    pub y: f64,
}

impl Vector {
    /// Creates a vector.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    fn scaled(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }

    fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// Returns the cross product, which is positive if `other` is to the left.
    fn cross(self, other: Self) -> f64 {
        self.x * other.y - self.y * other.x
    }

    fn squared(self) -> f64 {
        self.dot(self)
    }

    fn length(self) -> f64 {
        self.squared().sqrt()
    }

    fn turned_left(self) -> Self {
        Self::new(-self.y, self.x)
    }
}

impl std::ops::Add for Vector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl std::ops::Sub for Vector {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

/// A half-plane of velocities: velocities to the left of a line are allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfPlane {
    /// A velocity that lies on the line.
    pub point: Vector,
    /// Unit vector along the line.
    pub along: Vector,
}

impl HalfPlane {
    /// Returns by how much a velocity violates the half-plane; negative if it does not violate it.
    fn violation(&self, velocity: Vector) -> f64 {
        -self.along.cross(velocity - self.point)
    }
}

/// A neighbour to be avoided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Position relative to the agent, m.
    pub position: Vector,
    /// Velocity of the neighbour, m/s.
    pub velocity: Vector,
    /// Sum of the radii of the agent and the neighbour, m.
    pub radius: f64,
    /// Fraction of the avoidance that the agent does, 0 to 1.
    pub share: f64,
}

/// Returns the half-plane of velocities that avoid a neighbour for `horizon` seconds. If the two
/// already overlap, the half-plane moves them apart within `period` seconds.
pub fn avoiding(own: Vector, other: &Neighbour, horizon: f64, period: f64) -> HalfPlane {
    let relative = own - other.velocity;
    let (position, radius) = (other.position, other.radius);
    let distance_squared = position.squared();
    let (along, correction);
    if distance_squared > radius * radius {
        // Vector from the centre of the cut-off circle to the relative velocity.
        let offset = relative - position.scaled(1.0 / horizon);
        let dot = offset.dot(position);
        if dot < 0.0 && dot * dot > radius * radius * offset.squared() {
            (along, correction) = from_circle(offset, radius / horizon);
        } else {
            let leg = (distance_squared - radius * radius).sqrt();
            let (x, y) = (position.x, position.y);
            let direction = match position.cross(offset) > 0.0 {
                true => Vector::new(x * leg - y * radius, x * radius + y * leg),
                false => Vector::new(-(x * leg + y * radius), x * radius - y * leg),
            };
            let unit = direction.scaled(1.0 / distance_squared);
            along = unit;
            correction = unit.scaled(relative.dot(unit)) - relative;
        }
    } else {
        let offset = relative - position.scaled(1.0 / period);
        (along, correction) = from_circle(offset, radius / period);
    }
    HalfPlane {
        point: own + correction.scaled(other.share),
        along,
    }
}

/// Returns the direction of the tangent to a circle at the point nearest to an offset from its
/// centre, and the vector from the offset to that point.
fn from_circle(offset: Vector, radius: f64) -> (Vector, Vector) {
    let length = offset.length();
    let unit = match length > 1e-9 {
        true => offset.scaled(1.0 / length),
        false => Vector::new(-1.0, 0.0),
    };
    let along = Vector::new(unit.y, -unit.x);
    (along, unit.scaled(radius - length))
}

/// Goal of a linear program.
#[derive(Clone, Copy)]
enum Aim {
    /// The velocity nearest to this one.
    Nearest(Vector),
    /// The velocity farthest in this direction.
    Farthest(Vector),
}

impl Aim {
    /// Returns the position along a line, between `low` and `high`, of the velocity that best meets
    /// this goal.
    fn on(self, line: &HalfPlane, low: f64, high: f64) -> f64 {
        match self {
            // Not `clamp`, which panics if a limit is not a number.
            Self::Nearest(wanted) => line.along.dot(wanted - line.point).max(low).min(high),
            Self::Farthest(direction) if direction.dot(line.along) > 0.0 => high,
            Self::Farthest(_) => low,
        }
    }

    fn start(self, most: f64) -> Vector {
        match self {
            Self::Nearest(wanted) if wanted.squared() > most * most => {
                wanted.scaled(most / wanted.length())
            }
            Self::Nearest(wanted) => wanted,
            Self::Farthest(direction) => direction.scaled(most),
        }
    }
}

/// Returns the best velocity on the line of one half-plane within a circle of radius `most` and
/// within the half-planes before it; `None` if there is none.
fn on_line(planes: &[HalfPlane], number: usize, most: f64, aim: Aim) -> Option<Vector> {
    let line = &planes[number];
    let dot = line.point.dot(line.along);
    let inside = dot * dot + most * most - line.point.squared();
    if inside < 0.0 {
        return None;
    }
    let root = inside.sqrt();
    let (mut low, mut high) = (-dot - root, -dot + root);
    for other in &planes[..number] {
        let across = line.along.cross(other.along);
        let beside = other.along.cross(line.point - other.point);
        if across.abs() < 1e-9 {
            if beside < 0.0 {
                return None;
            }
            continue;
        }
        let at = beside / across;
        if across >= 0.0 {
            high = high.min(at);
        } else {
            low = low.max(at);
        }
        if low > high {
            return None;
        }
    }
    Some(line.point + line.along.scaled(aim.on(line, low, high)))
}

/// Returns the best velocity within all half-planes, and the number of half-planes. If no velocity
/// satisfies all of them, returns the best velocity within the half-planes before the first one
/// that cannot be satisfied, and the index of that one.
fn within(planes: &[HalfPlane], most: f64, aim: Aim) -> (Vector, usize) {
    let mut best = aim.start(most);
    for number in 0..planes.len() {
        if planes[number].violation(best) > 0.0 {
            match on_line(planes, number, most, aim) {
                Some(found) => best = found,
                None => return (best, number),
            }
        }
    }
    (best, planes.len())
}

/// Returns the velocity nearest to `wanted` that is within all half-planes and not faster than
/// `most`. The first `hard` half-planes are never violated. `scratch` is a buffer.
pub fn choose(
    planes: &[HalfPlane],
    hard: usize,
    most: f64,
    wanted: Vector,
    scratch: &mut Vec<HalfPlane>,
) -> Vector {
    let (mut best, failed) = within(planes, most, Aim::Nearest(wanted));
    let mut deepest = 0.0;
    for number in failed..planes.len() {
        if planes[number].violation(best) <= deepest {
            continue;
        }
        // Move as far into this half-plane as the earlier ones, relaxed equally, allow.
        scratch.clear();
        scratch.extend_from_slice(&planes[..hard]);
        for other in &planes[hard.min(number)..number] {
            if let Some(plane) = bisector(&planes[number], other) {
                scratch.push(plane);
            }
        }
        let inwards = planes[number].along.turned_left();
        let (found, satisfied) = within(scratch, most, Aim::Farthest(inwards));
        if satisfied == scratch.len() {
            best = found;
        }
        deepest = planes[number].violation(best);
    }
    best
}

/// Returns the half-plane of velocities that violate `one` at least as much as `other`; `None` if
/// both are parallel and on the same side.
fn bisector(one: &HalfPlane, other: &HalfPlane) -> Option<HalfPlane> {
    let across = one.along.cross(other.along);
    let point = if across.abs() < 1e-9 {
        if one.along.dot(other.along) > 0.0 {
            return None;
        }
        (one.point + other.point).scaled(0.5)
    } else {
        let at = other.along.cross(one.point - other.point) / across;
        one.point + one.along.scaled(at)
    };
    let along = other.along - one.along;
    let length = along.length();
    (length > 1e-9).then(|| HalfPlane {
        point,
        along: along.scaled(1.0 / length),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f64 = 1e-9;

    fn other(x: f64, y: f64, vx: f64, vy: f64) -> Neighbour {
        Neighbour {
            position: Vector::new(x, y),
            velocity: Vector::new(vx, vy),
            radius: 4.0,
            share: 0.5,
        }
    }

    /// Returns the smallest distance between the centres of two bodies within a time, if they keep
    /// their velocities.
    fn least(position: Vector, relative: Vector, time: f64) -> f64 {
        let speed = relative.squared().max(NONE);
        let at = (position.dot(relative) / speed).clamp(0.0, time);
        (position - relative.scaled(at)).length()
    }

    #[test]
    fn two_that_each_do_their_half_pass_each_other() {
        // From head-on, from the side, and overtaking.
        for (x, y, vx, vy) in [
            (30.0, 0.5, -8.0, 0.0),
            (20.0, -20.0, 0.0, 8.0),
            (12.0, 0.3, 2.0, 0.0),
        ] {
            let own = Vector::new(8.0, 0.0);
            let them = other(x, y, vx, vy);
            let horizon = 4.0;
            assert!(least(them.position, own - them.velocity, horizon) < 4.0);
            let mut scratch = Vec::new();
            let mut best = |own: Vector, them: &Neighbour| {
                let plane = avoiding(own, them, horizon, 0.3);
                choose(&[plane], 0, 20.0, own, &mut scratch)
            };
            let first = best(own, &them);
            let back = Neighbour {
                position: them.position.scaled(-1.0),
                velocity: own,
                ..them
            };
            let second = best(them.velocity, &back);
            let distance = least(them.position, first - second, horizon);
            assert!(
                distance > 4.0 - 1e-6,
                "{distance} after {first:?} {second:?}"
            );
        }
    }

    #[test]
    fn hard_half_planes_hold_even_if_nobody_can_be_avoided() {
        // Only velocities to the east, between two walls of neighbours that come nearer.
        let hard = HalfPlane {
            point: Vector::default(),
            along: Vector::new(0.0, -1.0),
        };
        let own = Vector::new(3.0, 0.0);
        let mut planes = vec![hard];
        for neighbour in [
            other(5.0, 0.0, -6.0, 0.0),
            other(-5.0, 0.0, 9.0, 0.0),
            other(0.0, 5.0, 0.0, -6.0),
            other(0.0, -5.0, 0.0, 6.0),
        ] {
            planes.push(avoiding(own, &neighbour, 2.0, 0.3));
        }
        let chosen = choose(&planes, 1, 8.0, own, &mut Vec::new());
        assert!(
            chosen.x >= -NONE && chosen.length() <= 8.0 + NONE,
            "{chosen:?}"
        );
        assert!(
            planes[1..]
                .iter()
                .any(|plane| plane.violation(chosen) > 0.0)
        );
    }

    #[test]
    fn bodies_that_overlap_come_apart() {
        let own = Vector::default();
        let them = other(3.0, 0.0, 0.0, 0.0);
        let plane = avoiding(own, &them, 2.0, 0.5);
        let chosen = choose(&[plane], 0, 8.0, own, &mut Vec::new());
        assert!(chosen.x < -0.5, "{chosen:?}");
    }
}

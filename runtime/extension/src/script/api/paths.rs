//! Driving outside the lanes: paths, the kerb, parking bays, and passing obstacles.

use super::values::{Outcome, fail, number};
use super::{ROUTE, Registrar};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Array, Dynamic};
use roadwright_agent::Effect;
use roadwright_geometry::DVec2;

/// Registers the functions for driving along given positions and for pulling over to the side of the
/// lane.
pub(super) fn free_paths(api: &mut Registrar) {
    call!(
        api,
        "drive_path",
        "agent.drive_path(points: array)",
        "Drives along positions [x, y, speed], in m and m/s, over lanes and open ground, and around \
         fixed obstacles and standing vehicles on the path, ignoring traffic rules. A \
         negative speed means driving in reverse to that position; the vehicle creeps where it \
         changes direction. At the end it has arrived; go_to() takes it back to a nearby lane.",
        |a: &mut Agent, points: Array| -> Outcome<()> {
            // Charged before the points are read, so that a path that is too long for the budget is not
            // copied.
            charge(ROUTE + points.len() as u64)?;
            a.drive_path(Effect::DrivePath(path_of(&points)?));
            Ok(())
        }
    );
    call!(
        api,
        "pull_over",
        "agent.pull_over(offset: float, within: float)",
        "Moves `offset` metres to the left of its lane's centre line (negative: to the right, for \
         example to the kerb) and stops there, both within the next `within` metres. If a \
         junction lies within that distance, it pulls over after the junction. At the end it has \
         arrived; go_to() takes it back.",
        |a: &mut Agent, offset: Dynamic, within: Dynamic| -> Outcome<()> {
            check_swerve(number(&offset)?, number(&within)?, 0.0)?;
            charge(ROUTE)?;
            a.pull_over(number(&offset)?, number(&within)?);
            Ok(())
        }
    );
}

/// Registers the functions for parking in a bay.
pub(super) fn parking(api: &mut Registrar) {
    call!(
        api,
        "park",
        "agent.park(x: float, y: float, heading: float)",
        "Parks in a nearby bay with its centre at (x, y), m, and this heading, rad: forwards if \
         the bend is not too tight, otherwise in reverse from farther along its lane, or along any \
         path that touches nothing. Then it has arrived; go_to() takes it out again, in reverse if no lane \
         continues. Between two parked vehicles a car needs about 12 m.",
        |a: &mut Agent, x: Dynamic, y: Dynamic, heading: Dynamic| -> Outcome<()> {
            charge(ROUTE)?;
            let place = DVec2::new(number(&x)?, number(&y)?);
            a.drive_path(Effect::Park(place, number(&heading)?));
            Ok(())
        }
    );
    call!(
        api,
        "park",
        "agent.park(place: array)",
        "Same as park(x, y, heading), for an array [x, y, heading].",
        |a: &mut Agent, place: Array| -> Outcome<()> {
            charge(ROUTE)?;
            let [x, y, heading] = place.as_slice() else {
                return fail("park: the position has no heading; expected [x, y, heading]".into());
            };
            let middle = DVec2::new(number(x)?, number(y)?);
            a.drive_path(Effect::Park(middle, number(heading)?));
            Ok(())
        }
    );
}

/// Registers the function for passing obstacles within the lane.
pub(super) fn passing(api: &mut Registrar) {
    call!(
        api,
        "pass",
        "agent.pass(offset: float, within: float, along: float)",
        "Passes an obstacle: moves `offset` metres to the left of its lane's centre line \
         (negative: to the right) over `within` metres, stays there for `along` metres, moves \
         back over `within` metres, and continues to its destinations. It ignores other traffic \
         while it does so.",
        |a: &mut Agent, offset: Dynamic, within: Dynamic, along: Dynamic| -> Outcome<()> {
            let (offset, within, along) = (number(&offset)?, number(&within)?, number(&along)?);
            check_swerve(offset, within, along)?;
            charge(ROUTE)?;
            a.drive_path(Effect::Swerve {
                offset,
                within,
                along,
                comes_back: true,
            });
            Ok(())
        }
    );
}

/// Parses the positions and speeds of a path.
fn path_of(points: &Array) -> Outcome<Vec<(DVec2, f64)>> {
    let point = |point: &Dynamic| -> Outcome<(DVec2, f64)> {
        let parts = point.read_lock::<Array>();
        match parts.as_deref().map(Vec::as_slice) {
            Some([x, y, speed]) => Ok((DVec2::new(number(x)?, number(y)?), number(speed)?)),
            _ => fail("drive_path: expected a point as an array [x, y, speed]".into()),
        }
    };
    points.iter().map(point).collect()
}

/// Checks the lengths of a swerve, m.
fn check_swerve(offset: f64, within: f64, along: f64) -> Outcome<()> {
    if offset.abs() > 20.0 || !(2.0..=200.0).contains(&within) || !(0.0..=500.0).contains(&along) {
        return fail(
            "`offset` must be -20 to 20 m, `within` 2 to 200 m and `along` 0 to 500 m".into(),
        );
    }
    Ok(())
}

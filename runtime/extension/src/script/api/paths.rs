//! Driving off the lanes: paths, the kerb, bays, around what stands.

use super::values::{Outcome, fail, number};
use super::{ROUTE, Registrar};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Array, Dynamic};
use roadwright_agent::Effect;
use roadwright_geometry::DVec2;

/// Along given places, beside the lane, and back.
pub(super) fn free_paths(api: &mut Registrar) {
    call!(
        api,
        "drive_path",
        "agent.drive_path(points: array)",
        "Drives along places [x, y, speed], in m and m/s, over lanes and ground alike; traffic rules are not looked at meanwhile. To a place whose speed is below 0 it drives backwards, and creeps where it turns back. At the end it has arrived; go_to() takes it back onto the lane that is close.",
        |a: &mut Agent, points: Array| -> Outcome<()> {
            // Before the points are read: a path that is too long for the budget is not copied
            // first.
            charge(ROUTE + points.len() as u64)?;
            a.drive_path(Effect::DrivePath(path_of(&points)?));
            Ok(())
        }
    );
    call!(
        api,
        "pull_over",
        "agent.pull_over(offset: float, within: float)",
        "Drives beside its lane, so far to the left of its middle (below 0: to the right, as to the kerb), m, within a distance, m, and stands there. If a junction lies within that distance, it drives on and pulls over behind the junction. At the end it has arrived; go_to() takes it back.",
        |a: &mut Agent, offset: Dynamic, within: Dynamic| -> Outcome<()> {
            swerve(&offset, &within, 0.0, false)?;
            charge(ROUTE)?;
            a.pull_over(number(&offset)?, number(&within)?);
            Ok(())
        }
    );
}

/// Into a bay.
pub(super) fn parking(api: &mut Registrar) {
    call!(
        api,
        "park",
        "agent.park(x: float, y: float, heading: float)",
        "Drives into a bay near by and stands there, its middle at a place, m, with a heading, rad: forwards if the bend is not too tight for it, else backwards from farther on along its lane. Then it has arrived; go_to() takes it out again, backwards if no lane leads on. Between two others it needs about 12 m for a car.",
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
        "The same with a place that has a heading.",
        |a: &mut Agent, place: Array| -> Outcome<()> {
            charge(ROUTE)?;
            let [x, y, heading] = place.as_slice() else {
                return fail("park: this place has no heading; a bay is [x, y, heading]".into());
            };
            let middle = DVec2::new(number(x)?, number(y)?);
            a.drive_path(Effect::Park(middle, number(heading)?));
            Ok(())
        }
    );
}

/// Around what stands in its lane.
pub(super) fn passing(api: &mut Registrar) {
    call!(
        api,
        "pass",
        "agent.pass(offset: float, within: float, along: float)",
        "Passes an obstacle: drives so far to the left of its lane's middle (below 0: to the right), m, over a distance, m, gets there and back within another one, and then continues to its destinations. It does not look out for other traffic meanwhile.",
        |a: &mut Agent, offset: Dynamic, within: Dynamic, along: Dynamic| -> Outcome<()> {
            let swerve = swerve(&offset, &within, number(&along)?, true)?;
            charge(ROUTE)?;
            a.drive_path(swerve);
            Ok(())
        }
    );
}

/// Places and speeds of a path.
fn path_of(points: &Array) -> Outcome<Vec<(DVec2, f64)>> {
    let point = |point: &Dynamic| -> Outcome<(DVec2, f64)> {
        let parts = point.read_lock::<Array>();
        match parts.as_deref().map(Vec::as_slice) {
            Some([x, y, speed]) => Ok((DVec2::new(number(x)?, number(y)?), number(speed)?)),
            _ => fail("drive_path: a point is an array [x, y, speed]".into()),
        }
    };
    points.iter().map(point).collect()
}

fn swerve(offset: &Dynamic, within: &Dynamic, along: f64, comes_back: bool) -> Outcome<Effect> {
    let (offset, within) = (number(offset)?, number(within)?);
    if offset.abs() > 20.0 || !(2.0..=200.0).contains(&within) || !(0.0..=500.0).contains(&along) {
        return fail(
            "an offset is -20 to 20 m, reached within 2 to 200 m and kept over 0 to 500 m".into(),
        );
    }
    Ok(Effect::Swerve {
        offset,
        within,
        along,
        comes_back,
    })
}

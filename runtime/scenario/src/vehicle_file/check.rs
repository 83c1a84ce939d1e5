//! Checks that the numbers of a vehicle are consistent.

use super::{FORMAT, Gearbox, Trailer, VERSION, VehicleFile};

/// Shortest permitted wheelbase, m.
const SHORTEST_WHEELBASE: f64 = 0.1;
/// Plausible range of the yaw inertia, as a multiple of mass x wheelbase^2. Common vehicles have
/// about 0.25.
const INERTIA: [f64; 2] = [0.02, 5.0];
/// Minimum absolute ratio of a gear that drives the vehicle.
const LEAST_RATIO: f64 = 1e-3;
/// Maximum number of wheels.
const MOST_WHEELS: usize = 32;

/// The invalid key and the problem.
type Fault = (String, String);

fn fault<T>(key: impl Into<String>, message: impl Into<String>) -> Result<T, Fault> {
    Err((key.into(), message.into()))
}

impl VehicleFile {
    /// Checks that the values are consistent. The error contains the first invalid key and the
    /// problem.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.format != FORMAT {
            return fault("format", format!("expected \"{FORMAT}\""));
        }
        if self.version != VERSION {
            return fault(
                "version",
                format!("{} is not supported: expected {VERSION}", self.version),
            );
        }
        self.check_wheels()?;
        self.check_steering()?;
        if let Some(gearbox) = &self.gearbox {
            self.check_gearbox(gearbox)?;
        }
        self.check_brakes()?;
        self.check_tracks()?;
        self.check_trailers()
    }

    /// Checks that a track runs around at least two wheels.
    fn check_tracks(&self) -> Result<(), Fault> {
        if self.tracks.is_none() {
            return Ok(());
        }
        let places = &self.wheels.positions;
        if let Some(number) = places.iter().position(|place| place[1] == 0.0) {
            return fault(
                format!("wheels.positions.{number}"),
                "is on the centre line; each wheel of a tracked vehicle must be on the left or the right",
            );
        }
        for (side, sign) in [("left", 1.0), ("right", -1.0)] {
            let count = places.iter().filter(|place| place[1] * sign > 0.0).count();
            if count < 2 {
                return fault(
                    "tracks",
                    format!(
                        "the track on the {side} side has too few wheels ({count}); expected at least 2"
                    ),
                );
            }
        }
        Ok(())
    }

    fn check_trailers(&self) -> Result<(), Fault> {
        if self.trailers.is_empty() {
            return Ok(());
        }
        if self.articulation.is_none() {
            return fault(
                "articulation",
                "the file has trailers but no coupling point",
            );
        }
        if self.trailers.len() > Trailer::MOST {
            let count = self.trailers.len();
            return fault(
                "trailers",
                format!(
                    "{count} trailers are too many; expected at most {}",
                    Trailer::MOST
                ),
            );
        }
        for (number, trailer) in self.trailers.iter().enumerate() {
            let axle = -trailer.coupling_to_axle;
            if trailer.rear() > axle || trailer.front < axle {
                return fault(
                    format!("trailers.{number}.coupling_to_axle"),
                    format!(
                        "the axle, at {axle} m, is not under the body, which is from {} to {} m \
                         ahead of the coupling",
                        trailer.rear(),
                        trailer.front
                    ),
                );
            }
            trailer
                .check_body()
                .or_else(|(key, message)| fault(format!("trailers.{number}.{key}"), message))?;
            trailer
                .check_axles(self.wheels.radius.get())
                .or_else(|(key, message)| fault(format!("trailers.{number}.{key}"), message))?;
        }
        Ok(())
    }

    fn check_wheels(&self) -> Result<(), Fault> {
        let places = &self.wheels.positions;
        if places.len() < 3 || places.len() > MOST_WHEELS {
            let count = places.len();
            return fault(
                "wheels.positions",
                format!(
                    "a vehicle with {count} wheels is not supported; expected 3 to {MOST_WHEELS}"
                ),
            );
        }
        for (number, place) in places.iter().enumerate() {
            for (other, beside) in places.iter().enumerate().take(number) {
                let square: f64 = (0..3).map(|i| (place[i] - beside[i]).powi(2)).sum();
                if square < self.wheels.radius * self.wheels.radius {
                    let apart = square.sqrt();
                    return fault(
                        format!("wheels.positions.{number}"),
                        format!(
                            "wheel {number} is inside wheel {other}: {apart:.2} m apart, with a \
                             radius of {} m",
                            self.wheels.radius
                        ),
                    );
                }
            }
        }
        Ok(())
    }

    /// Checks a list of wheel numbers under the given key.
    fn check_numbers(&self, key: &str, numbers: &[u8]) -> Result<(), Fault> {
        let count = self.wheels.positions.len();
        match numbers.iter().find(|number| usize::from(**number) >= count) {
            Some(number) => fault(
                key,
                format!("there is no wheel {number}; use 0 to {}", count - 1),
            ),
            None => Ok(()),
        }
    }

    fn check_steering(&self) -> Result<(), Fault> {
        self.check_numbers("steering.wheels", &self.steering.wheels)?;
        self.check_numbers("steering.inverted", &self.steering.inverted)?;
        let steered = &self.steering.wheels;
        let count = (0u8..)
            .take(self.wheels.positions.len())
            .filter(|number| steered.contains(number))
            .count();
        if count == 0 || count == self.wheels.positions.len() {
            return fault(
                "steering.wheels",
                "expected at least one steered and one unsteered wheel",
            );
        }
        let (front, rear) = self.axles();
        if front - rear < SHORTEST_WHEELBASE {
            return fault(
                "steering.wheels",
                format!(
                    "the steered wheels are {:.2} m ahead of the others; the minimum is \
                     {SHORTEST_WHEELBASE} m",
                    front - rear
                ),
            );
        }
        let unit = self.mass() * (front - rear) * (front - rear);
        let inertia = self.yaw_inertia();
        let [least, most] = INERTIA.map(|share| share * unit);
        if !(least..=most).contains(&inertia) {
            return fault(
                "body.yaw_inertia",
                format!(
                    "{inertia:.1} is implausible for this mass and wheelbase; expected {least:.1} \
                     to {most:.1} kg m^2"
                ),
            );
        }
        if rear + 0.5 * self.body.length <= 0.0 {
            return fault(
                "wheels.positions",
                "the rear axle is behind the body; it must be under the body",
            );
        }
        Ok(())
    }

    fn check_gearbox(&self, gearbox: &Gearbox) -> Result<(), Fault> {
        let mut last = f64::INFINITY;
        for (number, gear) in gearbox.gears.iter().enumerate() {
            let key = |name: &str| format!("gearbox.gears.{number}.{name}");
            if gear.ratio.abs() < LEAST_RATIO {
                return fault(
                    key("ratio"),
                    format!(
                        "{} drives no wheels; use a ratio of at least {LEAST_RATIO}, or a \
                         negative one for reverse (neutral is not listed)",
                        gear.ratio
                    ),
                );
            }
            let wheels = usize::from(gear.wheels);
            if wheels == 0 || wheels > self.wheels.positions.len() {
                return fault(
                    key("wheels"),
                    format!(
                        "{wheels} is out of range: expected 1 to {} driven wheels",
                        self.wheels.positions.len()
                    ),
                );
            }
            if gear.ratio > 0.0 {
                if gear.ratio >= last {
                    return fault(
                        key("ratio"),
                        "list the forward gears from the highest ratio to the lowest",
                    );
                }
                last = gear.ratio.get();
            }
        }
        if last == f64::INFINITY {
            return fault("gearbox.gears", "expected at least one forward gear");
        }
        if gearbox.efficiency == 0.0 {
            return fault("gearbox.efficiency", "expected more than 0");
        }
        if gearbox.down_rpm >= gearbox.up_rpm {
            return fault(
                "gearbox.down_rpm",
                format!("expected less than up_rpm ({})", gearbox.up_rpm),
            );
        }
        Ok(())
    }

    fn check_brakes(&self) -> Result<(), Fault> {
        match &self.brakes {
            Some(brakes) => self.check_numbers("brakes.hand_wheels", &brakes.hand_wheels),
            None => Ok(()),
        }
    }
}

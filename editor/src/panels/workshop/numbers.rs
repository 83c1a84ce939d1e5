//! The numbers of a vehicle, each in a row with name, slider and value.

use super::super::property::{OF, Property};
use super::super::widgets::named;
use super::{part, send};
use crate::model::Action;
use crate::theme::Theme;
use crate::tools::Tone;
use crate::workshop::{Bench, WorkshopAction};
use egui::{Align, DragValue, Layout, Link, Response, RichText, Slider, SliderClamping, Ui, vec2};
use roadwright_scenario::vehicle_file::{Gear, VehicleFile, WheelShape};
use std::ops::RangeInclusive;

/// Width of a name, in points.
const NAME: f32 = 96.0;
/// Width of a value, in points.
const VALUE: f32 = 96.0;
/// Height of a row, in points.
const ROW: f32 = 24.0;
/// Factor by which the ends of a slider lie above and below the original number.
const SPAN: f64 = 3.0;

type Number = Property<VehicleFile>;

/// Describes a numeric value of a vehicle file.
const fn number(
    name: &'static str,
    hint: &'static str,
    unit: &'static str,
    range: RangeInclusive<f64>,
    step: f64,
    get: fn(&VehicleFile) -> Option<f64>,
    set: fn(&mut VehicleFile, f64),
) -> Number {
    Property {
        name,
        label: OF,
        unit,
        range,
        step,
        hint,
        get,
        set,
    }
}

const BODY: [Number; 4] = [
    number(
        "Body mass",
        "Mass without wheels.",
        "kg",
        1.0..=1e6,
        5.0,
        |file| Some(file.body.mass.get()),
        |file, mass| file.body.mass = mass.into(),
    ),
    number(
        "Centre height",
        "Height of the centre of mass above the ground.",
        "m",
        0.01..=1e4,
        0.005,
        |file| file.body.centre_height.get(),
        |file, height| file.body.centre_height = Some(height).into(),
    ),
    number(
        "Clearance",
        "Distance from the ground to the body.",
        "m",
        0.01..=1e4,
        0.005,
        |file| Some(file.body.ground_clearance.get()),
        |file, clearance| file.body.ground_clearance = clearance.into(),
    ),
    number(
        "Wheel mass",
        "Per wheel.",
        "kg",
        0.1..=1e6,
        0.2,
        |file| Some(file.wheels.mass.get()),
        |file, mass| file.wheels.mass = mass.into(),
    ),
];

const TYRES: [Number; 2] = [
    number(
        "Friction",
        "Friction of the tyres on dry asphalt.",
        "",
        0.01..=5.0,
        0.005,
        |file| file.wheels.friction.get(),
        |file, friction| file.wheels.friction = Some(friction).into(),
    ),
    number(
        "Cornering",
        "Cornering stiffness of the tyres per unit of load.",
        "1/rad",
        0.1..=200.0,
        0.1,
        |file| file.wheels.cornering_stiffness.get(),
        |file, stiffness| file.wheels.cornering_stiffness = Some(stiffness).into(),
    ),
];

const SPRINGS: [Number; 3] = [
    number(
        "Spring",
        "Per wheel.",
        "N/m",
        0.0..=1e9,
        200.0,
        |file| Some(file.suspension.as_ref()?.spring.get()),
        |file, spring| {
            if let Some(suspension) = &mut file.suspension {
                suspension.spring = spring.into();
            }
        },
    ),
    number(
        "Damping",
        "Per wheel.",
        "N s/m",
        0.0..=1e9,
        20.0,
        |file| Some(file.suspension.as_ref()?.damping.get()),
        |file, damping| {
            if let Some(suspension) = &mut file.suspension {
                suspension.damping = damping.into();
            }
        },
    ),
    number(
        "Anti-sway",
        "Force of the anti-roll bar per unit of difference in spring travel.",
        "N/m",
        0.0..=1e9,
        100.0,
        |file| Some(file.suspension.as_ref()?.anti_sway.get()),
        |file, bar| {
            if let Some(suspension) = &mut file.suspension {
                suspension.anti_sway = bar.into();
            }
        },
    ),
];

const ENGINE: [Number; 5] = [
    number(
        "Peak torque",
        "Highest point of the torque curve; the other points scale with it.",
        "N m",
        0.1..=1e6,
        0.5,
        |file| Some(peak(file)).filter(|peak| *peak > 0.0),
        set_peak,
    ),
    number(
        "Final drive",
        "Gearbox revolutions per wheel revolution.",
        "",
        0.01..=1e3,
        0.02,
        |file| Some(file.gearbox.as_ref()?.final_drive.get()),
        |file, ratio| {
            if let Some(gearbox) = &mut file.gearbox {
                gearbox.final_drive = ratio.into();
            }
        },
    ),
    number(
        "Efficiency",
        "Share of the torque that reaches the wheels.",
        "",
        0.01..=1.0,
        0.005,
        |file| Some(file.gearbox.as_ref()?.efficiency.get()),
        |file, share| {
            if let Some(gearbox) = &mut file.gearbox {
                gearbox.efficiency = share.into();
            }
        },
    ),
    number(
        "Shifts up at",
        "Engine speed at which the automatic gearbox shifts up.",
        "rpm",
        1.0..=1e5,
        10.0,
        |file| Some(file.gearbox.as_ref()?.up_rpm.get()),
        |file, rpm| {
            if let Some(gearbox) = &mut file.gearbox {
                gearbox.up_rpm = rpm.into();
            }
        },
    ),
    number(
        "Shifts down at",
        "Engine speed at which the automatic gearbox shifts down.",
        "rpm",
        1.0..=1e5,
        10.0,
        |file| Some(file.gearbox.as_ref()?.down_rpm.get()),
        |file, rpm| {
            if let Some(gearbox) = &mut file.gearbox {
                gearbox.down_rpm = rpm.into();
            }
        },
    ),
];

/// Ratios of the forward gears, and of the reverse gear.
const GEARS: [Number; 9] = [
    ratio::<0>("Gear 1"),
    ratio::<1>("Gear 2"),
    ratio::<2>("Gear 3"),
    ratio::<3>("Gear 4"),
    ratio::<4>("Gear 5"),
    ratio::<5>("Gear 6"),
    ratio::<6>("Gear 7"),
    ratio::<7>("Gear 8"),
    number(
        "Reverse gear",
        "Engine revolutions per output revolution, in reverse.",
        "",
        -1e3..=-1e-3,
        0.01,
        |file| {
            let gears = file.gearbox.as_ref()?.gears.iter();
            Some(gears.rev().find(|gear| gear.ratio < 0.0)?.ratio.get())
        },
        |file, ratio| {
            let gears = file
                .gearbox
                .iter_mut()
                .flat_map(|gearbox| &mut gearbox.gears);
            if let Some(gear) = gears.filter(|gear| gear.ratio < 0.0).last() {
                gear.ratio = ratio.into();
            }
        },
    ),
];

/// Describes the ratio of a forward gear, counted from 0.
const fn ratio<const GEAR: usize>(name: &'static str) -> Number {
    number(
        name,
        "Engine revolutions per output revolution.",
        "",
        1e-3..=1e3,
        0.01,
        |file| {
            let gears = file.gearbox.as_ref()?.gears.iter();
            Some(gears.filter(forward).nth(GEAR)?.ratio.get())
        },
        |file, ratio| {
            let gears = file
                .gearbox
                .iter_mut()
                .flat_map(|gearbox| &mut gearbox.gears);
            if let Some(gear) = gears.filter(|gear| gear.ratio > 0.0).nth(GEAR) {
                gear.ratio = ratio.into();
            }
        },
    )
}

fn forward(gear: &&Gear) -> bool {
    gear.ratio > 0.0
}

fn peak(file: &VehicleFile) -> f64 {
    let points = file
        .engine
        .iter()
        .flat_map(|engine| &engine.torque_curve_rpm_nm);
    points.map(|(_, torque)| *torque).fold(0.0, f64::max)
}

fn set_peak(file: &mut VehicleFile, torque: f64) {
    let times = torque / peak(file);
    if let Some(engine) = &mut file.engine {
        for point in &mut *engine.torque_curve_rpm_nm {
            point.1 *= times;
        }
    }
}

const DRIVE: [Number; 4] = [
    number(
        "Foot brake",
        "Braking force per wheel, at its circumference.",
        "N",
        0.0..=1e8,
        10.0,
        |file| Some(file.brakes.as_ref()?.foot.get()),
        |file, force| {
            if let Some(brakes) = &mut file.brakes {
                brakes.foot = force.into();
            }
        },
    ),
    number(
        "Drag",
        "Drag coefficient.",
        "",
        0.0..=10.0,
        0.005,
        |file| Some(file.resistance.as_ref()?.drag.get()),
        |file, drag| {
            if let Some(resistance) = &mut file.resistance {
                resistance.drag = drag.into();
            }
        },
    ),
    number(
        "Frontal area",
        "Area that determines the air resistance.",
        "m²",
        0.01..=1e4,
        0.01,
        |file| Some(file.resistance.as_ref()?.area.get()),
        |file, area| {
            if let Some(resistance) = &mut file.resistance {
                resistance.area = area.into();
            }
        },
    ),
    number(
        "Rolling",
        "Rolling resistance per unit of speed.",
        "N s/m",
        0.0..=1e8,
        0.5,
        |file| Some(file.resistance.as_ref()?.rolling.get()),
        |file, rolling| {
            if let Some(resistance) = &mut file.resistance {
                resistance.rolling = rolling.into();
            }
        },
    ),
];

const DRIVER: [Number; 5] = [
    number(
        "Steering lock",
        "Maximum angle of the front wheels.",
        "rad",
        0.01..=1.55,
        0.005,
        |file| Some(file.steering.lock.get()),
        |file, lock| file.steering.lock = lock.into(),
    ),
    number(
        "Steering rate",
        "Maximum rate of the steering angle.",
        "rad/s",
        0.01..=50.0,
        0.01,
        |file| Some(file.steering.rate.get()),
        |file, rate| file.steering.rate = rate.into(),
    ),
    number(
        "Speed",
        "Top speed that drivers assume.",
        "m/s",
        0.1..=150.0,
        0.1,
        |file| Some(file.performance.max_speed.get()),
        |file, speed| file.performance.max_speed = speed.into(),
    ),
    number(
        "Acceleration",
        "Maximum acceleration that drivers assume.",
        "m/s²",
        0.01..=50.0,
        0.02,
        |file| Some(file.performance.max_acceleration.get()),
        |file, acceleration| file.performance.max_acceleration = acceleration.into(),
    ),
    number(
        "Braking",
        "Maximum braking that drivers assume.",
        "m/s²",
        0.01..=50.0,
        0.02,
        |file| Some(file.performance.max_braking.get()),
        |file, braking| file.performance.max_braking = braking.into(),
    ),
];

const SHAPES: [(WheelShape, &str, &str); 2] = [
    (
        WheelShape::Ray,
        "Rays",
        "Ray casts along the springs: fast, but loose obstacles are ignored.",
    ),
    (
        WheelShape::Sphere,
        "Spheres",
        "Separate bodies that roll over loose obstacles.",
    ),
];

pub(super) fn ui(ui: &mut Ui, theme: Theme, bench: &Bench, actions: &mut Vec<Action>) {
    let mut rows = Rows {
        theme,
        bench,
        actions,
    };
    rows.group(ui, "Masses", &BODY);
    rows.group(ui, "Tyres", &TYRES);
    rows.group(ui, "Springs", &SPRINGS);
    rows.wheels(ui);
    rows.group(ui, "Engine and gearbox", &ENGINE);
    rows.group(ui, "Ratios", &GEARS);
    rows.group(ui, "Brakes and resistance", &DRIVE);
    rows.group(ui, "Driver assumptions", &DRIVER);
}

struct Rows<'a> {
    theme: Theme,
    bench: &'a Bench,
    actions: &'a mut Vec<Action>,
}

impl Rows<'_> {
    /// Shows those numbers of a section that this vehicle has.
    fn group(&mut self, ui: &mut Ui, title: &str, numbers: &[Number]) {
        if numbers
            .iter()
            .all(|one| (one.get)(&self.bench.file).is_none())
        {
            return;
        }
        part(ui, title);
        for number in numbers {
            if let Some(value) = (number.get)(&self.bench.file) {
                self.row(ui, number, value);
            }
        }
    }

    /// Shows the choice of the wheel model for a vehicle with springs.
    fn wheels(&mut self, ui: &mut Ui) {
        if self.bench.file.suspension.is_none() {
            return;
        }
        let now = self.bench.file.wheels.shape;
        ui.horizontal(|ui| {
            let layout = Layout::left_to_right(Align::Center);
            ui.allocate_ui_with_layout(vec2(NAME, ROW), layout, |ui| {
                ui.set_min_width(NAME);
                ui.label("Wheels")
                    .on_hover_text("Wheel model at level rigid.");
            });
            for (shape, name, hint) in SHAPES {
                let choice = ui.selectable_label(now == shape, name).on_hover_text(hint);
                if choice.clicked() && now != shape {
                    let label = format!("Wheels of {}", self.bench.file.name);
                    let mut file = (*self.bench.file).clone();
                    file.wheels.shape = shape;
                    let change = WorkshopAction::Change(label.clone(), Box::new(file));
                    send(self.actions, change);
                    send(self.actions, WorkshopAction::Commit(label));
                }
            }
        });
    }

    fn row(&mut self, ui: &mut Ui, number: &Number, value: f64) {
        let before = (number.get)(&self.bench.base);
        let label = number.label_for(&self.bench.file.name);
        ui.horizontal(|ui| {
            self.name(ui, number, value, before, &label);
            // The room left by the name and the value, within limits.
            let room = ui.available_width() - VALUE - 3.0 * ui.spacing().item_spacing.x;
            ui.spacing_mut().slider_width = room.clamp(40.0, 200.0);
            let mut dragged = value;
            let slider = Slider::new(&mut dragged, span(number, before.unwrap_or(value)))
                .show_value(false)
                // Logarithmic, so that a third of the number and three times the number are equally far away.
                .logarithmic(before.is_some_and(|before| before > 0.0))
                // A number may lie outside the slider's range, and showing it must not change it.
                .clamping(SliderClamping::Never);
            let slider = ui.add(slider).on_hover_text(number.hint);
            named(&slider, &format!("Slider of {}", number.name));
            self.changed(&slider, number, dragged, &label);
            let field = typed(ui, number, value);
            self.changed(&field.1, number, field.0, &label);
        });
        let refused = self.bench.refused.as_ref();
        if let Some(refused) = refused.filter(|refused| refused.label == label) {
            let text = format!("{}: {}", refused.key, refused.message);
            ui.colored_label(self.theme.tone(Tone::Danger), text);
        }
    }

    /// Shows the name. If the number has changed, the name is a link that resets it.
    fn name(&mut self, ui: &mut Ui, number: &Number, value: f64, before: Option<f64>, label: &str) {
        let layout = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(vec2(NAME, ROW), layout, |ui| {
            ui.set_min_width(NAME);
            let Some(before) = before.filter(|before| *before != value) else {
                ui.label(number.name).on_hover_text(number.hint);
                return;
            };
            let color = self.theme.tone(Tone::Accent);
            let text = RichText::new(format!("• {}", number.name)).color(color);
            let link = ui.add(Link::new(text.strong()));
            let hint = format!("Was {before} {}. Click to reset.", number.unit);
            if link.on_hover_text(hint).clicked() {
                self.send(number, before, label);
                send(self.actions, WorkshopAction::Commit(label.to_owned()));
            }
        });
    }

    fn send(&mut self, number: &Number, value: f64, label: &str) {
        let mut file = (*self.bench.file).clone();
        (number.set)(&mut file, value);
        send(
            self.actions,
            WorkshopAction::Change(label.to_owned(), Box::new(file)),
        );
    }

    /// Sends a change in progress and its end, so that a drag is one step.
    fn changed(&mut self, response: &Response, number: &Number, value: f64, label: &str) {
        if response.changed() {
            self.send(number, value, label);
        }
        if response.drag_stopped() || response.lost_focus() {
            send(self.actions, WorkshopAction::Commit(label.to_owned()));
        }
    }
}

/// Shows a value that can be dragged or typed. Any number is accepted, because the file check rejects invalid
/// ones with a reason.
fn typed(ui: &mut Ui, number: &Number, value: f64) -> (f64, Response) {
    let mut value = value;
    let suffix = match number.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let drag = DragValue::new(&mut value)
        .speed(number.step)
        .max_decimals(4)
        .suffix(suffix);
    let (low, high) = (number.range.start(), number.range.end());
    let hint = format!("{}\n{low} to {high} {}", number.hint, number.unit);
    let response = ui.add_sized(vec2(VALUE, ROW), drag).on_hover_text(hint);
    named(&response, number.name);
    (value, response)
}

/// Returns the range of the slider around the original number, within the range allowed in files.
fn span(number: &Number, before: f64) -> RangeInclusive<f64> {
    let (low, high) = (*number.range.start(), *number.range.end());
    let (mut from, mut to) = (before / SPAN, before * SPAN);
    // The ratio of a reverse gear is negative, so three times the number is the lower end.
    if before < 0.0 {
        (from, to) = (to, from);
    }
    if before == 0.0 {
        // Three times zero is zero, so the slider covers the range of a 200-point drag.
        to = 200.0 * number.step;
    }
    from.max(low)..=to.min(high)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::vehicle_file::SHIPPED;
    use std::collections::BTreeSet;

    fn all() -> impl Iterator<Item = &'static Number> {
        let groups: [&[Number]; 7] = [&BODY, &TYRES, &SPRINGS, &ENGINE, &GEARS, &DRIVE, &DRIVER];
        groups.into_iter().flatten()
    }

    #[test]
    fn every_number_is_read_where_it_is_set_and_changes_nothing_else() {
        let names: BTreeSet<&str> = all().map(|number| number.name).collect();
        assert_eq!(names.len(), all().count());
        for shipped in SHIPPED {
            let file = VehicleFile::from_text(shipped.text).unwrap();
            for number in all() {
                let Some(value) = (number.get)(&file) else {
                    continue;
                };
                assert!(
                    number.range.contains(&value),
                    "{}: {}",
                    shipped.name,
                    number.name
                );
                let mut other = file.clone();
                (number.set)(&mut other, 1.01 * value);
                let read = (number.get)(&other).unwrap();
                assert!(
                    (read - 1.01 * value).abs() < 1e-9 * value.abs().max(1.0),
                    "{}",
                    number.name
                );
                let others = all().filter(|one| one.name != number.name);
                for one in others {
                    assert_eq!(
                        (one.get)(&other),
                        (one.get)(&file),
                        "{} {}",
                        number.name,
                        one.name
                    );
                }
                (number.set)(&mut other, value);
                assert_eq!(other.checked(), Ok(()));
            }
        }
    }

    #[test]
    fn sliders_stay_within_what_files_may_say() {
        for shipped in SHIPPED {
            let file = VehicleFile::from_text(shipped.text).unwrap();
            for number in all() {
                let Some(value) = (number.get)(&file) else {
                    continue;
                };
                let span = span(number, value);
                assert!(
                    span.contains(&value) && span.start() < span.end(),
                    "{}",
                    number.name
                );
                assert!(number.range.contains(span.start()) && number.range.contains(span.end()));
            }
        }
    }
}

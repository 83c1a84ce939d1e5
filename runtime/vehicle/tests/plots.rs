//! Tests that the plots of manoeuvres show the measured values.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_geometry::math::tan;
use roadwright_scenario::vehicle_file::{SHIPPED, VehicleFile};
use roadwright_testing::is_slow;
use roadwright_vehicle::proving::{Look, Manoeuvre, Plot, Series, prove, prove_and_plot};

const GRAVITY: f64 = 9.81;

fn shipped(name: &str) -> VehicleFile {
    let found = SHIPPED.iter().find(|shipped| shipped.name == name);
    VehicleFile::from_text(found.unwrap().text).unwrap()
}

/// Returns the plot of a manoeuvre, and its result.
fn plot_of(file: &VehicleFile, name: &str) -> (Manoeuvre, Plot) {
    let (manoeuvres, plots) = prove_and_plot(file).unwrap();
    let manoeuvre = manoeuvres.into_iter().find(|one| one.name == name);
    let plot = plots.into_iter().find(|plot| plot.name == name);
    (manoeuvre.unwrap(), plot.unwrap())
}

/// Returns the formal errors of a plot.
fn faults(plot: &Plot) -> Vec<String> {
    let mut faults = Vec::new();
    if plot.series.is_empty() || plot.x.is_empty() || plot.y.is_empty() {
        faults.push("nothing is drawn".to_owned());
    }
    for series in &plot.series {
        let points = &series.points;
        if points.is_empty() || !points.iter().flatten().all(|number| number.is_finite()) {
            faults.push(format!("{}: not finite", series.label));
        }
        let is_time = plot.x.starts_with("time");
        if is_time && !points.is_sorted_by(|a, b| a[0] <= b[0]) {
            faults.push(format!("{}: time goes back", series.label));
        }
    }
    let marks = plot.marks.iter().filter(|mark| !mark.at.is_finite());
    faults.extend(marks.map(|mark| format!("{}: not finite", mark.label)));
    faults
}

/// Returns the value that a plot shows; `None` if the value appears only in its label.
fn shown(one: &Manoeuvre, plot: &Plot) -> Option<f64> {
    let ends = || {
        let lines = plot.series.iter().filter(|line| line.look == Look::Line);
        lines.map(|line| *line.points.last().unwrap())
    };
    let farthest = |axis: usize| ends().map(|end| end[axis]).fold(f64::MIN, f64::max);
    let named = |label: &str| {
        let mut lines = plot.series.iter();
        lines.find(|line| line.label == label).unwrap()
    };
    Some(match one.name {
        "acceleration" | "coast_down" => farthest(0),
        "top_speed" | "step_steer" => farthest(1),
        "braking" => named("steps of 5 ms").points.last().unwrap()[0],
        "jackknife" => named("steps of 10 ms").points.last().unwrap()[0],
        "circle_50" | "circle_100" => {
            let points = &named("centre of gravity").points;
            points.iter().map(|point| point[0]).fold(f64::MIN, f64::max)
        }
        "side_slope" if plot.y == "load, kN" => farthest(0),
        "tip_over" => GRAVITY * tan(farthest(0)),
        "rest_on_slope" => farthest(1) / 1e3,
        "pivot_turn" => {
            let steady = named("at full lock").points.iter();
            let steady: Vec<f64> = steady.filter(|at| at[0] > 4.0).map(|at| at[1]).collect();
            steady.iter().sum::<f64>() / steady.len() as f64
        }
        _ => return None,
    })
}

#[test]
fn every_manoeuvre_of_every_shipped_vehicle_is_drawn_as_it_was_measured() {
    let mut compared = 0;
    for (number, shipped) in SHIPPED.iter().enumerate() {
        let file = VehicleFile::from_text(shipped.text).unwrap();
        let (manoeuvres, plots) = prove_and_plot(&file).unwrap();
        // Recording a plot does not change a single bit of the measurement.
        if number == 0 || is_slow() {
            assert_eq!(manoeuvres, prove(&file).unwrap(), "{}", shipped.name);
        }
        let applies: Vec<_> = manoeuvres.iter().filter(|one| one.applies).collect();
        let names = |plot: &Plot| plot.name;
        assert_eq!(
            plots.iter().map(names).collect::<Vec<_>>(),
            applies.iter().map(|one| one.name).collect::<Vec<_>>(),
            "{}",
            shipped.name
        );
        for (plot, one) in plots.iter().zip(applies) {
            let at = format!("{} {}", shipped.name, one.name);
            assert_eq!(faults(plot), Vec::<String>::new(), "{at}");
            assert!(plot.title.contains(&file.name) && plot.title.contains(one.name));
            let Some(shown) = shown(one, plot) else {
                continue;
            };
            let value = one.value.unwrap();
            // Parked vehicles hardly move.
            let room = 2e-3 * value.abs() + 1e-9;
            assert!((shown - value).abs() <= room, "{at}: {shown}, {value}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn the_most_that_is_passed_and_the_first_that_is_not_stand_beside_each_other() {
    let jeep = shipped("willys-mb");
    let (_, plots) = prove_and_plot(&jeep).unwrap();
    let manoeuvres = prove(&jeep).unwrap();
    for name in [
        "double_lane_change",
        "iso_3888_2",
        "half_round",
        "step_climb",
        "gap",
    ] {
        let value = manoeuvres
            .iter()
            .find(|one| one.name == name)
            .unwrap()
            .value;
        let plot = plots.iter().find(|plot| plot.name == name).unwrap();
        let lines = plot.series.iter().filter(|line| line.look == Look::Line);
        let labels: Vec<_> = lines.map(|line| line.label.as_str()).collect();
        let said = |label: &str| label.split(' ').next().unwrap().parse::<f64>().unwrap();
        assert!(labels[0].ends_with("hardest passed"), "{labels:?}");
        assert!(
            (said(labels[0]) - value.unwrap()).abs() < 1e-3,
            "{name}: {labels:?}"
        );
        if let Some(failed) = labels.get(1) {
            assert!(failed.ends_with("easiest failed"), "{labels:?}");
            assert!(said(failed) > said(labels[0]), "{labels:?}");
        }
    }
}

/// Returns the y value of a line at an x value, interpolated between its points.
fn at(line: &Series, x: f64) -> Option<f64> {
    let pairs = line.points.windows(2);
    let mut around = pairs.filter(|pair| pair[0][0] <= x && x <= pair[1][0]);
    around.next().map(|pair| {
        let [[x0, y0], [x1, y1]] = [pair[0], pair[1]];
        let share = if x1 > x0 { (x - x0) / (x1 - x0) } else { 0.0 };
        y0 + share * (y1 - y0)
    })
}

/// Returns the maximum deviation of a driven line from its closed form, as a fraction of the
/// maximum value.
fn departure(plot: &Plot, driven: &str) -> f64 {
    let line = plot
        .series
        .iter()
        .find(|line| line.label == driven)
        .unwrap();
    let mut all = plot.series.iter();
    let closed = all.find(|line| line.look == Look::Dashed).unwrap();
    let largest = closed
        .points
        .iter()
        .map(|point| point[1])
        .fold(f64::MIN, f64::max);
    let points = closed.points.iter();
    let apart = points.filter_map(|[x, y]| Some((at(line, *x)? - y).abs()));
    apart.fold(0.0, f64::max) / largest
}

#[test]
fn closed_forms_lie_on_what_was_driven() {
    for (vehicle, name, line) in [
        ("willys-mb", "coast_down", "without throttle"),
        ("enviro-400", "coast_down", "without throttle"),
        ("willys-mb", "braking", "steps of 2.5 ms"),
        ("escort-caravan", "jackknife", "steps of 10 ms"),
    ] {
        let (_, plot) = plot_of(&shipped(vehicle), name);
        let apart = departure(&plot, line);
        assert!(apart < 0.02, "{vehicle} {name}: {apart}");
        // As a control, the same line deviates if it is stretched by 20 %.
        let mut other = plot.clone();
        let lines = other
            .series
            .iter_mut()
            .filter(|line| line.look == Look::Line);
        lines.for_each(|line| line.points.iter_mut().for_each(|point| point[0] *= 1.2));
        assert!(departure(&other, line) > 0.03, "{vehicle} {name}");
    }
}

#[test]
fn a_picture_shows_what_has_changed_in_a_vehicle() {
    let stopping_distance = |friction: f64| {
        let mut car = shipped("bmw-320i");
        car.wheels.friction = Some(friction).into();
        let (one, plot) = plot_of(&car, "braking");
        shown(&one, &plot).unwrap()
    };
    let (dry, ice) = (stopping_distance(0.8), stopping_distance(0.1));
    assert!(ice > 4.0 * dry, "{dry} {ice}");
    // The test above would detect a plot with a gap in time, or without content.
    let (_, mut plot) = plot_of(&shipped("willys-mb"), "coast_down");
    assert_eq!(faults(&plot), Vec::<String>::new());
    plot.series[0].points.reverse();
    plot.series[1].points[0][1] = f64::NAN;
    assert_eq!(faults(&plot).len(), 2);
}

#[test]
fn legal_but_absurd_vehicles_neither_hang_nor_panic_and_are_drawn() {
    type Change = fn(&mut VehicleFile);
    let changes: [Change; 12] = [
        |file| file.body.mass = 1e6.into(),
        |file| file.body.mass = (1e-3).into(),
        |file| file.wheels.friction = Some(1e-6).into(),
        |file| (*file.wheels.friction, *file.wheels.cornering_stiffness) = (Some(5.0), Some(200.0)),
        |file| file.brakes.as_mut().unwrap().foot = 0.0.into(),
        |file| file.engine.as_mut().unwrap().torque_curve_rpm_nm = vec![(1.0, 0.0)].into(),
        |file| file.gearbox.as_mut().unwrap().final_drive = (1e-6).into(),
        |file| {
            let resistance = file.resistance.as_mut().unwrap();
            (*resistance.drag, *resistance.rolling) = (0.0, 0.0);
        },
        |file| {
            let suspension = file.suspension.as_mut().unwrap();
            (*suspension.spring, *suspension.damping) = (1e9, 1e9);
            (*file.body.mass, *file.wheels.mass) = (1.0, 0.01);
        },
        |file| file.suspension.as_mut().unwrap().spring = 1e9.into(),
        |file| {
            let suspension = file.suspension.as_mut().unwrap();
            (*suspension.spring, *suspension.damping) = (0.0, 0.0);
        },
        |file| file.body.centre_height = Some(100.0).into(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut jeep = shipped("willys-mb");
        change(&mut jeep);
        let (manoeuvres, plots) = prove_and_plot(&jeep).unwrap();
        for one in &manoeuvres {
            let mut values = [one.value, one.limit].into_iter().flatten();
            assert!(values.all(f64::is_finite), "{number}: {one:?}");
            // A drive that would take hours is skipped.
            if number == 8 && one.name == "tip_over" {
                assert!(!one.applies && one.note.contains("too stiff"), "{one:?}");
            }
            // A manoeuvre without a value does not pass.
            assert!(
                one.value.is_some() || one.pass != Some(true),
                "{number}: {one:?}"
            );
        }
        assert!(!plots.is_empty());
        for plot in &plots {
            assert_eq!(faults(plot), Vec::<String>::new(), "{number} {}", plot.name);
        }
    }
}

#[test]
fn a_vehicle_that_cannot_be_asked_anything_has_no_pictures() {
    let (manoeuvres, plots) = prove_and_plot(&shipped("semi-trailer-tractor")).unwrap();
    assert_eq!((manoeuvres.len(), plots.len()), (18, 0));
    let mut jeep = shipped("willys-mb");
    jeep.limits.insert("loop".into(), 1.0);
    assert!(prove_and_plot(&jeep).is_err());
}

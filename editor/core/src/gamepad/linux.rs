//! Gamepads on Linux: devices below /dev/input, read without a system library.

use super::{Axis, Button, PadEvent, PadId, Source};
use evdev::{AbsInfo, AbsoluteAxisCode, Device, EventSummary, KeyCode};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Folder with the devices.
const FOLDER: &str = "/dev/input";
/// Interval between searches for new devices, in seconds.
const PERIOD: f64 = 1.0;
/// Suffix of the links to joysticks and gamepads in the folders below [`FOLDER`].
const LINK_END: &str = "-event-joystick";

/// Input devices of the kernel.
#[derive(Default)]
pub(super) struct DevInput {
    pads: BTreeMap<PathBuf, Pad>,
    /// Devices that are not pads. They are remembered until they are removed.
    others: BTreeSet<PathBuf>,
    opened: PadId,
    /// Time of the last search for devices, in seconds.
    looked: Option<f64>,
    problem: Option<String>,
}

/// An open gamepad.
struct Pad {
    id: PadId,
    device: Device,
    /// Device axes, each with the control that it moves and its range.
    axes: Vec<(AbsoluteAxisCode, Axis, Range)>,
}

/// Range of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    low: i32,
    high: i32,
}

impl Source for DevInput {
    fn read(&mut self, time: f64, events: &mut Vec<PadEvent>) {
        if self.looked.is_none_or(|looked| time >= looked + PERIOD) {
            self.looked = Some(time);
            self.look_for_devices(Path::new(FOLDER), events);
        }
        self.pads.retain(|_, pad| {
            let is_there = pad.read(events);
            if !is_there {
                events.push(PadEvent::Gone(pad.id));
            }
            is_there
        });
    }

    fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}

impl DevInput {
    /// Opens new devices and drops removed ones.
    fn look_for_devices(&mut self, folder: &Path, events: &mut Vec<PadEvent>) {
        let devices = match devices(folder) {
            Ok(devices) => devices,
            Err(error) => {
                // If the folder does not exist, nothing can be plugged in.
                let is_missing = error.kind() == ErrorKind::NotFound;
                self.problem = (!is_missing).then(|| {
                    format!(
                        "Gamepads cannot be read: no permission to open {} ({error}).",
                        folder.display()
                    )
                });
                return;
            }
        };
        self.others.retain(|path| devices.contains(path));
        let mut refused = None;
        for path in devices {
            if self.pads.contains_key(&path) || self.others.contains(&path) {
                continue;
            }
            match Device::open(&path) {
                Ok(device) => self.take(path, device, events),
                // Access to keyboards and mice is always refused, and does not matter here.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    if is_linked_as_pad(folder, &path) {
                        refused = Some(refusal(&path));
                    }
                }
                // The device was just unplugged or is not a device; the next search will show which.
                Err(_) => {}
            }
        }
        self.problem = refused;
    }

    /// Keeps an opened device if it is a pad.
    fn take(&mut self, path: PathBuf, device: Device, events: &mut Vec<PadEvent>) {
        let Some(axes) = axes_of(&device) else {
            self.others.insert(path);
            return;
        };
        // A device that cannot be read without blocking the window is not used.
        if device.set_nonblocking(true).is_err() {
            self.others.insert(path);
            return;
        }
        self.opened += 1;
        let id = self.opened;
        let name = device.name().unwrap_or("Gamepad").to_owned();
        events.push(PadEvent::Connected(id, name));
        let pad = Pad { id, device, axes };
        self.pads.insert(path, pad);
    }
}

impl Pad {
    /// Reads the pad's pending events. Returns whether it is still connected.
    fn read(&mut self, events: &mut Vec<PadEvent>) -> bool {
        let fetched = match self.device.fetch_events() {
            Ok(fetched) => fetched,
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        };
        for event in fetched {
            events.extend(meaning(self.id, &self.axes, event.destructure()));
        }
        true
    }
}

/// Converts an event of a device; `None` if it has no meaning for driving.
fn meaning(
    id: PadId,
    axes: &[(AbsoluteAxisCode, Axis, Range)],
    event: EventSummary,
) -> Option<PadEvent> {
    match event {
        EventSummary::AbsoluteAxis(_, code, value) => {
            let (_, axis, range) = axes.iter().find(|(own, ..)| *own == code)?;
            Some(PadEvent::Moved(id, *axis, range.share(*axis, value)))
        }
        EventSummary::Key(_, KeyCode::BTN_EAST, 1) => Some(PadEvent::Pressed(id, Button::East)),
        // Digital triggers are pressed or released.
        EventSummary::Key(_, code, value) => {
            let axis = match code {
                KeyCode::BTN_TL2 => Axis::Brake,
                KeyCode::BTN_TR2 => Axis::Throttle,
                _ => return None,
            };
            let is_analogue = axes.iter().any(|(_, own, _)| *own == axis);
            let held = f64::from(u8::from(value != 0));
            (!is_analogue).then_some(PadEvent::Moved(id, axis, held))
        }
        _ => None,
    }
}

impl Range {
    fn of(info: AbsInfo) -> Self {
        Self {
            low: info.minimum(),
            high: info.maximum(),
        }
    }

    /// Converts a value to a share of the range: -1 to 1 for a stick, 0 to 1 for a trigger. An axis without a
    /// range stays at rest.
    fn share(self, axis: Axis, value: i32) -> f64 {
        let (low, high) = (f64::from(self.low), f64::from(self.high));
        if high <= low {
            return 0.0;
        }
        let share = ((f64::from(value) - low) / (high - low)).clamp(0.0, 1.0);
        match axis {
            Axis::Steering => 2.0 * share - 1.0,
            Axis::Brake | Axis::Throttle => share,
        }
    }
}

/// Returns the axes of a device that control driving; `None` if it is not a gamepad.
fn axes_of(device: &Device) -> Option<Vec<(AbsoluteAxisCode, Axis, Range)>> {
    let keys = device.supported_keys()?;
    if !keys.contains(KeyCode::BTN_SOUTH) {
        return None;
    }
    let infos: Vec<(AbsoluteAxisCode, AbsInfo)> = device.get_absinfo().ok()?.collect();
    let own: Vec<AbsoluteAxisCode> = infos.iter().map(|(code, _)| *code).collect();
    let chosen = choose_axes(&own)?;
    let with_range = chosen.into_iter().filter_map(|(code, axis)| {
        let (_, info) = infos.iter().find(|(own, _)| *own == code)?;
        Some((code, axis, Range::of(*info)))
    });
    Some(with_range.collect())
}

/// Chooses the axes that control driving; `None` if the device has no left stick.
fn choose_axes(own: &[AbsoluteAxisCode]) -> Option<Vec<(AbsoluteAxisCode, Axis)>> {
    use AbsoluteAxisCode as Code;
    let has = |code: Code| own.contains(&code);
    if !has(Code::ABS_X) {
        return None;
    }
    // Device drivers assign the axes differently. If the right stick is RX and RY, then Z and RZ are the
    // triggers; otherwise Z and RZ are the right stick.
    let pairs = [
        (Code::ABS_BRAKE, Code::ABS_GAS, true),
        (Code::ABS_Z, Code::ABS_RZ, has(Code::ABS_RX)),
        (Code::ABS_HAT2Y, Code::ABS_HAT2X, true),
    ];
    let triggers = pairs
        .into_iter()
        .find(|(brake, throttle, is_free)| *is_free && has(*brake) && has(*throttle));
    let mut axes = vec![(Code::ABS_X, Axis::Steering)];
    if let Some((brake, throttle, _)) = triggers {
        axes.extend([(brake, Axis::Brake), (throttle, Axis::Throttle)]);
    }
    Some(axes)
}

/// Returns the devices in a folder.
fn devices(folder: &Path) -> std::io::Result<BTreeSet<PathBuf>> {
    let entries = std::fs::read_dir(folder)?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_device = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("event"))
    };
    Ok(paths.filter(is_device).collect())
}

/// Whether the name of a link identifies a device as a joystick or gamepad. Used for devices that cannot be
/// opened.
fn is_linked_as_pad(folder: &Path, device: &Path) -> bool {
    let links = ["by-id", "by-path"].map(|links| std::fs::read_dir(folder.join(links)));
    let mut links = links.into_iter().flatten().flatten().flatten();
    links.any(|link| {
        let name = link.file_name();
        let is_pad = name.to_str().is_some_and(|name| name.ends_with(LINK_END));
        is_pad && std::fs::canonicalize(link.path()).is_ok_and(|to| to == device)
    })
}

fn refusal(device: &Path) -> String {
    format!(
        "A gamepad is plugged in, but {} is not readable; join the group \"input\" or ask for permission.",
        device.display()
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use AbsoluteAxisCode as Code;

    fn axes(own: &[Code]) -> Vec<(Code, Axis, Range)> {
        let range = |code: Code| {
            let is_stick = code == Code::ABS_X;
            Range {
                low: if is_stick { -32768 } else { 0 },
                high: if is_stick { 32767 } else { 1023 },
            }
        };
        let chosen = choose_axes(own).unwrap().into_iter();
        chosen
            .map(|(code, axis)| (code, axis, range(code)))
            .collect()
    }

    fn absolute(code: Code, value: i32) -> EventSummary {
        evdev::InputEvent::new(evdev::EventType::ABSOLUTE.0, code.0, value).destructure()
    }

    fn key(code: KeyCode, value: i32) -> EventSummary {
        evdev::InputEvent::new(evdev::EventType::KEY.0, code.0, value).destructure()
    }

    #[test]
    fn triggers_are_found_whatever_a_driver_calls_them() {
        let found = |own: &[Code]| {
            let chosen = choose_axes(own)?;
            let of = |wanted: Axis| {
                let mut all = chosen.iter();
                all.find(|(_, axis)| *axis == wanted).map(|(code, _)| *code)
            };
            Some((of(Axis::Brake), of(Axis::Throttle)))
        };
        let sticks = [Code::ABS_X, Code::ABS_Y, Code::ABS_RX, Code::ABS_RY];
        let usual = [&sticks[..], &[Code::ABS_Z, Code::ABS_RZ]].concat();
        assert_eq!(found(&usual), Some((Some(Code::ABS_Z), Some(Code::ABS_RZ))));
        // The right stick of other pads is Z and RZ.
        let other = [Code::ABS_X, Code::ABS_Y, Code::ABS_Z, Code::ABS_RZ];
        assert_eq!(found(&other), Some((None, None)));
        let wireless = [&other[..], &[Code::ABS_GAS, Code::ABS_BRAKE]].concat();
        assert_eq!(
            found(&wireless),
            Some((Some(Code::ABS_BRAKE), Some(Code::ABS_GAS)))
        );
        assert_eq!(found(&[Code::ABS_RX]), None);
    }

    #[test]
    fn events_of_the_kernel_become_shares() {
        let own = axes(&[Code::ABS_X, Code::ABS_RX, Code::ABS_Z, Code::ABS_RZ]);
        let moved = |event| match meaning(7, &own, event) {
            Some(PadEvent::Moved(7, axis, value)) => Some((axis, value)),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            moved(absolute(Code::ABS_X, -32768)),
            Some((Axis::Steering, -1.0))
        );
        assert_eq!(
            moved(absolute(Code::ABS_X, 32767)),
            Some((Axis::Steering, 1.0))
        );
        assert_eq!(
            moved(absolute(Code::ABS_RZ, 1023)),
            Some((Axis::Throttle, 1.0))
        );
        assert_eq!(
            moved(absolute(Code::ABS_Z, i32::MAX)),
            Some((Axis::Brake, 1.0))
        );
        assert_eq!(moved(absolute(Code::ABS_RX, 5)), None);
        // If triggers are axes, their buttons are ignored.
        assert_eq!(moved(key(KeyCode::BTN_TR2, 1)), None);
        let pressed = meaning(7, &own, key(KeyCode::BTN_EAST, 1));
        assert_eq!(pressed, Some(PadEvent::Pressed(7, Button::East)));
        assert_eq!(meaning(7, &own, key(KeyCode::BTN_EAST, 0)), None);
    }

    #[test]
    fn triggers_that_are_buttons_are_all_or_nothing() {
        let own = axes(&[Code::ABS_X]);
        for (code, axis) in [
            (KeyCode::BTN_TL2, Axis::Brake),
            (KeyCode::BTN_TR2, Axis::Throttle),
        ] {
            for value in [1, 0] {
                let moved = PadEvent::Moved(1, axis, f64::from(value));
                assert_eq!(meaning(1, &own, key(code, value)), Some(moved));
            }
        }
    }

    #[test]
    fn an_axis_without_a_range_rests() {
        for (low, high) in [(0, 0), (5, -5), (i32::MAX, i32::MIN)] {
            let range = Range { low, high };
            assert_eq!(range.share(Axis::Steering, 3), 0.0);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_told_and_one_that_is_missing_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = DevInput::default();
        let mut events = Vec::new();
        // A file takes the place of the folder, so it cannot be listed.
        let file = folder.path().join("input");
        std::fs::write(&file, "").unwrap();
        source.look_for_devices(&file, &mut events);
        assert!(
            source
                .problem()
                .is_some_and(|why| why.contains("Gamepads cannot be read"))
        );
        source.look_for_devices(&folder.path().join("missing"), &mut events);
        assert_eq!(source.problem(), None);
        // Files that are not devices are ignored without an error.
        let input = folder.path().join("devices");
        std::fs::create_dir_all(input.join("by-id")).unwrap();
        std::fs::write(input.join("event0"), "no device").unwrap();
        std::fs::write(input.join("mice"), "").unwrap();
        source.look_for_devices(&input, &mut events);
        assert_eq!((source.problem(), source.pads.len()), (None, 0));
        assert!(events.is_empty());
    }

    #[test]
    fn a_pad_that_may_not_be_read_is_known_by_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let device = folder.join("event3");
        std::fs::write(&device, "").unwrap();
        assert!(!is_linked_as_pad(&folder, &device));
        std::fs::create_dir(folder.join("by-id")).unwrap();
        let link = folder.join("by-id/usb-Some_Pad-event-joystick");
        std::os::unix::fs::symlink("../event3", link).unwrap();
        assert!(is_linked_as_pad(&folder, &device));
        assert!(!is_linked_as_pad(&folder, &folder.join("event4")));
        assert!(refusal(&device).contains("event3 is not readable"));
    }
}

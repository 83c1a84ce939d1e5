//! The commands that the user can give. Each has a name, a hint and a key, and is listed in the
//! palette.

use crate::input::{Key, KeyChord, Modifiers};
use crate::panel::{MenuPlace, PanelId};
use crate::tools::ToolKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The table of commands, in the order of the palette: name, title, hint, key. The commands of
/// tools have a separate table, so that the compiler checks that none is missing. The commands of
/// panels come from the table of panels.
macro_rules! commands {
    (
        $($name:ident: $title:literal, $hint:literal, $key:literal;)*
        => tools {
            $($tool:ident: $tool_title:literal, $tool_hint:literal, $tool_key:literal;)*
        }
        $($later:ident: $later_title:literal, $later_hint:literal, $later_key:literal;)*
    ) => {
        /// A command of the user.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Command {
            $(#[doc = $hint] $name,)*
            /// Selects a tool.
            Tool(ToolKind),
            /// Brings a panel to the front.
            Panel(PanelId),
            $(#[doc = $later_hint] $later,)*
        }

        impl Command {
            /// The commands of this table, in the order of the palette.
            const LISTED: &[Self] = &[
                $(Self::$name,)*
                $(Self::Tool(ToolKind::$tool),)*
                $(Self::$later,)*
            ];

            /// Returns the title, the hint and the default key. The key is empty if there is none.
            fn described(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Self::$name => ($title, $hint, $key),)*
                    $(Self::Tool(ToolKind::$tool) => ($tool_title, $tool_hint, $tool_key),)*
                    Self::Panel(panel) => {
                        let entry = panel.entry();
                        let (title, hint) = entry.map_or((panel.title(), ""), |e| (e.title, e.hint));
                        (title, hint, "")
                    }
                    $(Self::$later => ($later_title, $later_hint, $later_key),)*
                }
            }

            /// Returns the name of the command in this table, or the id of its panel.
            fn variant(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                    $(Self::Tool(ToolKind::$tool) => concat!("Tool", stringify!($tool)),)*
                    Self::Panel(panel) => panel.id(),
                    $(Self::$later => stringify!($later),)*
                }
            }
        }
    };
}

// A new command needs a line here and a line in `actions.rs`.
commands! {
    New: "New", "Start an empty scenario.", "Ctrl+N";
    Open: "Open…", "Open a scenario file.", "Ctrl+O";
    Save: "Save", "Write the scenario to its file.", "Ctrl+S";
    SaveAs: "Save as…", "Write the scenario to another file.", "Ctrl+Shift+S";
    Import: "Import OpenStreetMap…", "Create a scenario from a map extract (.osm, .osm.pbf).", "Ctrl+I";
    ExportPicture: "Export picture…", "Write the map as a PNG picture.", "Ctrl+E";
    Share: "Share…", "Write the scenario and all its files to a single file.", "Ctrl+Shift+E";
    Welcome: "Welcome", "Show the shipped scenarios and recent files.", "";
    Quit: "Quit", "Quit Roadwright.", "Ctrl+Q";
    Undo: "Undo", "Undo the last step.", "Ctrl+Z";
    Redo: "Redo", "Redo the last undone step.", "Ctrl+Y";
    RedoToo: "Redo (second key)", "Redo the last undone step.", "Ctrl+Shift+Z";
    Copy: "Copy", "Copy the selection.", "Ctrl+C";
    Cut: "Cut", "Copy the selection and delete it.", "Ctrl+X";
    Paste: "Paste", "Paste the copied objects at the pointer.", "Ctrl+V";
    Duplicate: "Duplicate", "Add a copy of the selection beside it.", "Ctrl+D";
    Delete: "Delete", "Delete the selection.", "Delete";
    SelectAll: "Select all", "Select everything.", "Ctrl+A";
    SelectSimilar: "Select similar", "Select all similar objects: roads of the same class, agents with the \
        same stack.", "Ctrl+Shift+A";
    NudgeWest: "Nudge west", "Move the selection west by a metre or a grid step.", "Left";
    NudgeEast: "Nudge east", "Move the selection east by a metre or a grid step.", "Right";
    NudgeNorth: "Nudge north", "Move the selection north by a metre or a grid step.", "Up";
    NudgeSouth: "Nudge south", "Move the selection south by a metre or a grid step.", "Down";
    Group: "Group", "Group the selection: a click on a member selects the group.", "Ctrl+G";
    Ungroup: "Ungroup", "Dissolve the selected groups.", "Ctrl+Shift+G";
    MirrorLeftRight: "Mirror left to right", "Mirror the selection about its centre: left becomes right.", "Shift+H";
    MirrorUpDown: "Mirror top to bottom", "Mirror the selection about its centre: top becomes bottom.", "Shift+V";
    TurnLeft: "Rotate left 90°", "Rotate the selection 90° counter-clockwise about its centre.", "Ctrl+OpenBracket";
    TurnRight: "Rotate right 90°", "Rotate the selection 90° clockwise about its centre.", "Ctrl+CloseBracket";
    SplitRoad: "Split road", "Split the selected road at the pointer, otherwise in the middle.", "K";
    MergeRoads: "Merge roads", "Join the two roads that meet at the selected node, or two selected roads.", "J";
    MergeJunctions: "Merge junctions", "Merge the selected junctions, or the selected junction and its nearest neighbour.", "";
    PartJunctions: "Separate junctions", "Separate a junction that was merged by hand.", "";
    AddTurnLanes: "Add turn lanes", "Add a 30 m turn lane to each approach.", "";
    TurnIntoRoundabout: "Turn into roundabout", "Replace the selected junction by a roundabout.", "";
    ReverseRoad: "Reverse road", "Reverse the traffic of the selected one-way road, or the line of any other road.", "";
    SimplifyRoad: "Simplify road", "Redraw the selected road with the fewest possible lines and arcs.", "";
    PlayPause: "Play or pause", "Start or pause the simulation.", "Space";
    StepOnce: "Step", "Advance the simulation by one step.", "Period";
    Reset: "Reset", "Return to the start of the simulation.", "Shift+R";
    Faster: "Faster", "Double the speed of the simulation.", "Plus";
    Slower: "Slower", "Halve the speed of the simulation.", "Minus";
    LookBack: "Step back", "Show the run one second earlier; playing continues from there.", "Comma";
    Drive: "Drive it yourself", "Drive the watched vehicle with W, A, S, D or the arrow keys; Escape returns \
        control.", "Shift+D";
    FullLock: "Full lock", "While you drive, turn the wheels fully at any speed, so that you can make the vehicle skid.",
        "Shift+L";
    RecordClip: "Record clip", "Start or stop recording a clip of the vehicle that you drive or watch, for the Moves \
        panel.", "E";
    RaceAgain: "Restart the race", "Start another try on the current race course.", "Q";
    Uncouple: "Uncouple trailer", "Uncouple the last trailer of the watched vehicle; it stays where it is, \
        with its brakes on.", "Shift+U";
    Couple: "Couple trailer", "Couple the trailer behind the watched vehicle; back up to it first.", "Shift+J";
    Follow: "Follow vehicle", "Keep the watched vehicle in the centre of the map.", "Shift+F";
    FrameSelection: "Frame selection", "Show the selection, or everything if nothing is selected.", "F";
    FrameAll: "Frame all", "Show the whole scenario.", "Home";
    Search: "Find…", "Find a street, a park, a body of water, an object by its number, a problem or a command.", "Ctrl+F";
    ShowHidden: "Show everything hidden", "Show everything that View > Hide has hidden.", "Alt+H";
    ToggleGrid: "Grid", "Show or hide the grid.", "G";
    ToggleGridSnap: "Snap to grid", "Snap the pointer to the grid.", "Shift+G";
    ToggleMinimap: "Minimap", "Show or hide the minimap.", "N";
    ToggleTheme: "Light or dark theme", "Switch between the light and the dark theme.", "";
    Larger: "Larger interface", "Make the interface larger.", "Ctrl+Plus";
    Smaller: "Smaller interface", "Make the interface smaller.", "Ctrl+Minus";
    BrushSmaller: "Smaller brush", "Make the brush of the current tool smaller.", "OpenBracket";
    BrushLarger: "Larger brush", "Make the brush of the current tool larger.", "CloseBracket";
    LayerUp: "Road layer up", "Draw the road one layer higher, for example as a bridge.", "PageUp";
    LayerDown: "Road layer down", "Draw the road one layer lower, for example as a tunnel.", "PageDown";
    => tools {
        Select: "Tool: Select", "Select, move, rotate and reshape objects.", "V";
        Road: "Tool: Road", "Draw roads.", "R";
        Roundabout: "Tool: Roundabout", "Draw roundabouts.", "C";
        Obstacle: "Tool: Obstacle", "Place obstacles.", "O";
        Forest: "Tool: Forest", "Paint forests.", "T";
        Land: "Tool: Land", "Draw parks, water and districts.", "U";
        Paint: "Tool: Paint", "Paint ground that vehicles avoid when they leave the lanes.", "I";
        Place: "Tool: Place", "Place points of interest and parking bays.", "P";
        Terrain: "Tool: Terrain", "Shape the ground.", "H";
        Vehicle: "Tool: Vehicle", "Place vehicles.", "A";
        Flow: "Tool: Flow", "Draw flows of vehicles.", "L";
        Measure: "Tool: Measure", "Measure distances.", "M";
        Overlay: "Tool: Picture", "Place a background picture.", "B";
    }
    Palette: "Command palette", "Find a command, a street, an object by its number or a problem.", "Ctrl+P";
    Keys: "Keys", "Show and change the keyboard shortcuts.", "Questionmark";
    KeepRun: "Keep this run", "Keep the results so far, so that other runs can be compared with them.", "";
    ResetPanels: "Reset panels", "Restore the default layout of the panels.", "";
}

impl Command {
    /// Returns all commands, in the order of the palette. Commands of panels come before and after
    /// [`KeepRun`](Self::KeepRun).
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
            let is_of_run =
                |panel: &PanelId| panel.entry().map(|e| e.place) == Some(MenuPlace::Run);
            let opened = PanelId::ALL.iter().filter(|panel| panel.entry().is_some());
            let (first, last): (Vec<PanelId>, Vec<PanelId>) =
                opened.partition(|panel| is_of_run(panel));
            let commands = |panels: Vec<PanelId>| panels.into_iter().map(Command::Panel);
            let split = Command::LISTED
                .iter()
                .position(|command| *command == Command::KeepRun);
            let (before, rest) = Command::LISTED.split_at(split.unwrap_or_default());
            let mut all = before.to_vec();
            all.extend(commands(first));
            all.extend(&rest[..1]);
            all.extend(commands(last));
            all.extend(&rest[1..]);
            all
        });
        &ALL
    }

    /// Whether the command edits the scenario. A stroke in progress is ended before such a command
    /// runs. Undo is not included, because it cancels the stroke itself.
    pub fn edits(self) -> bool {
        matches!(
            self,
            Self::Redo
                | Self::RedoToo
                | Self::Cut
                | Self::Paste
                | Self::Duplicate
                | Self::Delete
                | Self::NudgeWest
                | Self::NudgeEast
                | Self::NudgeNorth
                | Self::NudgeSouth
                | Self::Group
                | Self::Ungroup
                | Self::MirrorLeftRight
                | Self::MirrorUpDown
                | Self::TurnLeft
                | Self::TurnRight
                | Self::SplitRoad
                | Self::MergeRoads
                | Self::MergeJunctions
                | Self::PartJunctions
                | Self::AddTurnLanes
                | Self::TurnIntoRoundabout
                | Self::ReverseRoad
                | Self::SimplifyRoad
        )
    }

    /// Returns the name shown on buttons, in menus and in the palette.
    pub fn title(self) -> &'static str {
        self.described().0
    }

    /// Returns one sentence that says what the command does.
    pub fn hint(self) -> &'static str {
        self.described().1
    }

    fn default_key(self) -> &'static str {
        self.described().2
    }

    /// Returns the name of the command in the settings file, such as `tool_road` or `save_as`.
    /// Renaming a command would lose the key bound to it.
    fn file_name(self) -> String {
        let mut name = String::new();
        for (i, letter) in self.variant().char_indices() {
            if i > 0 && letter.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
}

// Implemented by hand, because the derived form of `Tool(Road)` is not a string, but map keys must be
// strings.
impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.file_name())
    }
}

/// Key bindings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct KeyMap {
    /// Keys of the commands whose binding differs from the default, such as `Ctrl+Shift+S`; empty
    /// for a command without a key.
    changed: BTreeMap<Command, String>,
}

impl<'de> Deserialize<'de> for KeyMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Commands of other versions are dropped; the others keep their keys.
        let named = BTreeMap::<String, String>::deserialize(deserializer)?;
        let known = Command::all().iter().filter_map(|&command| {
            let key = named.get(&command.file_name())?;
            Some((command, key.clone()))
        });
        Ok(Self {
            changed: known.collect(),
        })
    }
}

impl KeyMap {
    /// Returns the key of a command as text; empty if it has none.
    pub fn text(&self, command: Command) -> &str {
        let standard = command.default_key();
        self.changed.get(&command).map_or(standard, String::as_str)
    }

    /// Returns the key of a command; `None` if it has none.
    pub fn chord(&self, command: Command) -> Option<KeyChord> {
        parse(self.text(command))
    }

    /// Binds a command to a key and takes the key from any other command.
    pub fn bind(&mut self, command: Command, chord: KeyChord) {
        let text = text_of(chord);
        for other in Command::all() {
            if *other != command && self.text(*other) == text {
                // An empty text rather than a removal, which would restore its default key.
                self.changed.insert(*other, String::new());
            }
        }
        self.changed.insert(command, text);
    }

    /// Restores the default keys.
    pub fn reset(&mut self) {
        self.changed.clear();
    }

    /// Returns the command bound to a key; `None` if there is none.
    pub fn command(&self, pressed: KeyChord) -> Option<Command> {
        let KeyChord { key, modifiers } = pressed;
        Command::all().iter().copied().find(|command| {
            self.chord(*command).is_some_and(|wanted| {
                // Which symbols need Shift depends on the keyboard.
                let is_shift_alike = wanted.modifiers.shift == modifiers.shift || is_symbol(key);
                wanted.key == key
                    && is_shift_alike
                    && wanted.modifiers.ctrl == modifiers.ctrl
                    && wanted.modifiers.alt == modifiers.alt
            })
        })
    }

    /// Returns the key of a command as shown on screen.
    pub fn label(&self, command: Command) -> String {
        let text = self.text(command);
        let pretty = [
            ("OpenBracket", "["),
            ("CloseBracket", "]"),
            ("Questionmark", "?"),
            ("Period", "."),
            ("Comma", ","),
            ("Slash", "/"),
            ("Plus", "+"),
            ("Minus", "-"),
        ];
        let mut label = text.to_owned();
        for (name, symbol) in pretty {
            label = label.replace(name, symbol);
        }
        label
    }
}

/// Whether a key types a symbol that needs Shift on some keyboards.
fn is_symbol(key: Key) -> bool {
    matches!(
        key,
        Key::Plus | Key::Questionmark | Key::Minus | Key::Period | Key::Comma
    )
}

fn parse(text: &str) -> Option<KeyChord> {
    let mut modifiers = Modifiers::default();
    let mut rest = text;
    loop {
        let (modifier, after) = match rest.split_once('+') {
            Some(("Ctrl", after)) => (&mut modifiers.ctrl, after),
            Some(("Shift", after)) => (&mut modifiers.shift, after),
            Some(("Alt", after)) => (&mut modifiers.alt, after),
            _ => break,
        };
        *modifier = true;
        rest = after;
    }
    Key::from_name(rest).map(|key| KeyChord { modifiers, key })
}

fn text_of(chord: KeyChord) -> String {
    let Modifiers { shift, ctrl, alt } = chord.modifiers;
    let mut text = String::new();
    for (held, name) in [(ctrl, "Ctrl+"), (shift, "Shift+"), (alt, "Alt+")] {
        if held {
            text += name;
        }
    }
    text + chord.key.name()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn with_ctrl(key: Key) -> KeyChord {
        let modifiers = Modifiers {
            ctrl: true,
            ..Modifiers::default()
        };
        KeyChord { modifiers, key }
    }

    #[test]
    fn every_standard_key_is_one_and_is_used_once() {
        let mut seen = BTreeSet::new();
        let map = KeyMap::default();
        for command in Command::all() {
            let text = map.text(*command);
            if text.is_empty() {
                continue;
            }
            assert!(map.chord(*command).is_some(), "{text}");
            assert!(seen.insert(text), "{text} is used twice");
        }
    }

    #[test]
    fn a_key_that_is_taken_is_taken_away() {
        let mut map = KeyMap::default();
        let chord = KeyChord {
            modifiers: Modifiers::default(),
            key: Key::O,
        };
        map.bind(Command::Tool(ToolKind::Road), chord);
        assert_eq!(map.command(chord), Some(Command::Tool(ToolKind::Road)));
        assert_eq!(map.text(Command::Tool(ToolKind::Obstacle)), "");
        map.reset();
        assert_eq!(map.command(chord), Some(Command::Tool(ToolKind::Obstacle)));
    }

    #[test]
    fn every_tool_has_a_command() {
        for tool in ToolKind::ALL {
            assert!(Command::all().contains(&Command::Tool(tool)));
        }
    }

    #[test]
    fn keys_in_settings_keep_their_names() {
        let mut map = KeyMap::default();
        map.bind(Command::Tool(ToolKind::Road), with_ctrl(Key::F5));
        map.bind(Command::SaveAs, with_ctrl(Key::F6));
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(text, r#"{"save_as":"Ctrl+F6","tool_road":"Ctrl+F5"}"#);
        assert_eq!(serde_json::from_str::<KeyMap>(&text).unwrap(), map);
        // Commands of other versions are dropped.
        let foreign: KeyMap = serde_json::from_str(r#"{"tool_spoon":"X"}"#).unwrap();
        assert_eq!(foreign, KeyMap::default());
    }

    #[test]
    fn keys_that_were_bound_to_panels_are_kept() {
        // Settings written by a version in which each of these was a separate command.
        let written = r#"{"results":"Ctrl+F5","import_report":"Ctrl+F6","compare_runs":"Ctrl+F7","green_wave":"Ctrl+F8","experiment":"Ctrl+F9","workshop":"Ctrl+F10"}"#;
        let map: KeyMap = serde_json::from_str(written).unwrap();
        let keys = [
            (PanelId::Results, Key::F5),
            (PanelId::Import, Key::F6),
            (PanelId::Compare, Key::F7),
            (PanelId::GreenWave, Key::F8),
            (PanelId::Experiment, Key::F9),
            (PanelId::Workshop, Key::F10),
        ];
        for (panel, key) in keys {
            let bound = map.command(with_ctrl(key));
            assert_eq!(bound, Some(Command::Panel(panel)));
        }
        assert_eq!(serde_json::to_string(&map).unwrap(), written);
    }

    #[test]
    fn the_palette_lists_panels_around_the_runs_that_are_kept() {
        let kept = Command::all()
            .iter()
            .position(|command| *command == Command::KeepRun);
        let around = &Command::all()[kept.unwrap() - 2..=kept.unwrap() + 7];
        let panel = Command::Panel;
        let wanted = [
            panel(PanelId::Results),
            panel(PanelId::Timeline),
            Command::KeepRun,
            panel(PanelId::Import),
            panel(PanelId::Compare),
            panel(PanelId::GreenWave),
            panel(PanelId::Experiment),
            panel(PanelId::Moves),
            panel(PanelId::Workshop),
            Command::ResetPanels,
        ];
        assert_eq!(around, wanted);
    }
}

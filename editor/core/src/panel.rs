//! The panels of the window as a single table, from which tabs, menus, the palette and keys are
//! made.

use std::fmt;

/// Initial position of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dock {
    /// Beside the map, among the upper tabs.
    Upper,
    /// Beside the map, among the lower tabs.
    Lower,
    /// Hidden until the user opens it. It appears below the map, where it can be closed again.
    BelowMap,
    /// Along the bottom of the map, below other panels opened there. Hidden until a run is played
    /// or the user opens it. It can be closed.
    Bottom,
}

/// Position in the menu bar of the command that brings a panel to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuPlace {
    /// In the File menu, after Import.
    Import,
    /// In the Simulation menu, before Keep this run.
    Run,
    /// In the Simulation menu, after Keep this run.
    Runs,
    /// In the last group of the Simulation menu.
    Studies,
}

/// The command that brings a panel to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MenuEntry {
    /// Place of the command in the menu bar.
    pub place: MenuPlace,
    /// The title in menus and in the palette.
    pub title: &'static str,
    /// One sentence that says what the command does.
    pub hint: &'static str,
}

/// Passes the rows of all panels to a macro, in the order of their tabs: name, id, title, dock, module in
/// `panels` with the function that draws it, and menu entry.
///
/// The id names the panel's command in users' settings, so it never changes.
#[macro_export]
macro_rules! for_each_panel {
    ($rows:ident) => {
        $rows! {
            Inspector: "inspector", "Inspector", Upper, inspector, None;
            Vehicle: "vehicle", "Vehicle", Upper, vehicle, None;
            Controller: "controller", "Controller", Upper, controller, None;
            Scenario: "scenario", "Scenario", Upper, objects, None;
            Script: "script", "Script", Upper, scripts, None;
            Problems: "problems", "Problems", Lower, problems, None;
            History: "history", "History", Lower, history, None;
            Modules: "modules", "Modules", Lower, modules, None;
            Results: "results", "Results", Lower, results, Some(MenuEntry {
                place: MenuPlace::Run,
                title: "Results",
                hint: "Show the results of the run: curves over time, and trips.",
            });
            Timeline: "timeline", "Timeline", Bottom, timeline, Some(MenuEntry {
                place: MenuPlace::Run,
                title: "Timeline",
                hint: "Show the last five minutes of the run: contacts, arrivals, signals and a curve.",
            });
            Import: "import_report", "Import report", BelowMap, import, Some(MenuEntry {
                place: MenuPlace::Import,
                title: "Import report",
                hint: "Show what the last import created and what it left out.",
            });
            Compare: "compare_runs", "Compare runs", BelowMap, compare, Some(MenuEntry {
                place: MenuPlace::Runs,
                title: "Compare runs",
                hint: "Compare two runs side by side: figures, curves, and trips of the same agents.",
            });
            GreenWave: "green_wave", "Green wave", BelowMap, green_wave, Some(MenuEntry {
                place: MenuPlace::Studies,
                title: "Green wave",
                hint: "Show the signals along a street over time and distance, and drag their cycles into a \
                    green wave.",
            });
            Experiment: "experiment", "Experiment", BelowMap, experiment, Some(MenuEntry {
                place: MenuPlace::Studies,
                title: "Experiment",
                hint: "Train a stack's parameters on a course, and watch the individuals drive.",
            });
            Moves: "moves", "Moves", BelowMap, moves, Some(MenuEntry {
                place: MenuPlace::Studies,
                title: "Moves",
                hint: "Record driving clips, combine them into a move library, and let agents \
                       drive with it.",
            });
            Workshop: "workshop", "Workshop", BelowMap, workshop, Some(MenuEntry {
                place: MenuPlace::Studies,
                title: "Vehicle workshop",
                hint: "Change the parameters of a vehicle, see their effects, and test or drive the vehicle.",
            });
        }
    };
}
macro_rules! declare_panels {
    ($($name:ident: $id:literal, $title:literal, $dock:ident, $module:ident, $entry:expr;)*) => {
        /// A panel of the window.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PanelId {
            $(#[doc = $title] $name,)*
        }

        impl PanelId {
            /// All panels, in the order of their tabs.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the id of the panel, which is the name of its command in settings.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// Returns the title of the panel's tab.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }

            /// Returns the initial position of the panel.
            pub fn dock(self) -> Dock {
                match self {
                    $(Self::$name => Dock::$dock,)*
                }
            }

            /// Returns the command that brings the panel to the front, if there is one.
            pub fn entry(self) -> Option<MenuEntry> {
                match self {
                    $(Self::$name => $entry,)*
                }
            }
        }
    };
}
for_each_panel!(declare_panels);

impl PanelId {
    /// Whether the panel can be closed. Other panels are always among the tabs.
    pub fn is_closable(self) -> bool {
        matches!(self.dock(), Dock::BelowMap | Dock::Bottom)
    }

    /// Returns the panels whose commands are in this part of the menu bar.
    pub fn at(place: MenuPlace) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |panel| panel.entry().is_some_and(|entry| entry.place == place))
    }

    /// Returns the panels whose initial position is `dock`.
    pub fn docked(dock: Dock) -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(move |panel| panel.dock() == dock)
    }
}

impl fmt::Display for PanelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_and_titles_of_panels_are_used_once() {
        let ids: BTreeSet<&str> = PanelId::ALL.iter().map(|panel| panel.id()).collect();
        let titles: BTreeSet<&str> = PanelId::ALL.iter().map(|panel| panel.title()).collect();
        assert_eq!(ids.len(), PanelId::ALL.len());
        assert_eq!(titles.len(), PanelId::ALL.len());
    }

    #[test]
    fn a_panel_that_is_nowhere_at_first_has_a_command() {
        for panel in PanelId::ALL.iter().filter(|panel| panel.is_closable()) {
            assert!(panel.entry().is_some(), "{panel}");
        }
    }
}

//! The vehicle on the bench, with its original and current numbers and its own undo history.

use super::{Drawn, Source};
use roadwright_scenario::Scenario;
use roadwright_scenario::vehicle_file::{VehicleFile, hash};
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum number of changes that can be undone.
const MOST_STEPS: usize = 200;

/// A change that was rejected because of an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Label of the rejected change.
    pub label: String,
    /// File key of the invalid value.
    pub key: String,
    /// Reason for the rejection.
    pub message: String,
}

/// A saved vehicle file.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Path of the file.
    pub path: PathBuf,
    /// Hash of the file's text.
    pub hash: String,
    /// Contents of the file.
    pub file: Arc<VehicleFile>,
}

/// A state that undo or redo restores.
#[derive(Debug, Clone)]
struct Step {
    label: String,
    file: Arc<VehicleFile>,
}

/// The vehicle on the bench.
#[derive(Debug, Clone)]
pub struct Bench {
    /// Origin of the vehicle.
    pub source: Source,
    /// The vehicle as opened, or as last saved.
    pub base: Arc<VehicleFile>,
    /// The current vehicle.
    pub file: Arc<VehicleFile>,
    /// Views and curves of the vehicle.
    pub drawn: Arc<Drawn>,
    /// The file from which the vehicle was last read, or to which it was last written.
    pub kept: Option<Kept>,
    /// The last rejected change.
    pub refused: Option<Refusal>,
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// Label of the change in progress.
    gesture: Option<String>,
}

impl Bench {
    /// Puts a vehicle on the bench.
    pub fn new(source: Source, file: VehicleFile) -> Self {
        let file = Arc::new(file);
        Self {
            source,
            base: file.clone(),
            drawn: Arc::new(Drawn::of(&file)),
            file,
            kept: None,
            refused: None,
            undo: Vec::new(),
            redo: Vec::new(),
            gesture: None,
        }
    }

    /// Puts a vehicle read from a file on the bench.
    pub fn from_path(path: PathBuf, file: VehicleFile, text: &str) -> Self {
        let bench = Self::new(Source::File(path.clone()), file);
        Self {
            kept: Some(Kept {
                path,
                hash: hash(text),
                file: bench.file.clone(),
            }),
            ..bench
        }
    }

    /// Whether the vehicle differs from its original.
    pub fn is_changed(&self) -> bool {
        self.file != self.base
    }

    /// Returns the file that contains the vehicle's current state; `None` if no file does.
    pub fn home(&self) -> Option<&Kept> {
        self.kept.as_ref().filter(|kept| kept.file == self.file)
    }

    /// Replaces the values. Consecutive changes with the same label form one step. If a value is
    /// not allowed in a file, the change is rejected with the key and the reason, and the vehicle
    /// stays unchanged.
    pub fn change(&mut self, label: &str, file: VehicleFile) {
        if let Err(error) = file.checked() {
            self.refused = Some(Refusal {
                label: label.to_owned(),
                key: error.key,
                message: error.message,
            });
            return;
        }
        self.refused = None;
        // The same label means the same drag, for which the undo step already exists.
        if self.gesture.as_deref() != Some(label) {
            self.commit();
            self.gesture = Some(label.to_owned());
            // The state before the change is stored once for the whole drag.
            self.undo.push(Step {
                label: label.to_owned(),
                file: self.file.clone(),
            });
            if self.undo.len() > MOST_STEPS {
                self.undo.remove(0);
            }
        }
        self.show(Arc::new(file));
    }

    fn show(&mut self, file: Arc<VehicleFile>) {
        self.drawn = Arc::new(Drawn::of(&file));
        self.file = file;
    }

    /// Ends the change in progress. A change without effect leaves no step.
    fn commit(&mut self) {
        if self.gesture.take().is_none() {
            return;
        }
        let is_idle = self.undo.last().is_some_and(|step| step.file == self.file);
        if is_idle {
            self.undo.pop();
        } else {
            // Not cleared earlier, because a drag that returns to its start must keep the redo steps.
            self.redo.clear();
        }
    }

    /// Ends the change in progress if it has the given label.
    pub fn commit_gesture(&mut self, label: &str) {
        if self.gesture.as_deref() == Some(label) {
            self.commit();
        }
    }

    /// Returns the labels of the next steps to undo and to redo.
    pub fn labels(&self) -> (Option<&str>, Option<&str>) {
        (
            self.undo.last().map(|step| step.label.as_str()),
            self.redo.last().map(|step| step.label.as_str()),
        )
    }

    /// Undoes the last change.
    pub fn undo(&mut self) {
        self.commit();
        if let Some(step) = self.undo.pop() {
            self.redo.push(Step {
                label: step.label,
                file: self.file.clone(),
            });
            self.refused = None;
            self.show(step.file);
        }
    }

    /// Redoes the change that was last undone.
    pub fn redo(&mut self) {
        self.commit();
        if let Some(step) = self.redo.pop() {
            self.undo.push(Step {
                label: step.label,
                file: self.file.clone(),
            });
            self.refused = None;
            self.show(step.file);
        }
    }

    /// Records that the given state was written to a file.
    pub fn note_saved(&mut self, kept: Kept) {
        // The undo steps are kept, so undoing after saving makes the vehicle differ from its file.
        self.base = kept.file.clone();
        self.source = Source::File(kept.path.clone());
        self.kept = Some(kept);
    }
}

impl Bench {
    /// Returns the key of the vehicle type in a scenario: the type from which the vehicle was
    /// opened, the type that already refers to its file, or a new one.
    pub fn type_key(&self, scenario: &Scenario) -> String {
        if let Source::Type(key) = &self.source {
            return key.clone();
        }
        let name = slug(&self.file.name, '_');
        let is_free = |key: &String| match scenario.vehicle_types().get(key) {
            None => true,
            Some(kind) => kind.file.as_ref().is_some_and(|file| {
                self.kept
                    .as_ref()
                    // Scenarios refer to files relative to their own folder.
                    .is_some_and(|kept| kept.path.ends_with(&file.path))
            }),
        };
        let mut names = (1u32..).map(|number| match number {
            1 => name.clone(),
            number => format!("{name}_{number}"),
        });
        names.find(is_free).unwrap_or(name.clone())
    }
}

/// Returns a name in lower-case letters and digits, with a separator between its words.
pub fn slug(name: &str, between: char) -> String {
    let letters = name.to_lowercase();
    let words = letters.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return "vehicle".into();
    }
    words.join(&between.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::vehicle_file::SHIPPED;

    fn bench() -> Bench {
        let jeep = SHIPPED.iter().find(|one| one.name == "willys-mb").unwrap();
        Bench::new(
            Source::Shipped(jeep.name),
            VehicleFile::from_text(jeep.text).unwrap(),
        )
    }

    fn heavier(bench: &Bench, mass: f64) -> VehicleFile {
        let mut file = (*bench.file).clone();
        file.body.mass = mass.into();
        file
    }

    #[test]
    fn a_drag_is_one_step_back_and_forth() {
        let mut bench = bench();
        for mass in [1100.0, 1200.0, 1300.0] {
            bench.change("Mass", heavier(&bench, mass));
        }
        bench.commit_gesture("Mass");
        assert!(bench.is_changed() && bench.labels() == (Some("Mass"), None));
        bench.undo();
        assert!(!bench.is_changed() && bench.labels() == (None, Some("Mass")));
        bench.redo();
        assert_eq!(bench.file.body.mass, 1300.0);
        // A change that is reverted before it ends is not a step.
        bench.change("Mass", heavier(&bench, 1400.0));
        bench.change("Mass", heavier(&bench, 1300.0));
        bench.commit_gesture("Mass");
        bench.undo();
        assert_eq!(bench.file.body.mass, 1000.0);
        bench.undo();
        assert_eq!(bench.file.body.mass, 1000.0);
    }

    #[test]
    fn absurd_numbers_are_refused_and_change_nothing() {
        let mut bench = bench();
        for mass in [0.0, -5.0, f64::NAN, f64::INFINITY, 1e12] {
            bench.change("Mass", heavier(&bench, mass));
            let refused = bench.refused.clone().unwrap();
            assert_eq!(refused.key, "body.mass", "{mass}: {refused:?}");
            assert!(!bench.is_changed() && bench.labels() == (None, None));
        }
        bench.change("Mass", heavier(&bench, 900.0));
        assert_eq!(bench.refused, None);
        assert!(bench.is_changed());
    }

    #[test]
    fn what_is_drawn_follows_at_once() {
        let mut bench = bench();
        let before = bench.drawn.facts.clone();
        bench.change("Mass", heavier(&bench, 2000.0));
        let value = |facts: &[roadwright_vehicle::sheet::Fact], name: &str| {
            facts.iter().find(|fact| fact.name == name).unwrap().value
        };
        assert_eq!(value(&bench.drawn.facts, "Mass"), 2040.0);
        assert!(value(&bench.drawn.facts, "Acceleration") < value(&before, "Acceleration"));
    }

    #[test]
    fn names_become_words_with_one_sign_between_them() {
        assert_eq!(slug("Willys MB", '-'), "willys-mb");
        assert_eq!(slug("  T-28 (heavy)", '_'), "t_28_heavy");
        assert_eq!(slug("../..", '-'), "vehicle");
    }
}

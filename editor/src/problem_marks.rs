//! Problem markers on the map. Nearby markers are merged into one disc with their count.

use crate::camera::Camera;
use crate::map_view::in_points;
use crate::marks::Board;
use crate::model::{Action, Model, ViewAction};
use crate::panel::PanelId;
use crate::tools::{MapPart, Tone};
use egui::{Align2, FontId, Id, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, vec2};
use roadwright_geometry::DVec2;
use roadwright_scenario::check::{Code, Finding, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Distance below which markers are merged, points.
const CLOSE: f64 = 24.0;
/// Maximum number of marks drawn per frame.
const MOST: usize = 400;
/// Margin around a disc's markers when zooming to it, as a share of the longer side of their box.
const ZOOM_MARGIN: f64 = 0.25;
/// Minimum margin around a disc's markers when zooming to it, m.
const ZOOM_MARGIN_METRES: f64 = 10.0;

/// Problems that share one marker.
struct Cluster {
    /// Place of the first and worst problem, m.
    place: DVec2,
    /// The corners of the box around all places, m.
    low: DVec2,
    high: DVec2,
    /// Number of problems by kind.
    codes: BTreeMap<Code, usize>,
    worst: Severity,
}

impl Cluster {
    fn of(finding: &Finding) -> Self {
        Self {
            place: finding.place,
            low: finding.place,
            high: finding.place,
            codes: BTreeMap::from([(finding.code, 1)]),
            worst: finding.severity,
        }
    }

    fn add(&mut self, finding: &Finding) {
        self.low = self.low.min(finding.place);
        self.high = self.high.max(finding.place);
        *self.codes.entry(finding.code).or_default() += 1;
        self.worst = self.worst.max(finding.severity);
    }

    fn count(&self) -> usize {
        self.codes.values().sum()
    }
}

/// Groups findings so that the places of two clusters are at least `distance` apart, m. A cluster
/// has the place of its first finding, so errors keep their places if they come first. O(n log n).
fn clusters<'f>(findings: impl Iterator<Item = &'f Finding>, distance: f64) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for finding in findings {
        let cell = (finding.place / distance).floor();
        let (x, y) = (cell.x as i64, cell.y as i64);
        let around = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
        let near = around.filter_map(|cell| cells.get(&cell)).flatten();
        let gap = |index: usize| (clusters[index].place - finding.place).length();
        let nearest = near.copied().min_by(|a, b| gap(*a).total_cmp(&gap(*b)));
        match nearest.filter(|index| gap(*index) < distance) {
            Some(index) => clusters[index].add(finding),
            None => {
                cells.entry((x, y)).or_default().push(clusters.len());
                clusters.push(Cluster::of(finding));
            }
        }
    }
    clusters
}

/// The state from which the clusters were formed.
#[derive(PartialEq)]
struct Key {
    findings: Arc<Vec<Finding>>,
    scale: f64,
    hidden_parts: BTreeSet<MapPart>,
    hidden_codes: BTreeSet<Code>,
}

impl Key {
    fn is_of(&self, model: &Model, scale: f64) -> bool {
        Arc::ptr_eq(&self.findings, &model.findings.1)
            && self.scale == scale
            && self.hidden_parts == model.settings.tools.hidden
            && self.hidden_codes == model.problems.hidden
    }
}

/// A disc in the last frame.
struct Disc {
    at: Pos2,
    radius: f32,
    /// Index of its cluster.
    cluster: usize,
}

/// The marks of problems.
#[derive(Default)]
pub(crate) struct ProblemMarks {
    key: Option<Key>,
    clusters: Vec<Cluster>,
    discs: Vec<Disc>,
}

impl ProblemMarks {
    /// Whether a point of the screen is on a disc. Clicks there do not reach the tool.
    pub(crate) fn contains(&self, at: Pos2) -> bool {
        self.disc_at(at).is_some()
    }

    fn disc_at(&self, at: Pos2) -> Option<&Disc> {
        let is_on = |disc: &&Disc| (disc.at - at).length() <= disc.radius;
        self.discs.iter().find(is_on)
    }

    /// Draws the marks.
    pub(crate) fn draw(&mut self, board: &Board<'_>, model: &Model) {
        self.discs.clear();
        if !model.settings.problems {
            return;
        }
        self.form(model, board.camera.scale);
        let view = board.rect.expand(20.0);
        let places = self.clusters.iter().enumerate();
        let seen = places
            .map(|(index, cluster)| (index, cluster, board.at(cluster.place)))
            .filter(|(.., at)| view.contains(*at));
        for (index, cluster, at) in seen.take(MOST) {
            if cluster.count() == 1 {
                board.problem(at, cluster.worst);
            } else {
                let radius = board.problem_disc(at, cluster.count(), cluster.worst);
                self.discs.push(Disc {
                    at,
                    radius,
                    cluster: index,
                });
            }
        }
    }

    /// Recomputes the clusters if the findings, the zoom or the hidden parts have changed.
    fn form(&mut self, model: &Model, scale: f64) {
        if self.key.as_ref().is_some_and(|key| key.is_of(model, scale)) {
            return;
        }
        let options = &model.settings.tools;
        let scenario = model.document.scenario();
        let shown = model.findings.1.iter().filter(|finding| {
            !model.problems.hidden.contains(&finding.code)
                && !options.is_hidden(scenario, finding.object)
        });
        self.clusters = clusters(shown, CLOSE * scale);
        self.key = Some(Key {
            findings: model.findings.1.clone(),
            scale,
            hidden_parts: options.hidden.clone(),
            hidden_codes: model.problems.hidden.clone(),
        });
    }

    /// Makes discs inert, so that strokes can begin on them.
    pub(crate) fn release(&mut self) {
        self.discs.clear();
    }

    /// Handles clicks on the disc under the pointer: zooms in until its marks separate, or lists its problems
    /// if zooming cannot separate them.
    pub(crate) fn ui(&self, ui: &Ui, map: Rect, camera: &Camera, actions: &mut Vec<Action>) {
        let pointer = ui.input(|i| i.pointer.latest_pos());
        let Some(disc) = pointer.and_then(|at| self.disc_at(at)) else {
            return;
        };
        let cluster = &self.clusters[disc.cluster];
        let rect = Rect::from_center_size(disc.at, vec2(2.0, 2.0) * disc.radius);
        let response = ui.interact(rect, Id::unique("problem disc"), Sense::click());
        let count = cluster.count();
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Button, true, format!("{count} problems on the map"))
        });
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        let zoomed = zoom_to(cluster, map);
        let comes_apart = (cluster.high - cluster.low).max_element() >= CLOSE * zoomed.scale
            && zoomed.scale < camera.scale;
        if response.clicked() {
            if comes_apart {
                actions.push(Action::View(ViewAction::StopFollowing));
                actions.push(Action::View(ViewAction::Look(zoomed)));
            } else {
                let place = Some((cluster.low, cluster.high));
                actions.push(Action::View(ViewAction::ListProblems(place)));
                actions.push(Action::ShowPanel(PanelId::Problems));
            }
        }
        response.on_hover_text(hint(cluster, comes_apart));
    }
}

/// Returns the view of a cluster and its surroundings.
fn zoom_to(cluster: &Cluster, map: Rect) -> Camera {
    let margin = (ZOOM_MARGIN * (cluster.high - cluster.low).max_element()).max(ZOOM_MARGIN_METRES);
    let margin = DVec2::splat(margin);
    let mut camera = Camera::default();
    camera.frame(
        in_points(map.size()),
        cluster.low - margin,
        cluster.high + margin,
    );
    camera
}

fn hint(cluster: &Cluster, comes_apart: bool) -> String {
    let kinds = cluster.codes.iter();
    let mut lines: Vec<String> = kinds
        .map(|(code, count)| format!("{}: {count}", code.title()))
        .collect();
    lines.push(if comes_apart {
        "Click to zoom in.".into()
    } else {
        "Click to list them.".into()
    });
    lines.join("\n")
}

impl Board<'_> {
    /// Draws the mark of a problem.
    fn problem(&self, at: Pos2, severity: Severity) {
        let triangle = [(0.0, -9.0), (9.0, 7.0), (-9.0, 7.0)];
        let points = triangle.map(|(x, y)| at + vec2(x, y)).to_vec();
        let stroke = Stroke::new(1.5, self.theme.handle());
        let color = self.theme.tone(tone_of(severity));
        self.painter
            .add(Shape::convex_polygon(points, color, stroke));
        self.sign(at + vec2(0.0, 1.5), "!");
    }

    /// Draws the disc of several problems and returns its radius, points. A number with an exclamation mark
    /// includes errors.
    fn problem_disc(&self, at: Pos2, count: usize, worst: Severity) -> f32 {
        let mark = match worst {
            Severity::Error => "!",
            Severity::Warning => "",
        };
        let text = format!("{count}{mark}");
        let radius = (4.0 + 3.5 * text.len() as f32).max(11.0);
        let color = self.theme.tone(tone_of(worst));
        let stroke = Stroke::new(1.5, self.theme.handle());
        self.painter.circle(at, radius, color, stroke);
        self.sign(at, &text);
        radius
    }

    fn sign(&self, at: Pos2, text: &str) {
        let font = FontId::proportional(11.0);
        let ink = self.theme.handle();
        self.painter
            .text(at, Align2::CENTER_CENTER, text, font, ink);
    }
}

fn tone_of(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Danger,
        Severity::Warning => Tone::Warning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::{ObjectId, RoadId};

    fn finding(severity: Severity, x: f64) -> Finding {
        Finding {
            severity,
            code: Code::Alley,
            object: ObjectId::Road(RoadId(1)),
            place: DVec2::new(x, 0.0),
            message: String::new(),
        }
    }

    #[test]
    fn marks_closer_than_the_distance_become_one() {
        let at = |places: &[f64]| {
            let findings: Vec<_> = places
                .iter()
                .map(|x| finding(Severity::Warning, *x))
                .collect();
            let counts = clusters(findings.iter(), 24.0);
            counts.iter().map(Cluster::count).collect::<Vec<_>>()
        };
        assert_eq!(at(&[0.0, 23.9]), [2]);
        assert_eq!(at(&[0.0, 24.0]), [1, 1]);
        // Clusters extend across cell borders, and a marker joins the nearer of two clusters.
        assert_eq!(at(&[-1.0, 1.0, 30.0, 20.0]), [2, 2]);
        assert_eq!(at(&[]), [0; 0]);
    }

    #[test]
    fn an_error_gives_a_cluster_its_place_and_colour() {
        let findings = [
            finding(Severity::Error, 10.0),
            finding(Severity::Warning, 0.0),
        ];
        let found = clusters(findings.iter(), 24.0);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].worst, found[0].place.x), (Severity::Error, 10.0));
        assert_eq!((found[0].low.x, found[0].high.x), (0.0, 10.0));
    }
}

//! The terrain tool, which shapes the ground with a round brush.

use super::brush::{self, Brush};
use super::{Effect, Mark, TerrainMode, Tone, ToolContext};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_scenario::{Edit, Scenario};

/// Maximum number of dabs per movement of the pointer.
const MOST_DABS: f64 = 100.0;
/// Distance between dabs, as a fraction of the brush radius.
const DAB_DISTANCE: f64 = 0.2;
/// Sample spacing of new terrain, m.
const SPACING: f64 = 5.0;
/// Minimum distance between the objects and the edge of new terrain, m.
const BORDER: f64 = 200.0;
/// Maximum number of samples of new terrain. In larger worlds the samples are spaced more widely.
const MAX_SAMPLES: f64 = 250_000.0;
/// Height limit of the brush above and below zero, m, about as high as the highest mountain.
const MAX_HEIGHT: f64 = 9000.0;

/// A stroke in progress.
pub(super) struct Stroke {
    last: DVec2,
    /// Remaining distance to the next dab, m.
    missing: f64,
    /// The current terrain, or flat terrain if there was none.
    field: HeightField,
    is_new: bool,
    heights: Vec<f64>,
    /// Height at the start of the stroke, for flattening.
    level: f64,
}

/// Raises, lowers, smooths or flattens the ground below the brush.
pub(super) type TerrainTool = Brush<Stroke>;

impl brush::Stroke for Stroke {
    fn begin(at: DVec2, context: &ToolContext<'_>) -> Result<Self, String> {
        let existing = context.scenario.terrain().cloned();
        let is_new = existing.is_none();
        // A field cannot grow, because edits in the history identify its samples by index.
        if existing.as_ref().is_some_and(|field| is_outside(field, at)) {
            let why = "The terrain ends here. To start a larger one, remove this terrain in the bar above.";
            return Err(why.into());
        }
        let Some(field) = existing.or_else(|| level_field(context.scenario, at)) else {
            let why = "The world is too large for a terrain.";
            return Err(why.into());
        };
        Ok(Self {
            last: at,
            missing: 0.0,
            heights: field.heights().to_vec(),
            level: field.height(at),
            field,
            is_new,
        })
    }

    fn dab(&mut self, at: DVec2, context: &ToolContext<'_>) -> Vec<Effect> {
        let options = context.options.terrain;
        let mut left = (at - self.last).length();
        // Limits the number of dabs for a long jump of the pointer.
        let step = (DAB_DISTANCE * options.radius)
            .max(0.1)
            .max(left / MOST_DABS);
        // Dabs are evenly spaced along the stroke for any number of mouse events, because the remaining
        // distance to the next dab is carried over. With a step of 6 m and moves of 4 m, dabs are at 0 m (the
        // press), 6 m (in the second move) and 12 m (at the end of the third).
        while left >= self.missing {
            let ahead = (at - self.last).normalize_or_zero();
            self.last += self.missing * ahead;
            left -= self.missing;
            self.missing = step;
            self.shape(context);
        }
        self.missing -= left;
        self.last = at;
        let preview = |edit| Effect::Preview(label(options.mode).into(), edit);
        self.edit().map(preview).into_iter().collect()
    }

    fn end(&mut self, _: DVec2, _: &ToolContext<'_>) -> Vec<Effect> {
        // The last dab was at the last move, because dabs are spaced along the stroke.
        Vec::new()
    }

    fn marks(centre: DVec2, context: &ToolContext<'_>) -> Vec<Mark> {
        let options = context.options.terrain;
        let circle = |radius, tone| Mark::Circle {
            centre,
            radius,
            tone,
        };
        let height = context.scenario.ground_height(centre);
        vec![
            circle(options.radius, Tone::Accent),
            circle((1.0 - options.falloff) * options.radius, Tone::Guide),
            Mark::label(centre, format!("{height:.1} m"), Tone::Guide),
        ]
    }

    fn status(context: &ToolContext<'_>) -> String {
        let what = match context.options.terrain.mode {
            TerrainMode::Raise => "raise the ground",
            TerrainMode::Lower => "lower the ground",
            TerrainMode::Smooth => "smooth the ground",
            TerrainMode::Flatten => "flatten to the height at the start",
        };
        format!("Drag: {what}. [ and ]: brush size. Esc while dragging: cancel.")
    }
}

impl Stroke {
    /// Applies one dab at the last position.
    fn shape(&mut self, context: &ToolContext<'_>) {
        let options = context.options.terrain;
        let (origin, spacing) = (self.field.origin(), self.field.spacing());
        let (columns, rows) = (self.field.columns(), self.field.rows());
        // Range of rows and columns that the brush can reach. Outside the field it contains row or column 0,
        // which the distance test excludes.
        let low = ((self.last - options.radius - origin) / spacing)
            .ceil()
            .max(DVec2::ZERO);
        let high = ((self.last + options.radius - origin) / spacing).floor();
        let (last_column, last_row) = (columns as f64 - 1.0, rows as f64 - 1.0);
        // Smoothing reads a copy. Otherwise samples would be smoothed towards neighbours that this dab has
        // already changed, which would smear hills in the direction of the loop. The other modes read no
        // neighbours.
        let before = match options.mode {
            TerrainMode::Smooth => self.heights.clone(),
            _ => Vec::new(),
        };
        for row in low.y as usize..=high.y.clamp(-1.0, last_row).max(0.0) as usize {
            for column in low.x as usize..=high.x.clamp(-1.0, last_column).max(0.0) as usize {
                let place = self.field.position(column, row);
                let distance = (place - self.last).length() / options.radius;
                if distance > 1.0 || column >= columns || row >= rows {
                    continue;
                }
                let weight = fall_off(distance, options.falloff);
                let index = row * columns + column;
                let here = self.heights[index];
                let share = (0.1 * options.strength).clamp(0.0, 1.0) * weight;
                let height = match options.mode {
                    TerrainMode::Raise => here + options.strength * weight,
                    TerrainMode::Lower => here - options.strength * weight,
                    TerrainMode::Flatten => here + share * (self.level - here),
                    TerrainMode::Smooth => {
                        here + share * (neighbours(&before, columns, rows, column, row) - here)
                    }
                };
                self.heights[index] = height.clamp(-MAX_HEIGHT, MAX_HEIGHT);
            }
        }
    }

    fn edit(&self) -> Option<Edit> {
        // The first stroke adds the whole field, which an edit of samples could not undo.
        if self.is_new {
            let field = self.field.with_heights(self.heights.clone()).ok()?;
            return Some(Edit::Terrain(Some(Box::new(field))));
        }
        // The history keeps only the touched samples, because the whole field has a quarter of a million.
        let before = self.field.heights().iter().zip(&self.heights);
        let samples = before
            .enumerate()
            .filter(|(_, (old, new))| old != new)
            .map(|(index, (_, new))| (index, *new))
            .collect();
        Some(Edit::TerrainSamples(samples))
    }
}

/// Returns the weight of the brush at a distance from its middle: 1 in the middle, 0 at the edge.
/// The weight falls over the share `softness` of the radius.
fn fall_off(distance: f64, softness: f64) -> f64 {
    let hard = 1.0 - softness;
    if distance <= hard {
        return 1.0;
    }
    let u = (1.0 - distance) / softness.max(1e-9);
    // The slope is zero at both ends, so that overlapping dabs leave no rings.
    u * u * (3.0 - 2.0 * u)
}

fn neighbours(heights: &[f64], columns: usize, rows: usize, column: usize, row: usize) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for r in row.saturating_sub(1)..=(row + 1).min(rows - 1) {
        for c in column.saturating_sub(1)..=(column + 1).min(columns - 1) {
            sum += heights[r * columns + c];
            count += 1.0;
        }
    }
    sum / count
}

fn is_outside(field: &HeightField, at: DVec2) -> bool {
    at.cmplt(field.origin()).any() || at.cmpgt(field.far_corner()).any()
}

/// Returns flat terrain that covers all objects and the brush.
fn level_field(scenario: &Scenario, at: DVec2) -> Option<HeightField> {
    let (low, high) = scenario.bounds().unwrap_or((at, at));
    let (low, high) = (low.min(at) - BORDER, high.max(at) + BORDER);
    let size = high - low;
    // Samples = area / spacing^2. For example, a world of 10 km x 10 km gets a sample every 20 m.
    let spacing = SPACING.max((size.element_product() / MAX_SAMPLES).sqrt());
    HeightField::level(low, high, spacing).ok()
}

fn label(mode: TerrainMode) -> &'static str {
    match mode {
        TerrainMode::Raise => "Raise ground",
        TerrainMode::Lower => "Lower ground",
        TerrainMode::Smooth => "Smooth ground",
        TerrainMode::Flatten => "Flatten ground",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brush_falls_off_smoothly() {
        assert_eq!(fall_off(0.0, 0.8), 1.0);
        assert_eq!(fall_off(0.2, 0.8), 1.0);
        assert!(fall_off(1.0, 0.8) < 1e-12);
        assert!((fall_off(0.6, 0.8) - 0.5).abs() < 1e-12);
        assert_eq!(fall_off(0.9, 0.0), 1.0);
    }
}

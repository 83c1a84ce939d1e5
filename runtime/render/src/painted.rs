//! Painted ground: layers of cells that vehicles off the lanes avoid, prefer or must not enter.

use crate::painter::{Painter, Pass};
use crate::palette::faded;
use glam::DVec2;
use roadwright_scenario::{CellBlock, PaintCost, PaintLayer, Scenario};

/// Colour of layers that increase the cost, 0xRRGGBB.
const DEAR: u32 = 0xB4_6A_00;
/// Colour of layers that reduce the cost, 0xRRGGBB.
const CHEAP: u32 = 0x0B_86_8F;
/// Colour of layers that vehicles must not enter, 0xRRGGBB.
const BLOCKED: u32 = 0xC6_28_28;
/// Opacity of painted cells.
const OPACITY: f32 = 0.28;

/// Paints all painted layers of a scenario. Layers with larger ids are on top.
pub(crate) fn all(painter: &mut impl Painter, scenario: &Scenario) {
    painter.begin(Pass::Ground);
    for layer in scenario.paint().values() {
        let corners: Vec<[DVec2; 4]> = layer
            .painted()
            .blocks()
            .into_iter()
            .map(|block| corners(layer, block))
            .collect();
        // Drawn as one area, so that no line is visible where two rectangles meet.
        let rings: Vec<&[DVec2]> = corners.iter().map(<[DVec2; 4]>::as_slice).collect();
        painter.area(&rings, faded(color(layer.cost), OPACITY));
    }
}

fn color(cost: PaintCost) -> u32 {
    match cost {
        PaintCost::Blocks => BLOCKED,
        PaintCost::Adds(amount) if amount < 0 => CHEAP,
        PaintCost::Adds(_) => DEAR,
    }
}

fn corners(layer: &PaintLayer, block: CellBlock) -> [DVec2; 4] {
    let cell = layer.cell.get();
    let at = |x: i32, y: i32| DVec2::new(f64::from(x), f64::from(y)) * cell;
    let ([west, south], [east, north]) = (block.low, block.high.map(|end| end + 1));
    [
        at(west, south),
        at(east, south),
        at(east, north),
        at(west, north),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use crate::{Picture, map};
    use glam::DVec2;
    use roadwright_scenario::{Edit, PaintCost, PaintId, PaintLayer, Scenario};
    use std::collections::BTreeSet;

    /// Returns the colours near the middle of a picture 40 m wide, and the colours farther away, as RGBA.
    fn colors(cost: PaintCost) -> [BTreeSet<[u8; 4]>; 2] {
        let mut layer = PaintLayer::new("disc", cost);
        layer.paint([DVec2::ZERO, DVec2::ZERO], 10.0);
        let mut scenario = Scenario::new("painted");
        let edit = Edit::Paint(PaintId(1), Some(Box::new(layer)));
        scenario.apply(edit).unwrap();
        let picture = Picture {
            size: (240, 240),
            view: Some((DVec2::splat(-20.0), DVec2::splat(20.0))),
            furnished: false,
            ..Picture::default()
        };
        let png = map(&scenario, None, &picture).unwrap();
        let pixels = tiny_skia::Pixmap::decode_png(&png).unwrap();
        let mut found = [BTreeSet::new(), BTreeSet::new()];
        for (at, pixel) in pixels.pixels().iter().enumerate() {
            let (x, y) = ((at % 240) as f64 - 119.5, (at / 240) as f64 - 119.5);
            let metres = DVec2::new(x, y).length() / 6.0;
            let color = [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()];
            if metres < 8.0 {
                found[0].insert(color);
            } else if metres > 12.0 {
                found[1].insert(color);
            }
        }
        found
    }

    #[test]
    fn painted_ground_has_one_tint_without_seams_that_shows_its_effect() {
        let costs = [PaintCost::Adds(32), PaintCost::Adds(-8), PaintCost::Blocks];
        let tints: BTreeSet<[u8; 4]> = costs
            .into_iter()
            .map(|cost| {
                let [inside, outside] = colors(cost);
                assert_eq!(inside.len(), 1, "{cost:?} {inside:?}");
                assert_eq!(outside.len(), 1, "{cost:?} {outside:?}");
                assert_ne!(inside, outside);
                inside.into_iter().next().unwrap()
            })
            .collect();
        assert_eq!(tints.len(), costs.len());
    }
}

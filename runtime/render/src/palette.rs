//! The colours of maps and plots.

use tiny_skia::Color;

/// A colour from its hexadecimal form 0xRRGGBB.
pub fn rgb(hex: u32) -> Color {
    let [_, r, g, b] = hex.to_be_bytes();
    Color::from_rgba8(r, g, b, 255)
}

/// The same colour, partly transparent.
pub fn faded(hex: u32, opacity: f32) -> Color {
    let mut color = rgb(hex);
    color.set_alpha(opacity);
    color
}

/// Open ground.
pub const GROUND: u32 = 0xEEEBE3;
/// Kerbs.
pub const KERB: u32 = 0xF1EEE7;
/// Rims of paved areas, and paths from far away.
pub const CASING: u32 = 0xA7A397;
/// Carriageways.
pub const ASPHALT: u32 = 0x6C727C;
/// Paved areas and paths.
pub const PAVING: u32 = 0xDFD5C3;
/// Sidewalks.
pub const SIDEWALK: u32 = 0xD5D1C8;
/// Parking lanes.
pub const PARKING: u32 = 0x7C828B;
/// Bus lanes.
pub const BUS_LANE: u32 = 0x93625A;
/// Cycle lanes.
pub const CYCLE_LANE: u32 = 0x5F9384;
/// Medians.
pub const MEDIAN: u32 = 0xCBD8B4;
/// Lines and arrows on the road.
pub const MARKING: u32 = 0xFAFAF6;
/// Signals.
pub const SIGNAL: u32 = 0xE0A526;
/// The floor of a forest.
pub const FOREST: u32 = 0xCFE0BD;
/// Crowns of trees.
pub const CROWN: u32 = 0x5F9456;
/// Trunks.
pub const TRUNK: u32 = 0x6B4E37;
/// Obstacles that are fixed to the ground.
pub const FIXED: u32 = 0xA79F94;
/// Obstacles that can be pushed.
pub const LOOSE: u32 = 0xC98B4A;
/// Outlines and shadows.
pub const OUTLINE: u32 = 0x6A645C;
/// Text.
pub const INK: u32 = 0x2A2D31;
/// Text of less weight.
pub const QUIET_INK: u32 = 0x5C6066;
/// Halos and backgrounds of text.
pub const PAPER: u32 = 0xFFFFFF;
/// People on foot.
pub const PERSON: u32 = 0xB5835A;
/// Windows of vehicles.
pub const GLASS: u32 = 0x22303C;
/// Destinations.
pub const DESTINATION: u32 = 0xB3261E;

/// Body colours of vehicles: bright on asphalt, apart from each other.
pub const BODIES: [u32; 8] = [
    0xF2C14E, 0x4FB0E5, 0xE4572E, 0x8BD17C, 0xF5F3EE, 0xC792EA, 0xFF9FB2, 0x2FC9B5,
];

/// A colour map from dark blue over green to yellow, for values in 0..=1.
pub fn heat(value: f64) -> Color {
    const STOPS: [(f64, [f64; 3]); 5] = [
        (0.0, [68.0, 1.0, 84.0]),
        (0.25, [59.0, 82.0, 139.0]),
        (0.5, [33.0, 145.0, 140.0]),
        (0.75, [94.0, 201.0, 98.0]),
        (1.0, [253.0, 231.0, 37.0]),
    ];
    let value = value.clamp(0.0, 1.0);
    let index = STOPS
        .partition_point(|stop| stop.0 <= value)
        .clamp(1, STOPS.len() - 1);
    let ((low, a), (high, b)) = (STOPS[index - 1], STOPS[index]);
    let u = (value - low) / (high - low);
    let mix = |i: usize| (a[i] + u * (b[i] - a[i])).round() as u8;
    Color::from_rgba8(mix(0), mix(1), mix(2), 255)
}

//! The colours of maps and plots.

use tiny_skia::Color;

/// Creates a colour from its hexadecimal form 0xRRGGBB.
pub fn rgb(hex: u32) -> Color {
    let [_, r, g, b] = hex.to_be_bytes();
    Color::from_rgba8(r, g, b, 255)
}

/// Creates a partly transparent colour from its hexadecimal form 0xRRGGBB.
pub fn faded(hex: u32, opacity: f32) -> Color {
    let mut color = rgb(hex);
    color.set_alpha(opacity);
    color
}

/// Colour of open ground.
pub const GROUND: u32 = 0xEEEBE3;
/// Colour of kerbs.
pub const KERB: u32 = 0xF1EEE7;
/// Colour of the rims of paved areas, and of paths at small scales.
pub const CASING: u32 = 0xA7A397;
/// Colour of carriageways.
pub const ASPHALT: u32 = 0x6C727C;
/// Colour of the hard shoulders of motorways.
pub const HARD_SHOULDER: u32 = 0x777D87;
/// Colour of paved areas and paths.
pub const PAVING: u32 = 0xDFD5C3;
/// Colour of pavements beside carriageways.
pub const SIDEWALK: u32 = 0xD5D1C8;
/// Colour of parking lanes.
pub const PARKING: u32 = 0x7C828B;
/// Colour of bus lanes.
pub const BUS_LANE: u32 = 0x93625A;
/// Colour of cycle lanes.
pub const CYCLE_LANE: u32 = 0x5F9384;
/// Colour of medians.
pub const MEDIAN: u32 = 0xCBD8B4;
/// Colour of the setts around the islands of roundabouts.
pub const APRON: u32 = 0xB0958A;
/// Colour of joints between setts.
pub const SETT_JOINT: u32 = 0x8A736A;
/// Colour of guard rails.
pub const RAIL: u32 = 0x8D939C;
/// Colour of lines and arrows on the road.
pub const MARKING: u32 = 0xFAFAF6;
/// Colour of the chevrons that mark the origins of flows.
pub const FLOW: u32 = 0xE0A526;
/// Colour of the housing of a signal's lamps.
pub const SIGNAL_BOX: u32 = 0x20262D;
/// Colour of a lamp that is not lit.
pub const LAMP_OFF: u32 = 0x3B444D;
/// Colours of the lit lamps of signals: red, amber, green.
pub const SIGNAL_LAMPS: [u32; 3] = [0xF2493D, 0xF4B533, 0x35C46A];
/// Tints of the ground by height, from the lowest to the highest.
pub const TERRAIN_BY_DAY: [u32; 5] = [0xD6E2C2, 0xDDE4C6, 0xE6E3CB, 0xECE3D0, 0xF1EBE0];
/// Tints of the ground by height in the dark theme, from the lowest to the highest.
pub const TERRAIN_BY_NIGHT: [u32; 5] = [0x1E2B2A, 0x222E2C, 0x2A3230, 0x323735, 0x3B3E3D];
/// Colour of contour lines.
pub const CONTOUR: u32 = 0xA9855A;
/// Colour of built-up ground between streets and houses.
pub const BLOCK: u32 = 0xE6E1D6;
/// Colour of the floor of a forest.
pub const FOREST: u32 = 0xBBD59E;
/// Colour of ground with shops, offices and factories.
pub const COMMERCIAL: u32 = 0xE9E0DA;
/// Colour of squares and yards.
pub const PLAZA: u32 = 0xE4DACA;
/// Colour of sand and bare earth.
pub const SAND: u32 = 0xE9DFC4;
/// Colour of lawns, meadows and fields.
pub const LAWN: u32 = 0xD3DFBF;
/// Colour of parks and gardens.
pub const PARK: u32 = 0xC6DDAC;
/// Colour of playing fields.
pub const PITCH: u32 = 0xBFDBA8;
/// Colour of rivers and lakes.
pub const WATER: u32 = 0xABD1EA;
/// Colour of shores.
pub const WATER_EDGE: u32 = 0x8DB9D6;
/// Colour of the names of parks, which are written on land.
pub const PARK_INK: u32 = 0x356021;
/// Colour of the names of waters, which are written on water.
pub const WATER_INK: u32 = 0x24597E;
/// Colours of the crowns of trees. Each tree has one of them.
pub const CROWNS: [u32; 4] = [0x7FAE66, 0x6B9E5B, 0x8FB872, 0x5B8E55];
/// Colour of sunlit spots on a crown.
pub const CROWN_LIT: u32 = 0xB4D594;
/// Colour of tree trunks.
pub const TRUNK: u32 = 0x6B4E37;
/// Colours of roofs. Each house has one of them.
pub const ROOFS: [u32; 4] = [0xDCD0C0, 0xD2C3B3, 0xE5DCD0, 0xC9C0B8];
/// Colour of the parapet of a roof.
pub const ROOF_EDGE: u32 = 0xFBF7F0;
/// Colour of the outer line of a roof.
pub const ROOF_LINE: u32 = 0xB5A897;
/// Colour of objects on roofs, such as skylights and machinery.
pub const ROOF_THING: u32 = 0xB4BBC0;
/// Colour of obstacles that can be pushed.
pub const LOOSE: u32 = 0xC98B4A;
/// Colour of the outlines of marks.
pub const OUTLINE: u32 = 0x6A645C;
/// Colour of shadows, which are drawn with [`SHADOW_OPACITY`].
pub const SHADOW: u32 = 0x2A3140;
/// Opacity of shadows.
pub const SHADOW_OPACITY: f32 = 0.28;
/// Colour of text.
pub const INK: u32 = 0x23272E;
/// Colour of less important text.
pub const QUIET_INK: u32 = 0x59616C;
/// Colour of halos and backgrounds of text.
pub const PAPER: u32 = 0xFFFFFF;
/// Colour of text on asphalt.
pub const ROAD_INK: u32 = 0xFFFFFE;
/// Colours of the clothes of pedestrians.
pub const PEOPLE: [u32; 5] = [0xD9A066, 0xB5835A, 0xC9CBD2, 0xC56B5C, 0xA9C48B];
/// Colour of the windows of vehicles.
pub const GLASS: u32 = 0x2B3642;
/// Colour that darkens the rim of a vehicle's body.
pub const RIM: u32 = 0x10151B;
/// Colour of front lamps.
pub const HEAD_LAMP: u32 = 0xFFF6D6;
/// Colour of rear lamps.
pub const TAIL_LAMP: u32 = 0xB0342C;
/// Colour of brake lamps.
pub const BRAKE_LAMP: u32 = 0xFF3B30;
/// Colour of indicators.
pub const INDICATOR_LAMP: u32 = 0xFFB238;
/// Colour of destinations.
pub const DESTINATION: u32 = 0xB3261E;
/// Colours of the outlines of rigid bodies in the light and in the dark theme. Nothing else on a
/// map has these colours.
const BODY_LINES: [u32; 2] = [0xE0009B, 0xFF6AD0];

/// Returns the colour of the outlines of rigid bodies in a theme. The themes have different
/// colours, because a colour that is legible on a light map is too dark on a dark one.
pub fn body_line(dark: bool) -> Color {
    rgb(BODY_LINES[usize::from(dark)])
}

/// Colours of the outlines of fixed objects around rigid bodies, in the light and in the dark
/// theme.
const STILL_LINES: [u32; 2] = [0x7A2FD0, 0xB58CFF];

/// Returns the colour of the outlines of fixed objects around rigid bodies in a theme.
pub fn still_line(dark: bool) -> Color {
    rgb(STILL_LINES[usize::from(dark)])
}

/// Body colours of vehicles, muted so that important things stand out. They are the same in the dark theme.
pub const BODIES: [u32; 10] = [
    0xE9E7E1, 0xC3C8CE, 0x8D96A1, 0x3E4751, 0x5B7FA6, 0x7FA3A0, 0xA8574C, 0xC59A55, 0x8B7A9E,
    0x6F8A5E,
];
/// Colour of the bodies of buses.
pub const BUS_BODY: u32 = 0xC9A24A;

/// Colour of the bodies of tracked vehicles.
pub const TRACKED_BODY: u32 = 0x7C8463;

/// Colour of sunlight on the roofs of vehicles.
pub const SHEEN: u32 = 0xFFFFFD;
/// Colours of vehicles, people and lamps, which are the same in the dark theme.
const OF_WHAT_MOVES: [u32; 12] = [
    GLASS,
    RIM,
    SHEEN,
    HEAD_LAMP,
    TAIL_LAMP,
    BRAKE_LAMP,
    INDICATOR_LAMP,
    SIGNAL_BOX,
    LAMP_OFF,
    SIGNAL_LAMPS[0],
    SIGNAL_LAMPS[1],
    SIGNAL_LAMPS[2],
];

/// Pairs of colours in the light and in the dark theme. In the dark theme, roads are lighter than the ground,
/// pavements darker than roads, and kerbs lighter than both.
const BY_NIGHT: [(u32, u32); 45] = [
    (GROUND, 0x182029),
    (BLOCK, 0x1D2630),
    (FOREST, 0x1A2E24),
    (COMMERCIAL, 0x20262F),
    (PLAZA, 0x262D35),
    (SAND, 0x2E2C27),
    (LAWN, 0x1E2E28),
    (PARK, 0x1B3026),
    (PITCH, 0x1F3129),
    (WATER, 0x132C44),
    (WATER_EDGE, 0x214A69),
    (PARK_INK, 0x9CCB86),
    (WATER_INK, 0x8FC3EA),
    (CASING, 0x0F151C),
    (PAVING, 0x363C40),
    (SIDEWALK, 0x303A46),
    (KERB, 0x7A8798),
    (ASPHALT, 0x4D5869),
    (HARD_SHOULDER, 0x566172),
    (PARKING, 0x3F4957),
    (BUS_LANE, 0x7A4A45),
    (CYCLE_LANE, 0x3A7468),
    (MEDIAN, 0x1B3027),
    (APRON, 0x5E4C48),
    (SETT_JOINT, 0x4A3D3A),
    (RAIL, 0x6B7886),
    (MARKING, 0xDCE3EA),
    (ROAD_INK, 0xF4F7FA),
    (INK, 0xE8ECF1),
    (QUIET_INK, 0xA0ABB8),
    (PAPER, 0x121922),
    (CROWNS[0], 0x35573F),
    (CROWNS[1], 0x2D4C3A),
    (CROWNS[2], 0x3D6145),
    (CROWNS[3], 0x274335),
    (CROWN_LIT, 0x4E7955),
    (ROOFS[0], 0x2E3946),
    (ROOFS[1], 0x2A3440),
    (ROOFS[2], 0x344050),
    (ROOFS[3], 0x27303B),
    (ROOF_EDGE, 0x46535F),
    (ROOF_LINE, 0x202932),
    (ROOF_THING, 0x3D4854),
    (SHADOW, 0x05080C),
    (CONTOUR, 0x8C7A5E),
];

/// Converts a colour of the map to the dark theme. Colours in the table are replaced; colours of
/// vehicles, people and lamps stay the same; all others are darkened.
pub fn by_night(color: Color) -> Color {
    let byte = |c: f32| (c * 255.0).round() as u32;
    let opaque = byte(color.red()) << 16 | byte(color.green()) << 8 | byte(color.blue());
    let known = BY_NIGHT.into_iter().find(|(day, _)| *day == opaque);
    if let Some((_, night)) = known {
        return faded(night, color.alpha());
    }
    if OF_WHAT_MOVES.contains(&opaque) {
        return color;
    }
    // Bright colours are darkened the most.
    let grey = (color.red() + color.green() + color.blue()) / 3.0;
    let share = if grey > 0.94 {
        0.82
    } else {
        0.30 + 0.22 * (1.0 - grey)
    };
    let mut darker = color;
    darker.set_red(share * color.red());
    darker.set_green(share * color.green());
    darker.set_blue(share * color.blue());
    darker
}

/// Selects one of several colours by a number. Adjacent numbers get different colours, and the result is the
/// same in every picture.
pub fn one_of(colors: &[u32], number: u64) -> u32 {
    let scrambled = roadwright_geometry::math::mix64(number);
    colors[(scrambled % colors.len() as u64) as usize]
}

/// Returns the relative luminance of a colour, 0 to 1 ([WCAG 2.2], definition of relative
/// luminance).
fn luminance(hex: u32) -> f64 {
    let [_, r, g, b] = hex.to_be_bytes();
    let linear = |byte: u8| {
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            roadwright_geometry::math::pow((c + 0.055) / 1.055, 2.4)
        }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Returns the contrast of two colours, 1 to 21 ([WCAG 2.2], definition of contrast ratio).
pub fn contrast(a: u32, b: u32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Colours of heat maps from low to high. Their steps have equal lightness and can be distinguished by
/// colour-blind people and in greyscale.
pub const HEAT_BY_DAY: [u32; 9] = [
    0xF8EE9F, 0xFDCA66, 0xFEA243, 0xF9783D, 0xE55455, 0xC33C6A, 0x993275, 0x6D2D72, 0x442761,
];
/// Colours of heat maps in the dark theme. High values are bright.
pub const HEAT_BY_NIGHT: [u32; 9] = [
    0x4A2D66, 0x723278, 0x9E367A, 0xC8416E, 0xE85858, 0xFC7A40, 0xFFA54A, 0xFECB67, 0xF8EE9F,
];
/// Colour of vehicles on heat maps.
pub const HEAT_VEHICLE: u32 = 0x8D96A1;

/// Returns the opaque colour of heat maps for a fraction from 0 to 1.
pub fn heat_ramp(share: f64, is_dark: bool) -> Color {
    let stops = if is_dark { HEAT_BY_NIGHT } else { HEAT_BY_DAY };
    let at = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let low = (at.floor() as usize).min(stops.len() - 2);
    let u = at - low as f64;
    let [a, b] = [stops[low], stops[low + 1]].map(|hex| hex.to_be_bytes().map(f64::from));
    let mix = |i: usize| (a[i] + u * (b[i] - a[i])).round() as u8;
    Color::from_rgba8(mix(1), mix(2), mix(3), 255)
}

/// Returns the colours of roads and of their casings under a heat map.
pub fn heat_road(is_dark: bool) -> (u32, u32) {
    if is_dark {
        (0x2A333E, 0x0F151C)
    } else {
        (0xE9E7E2, CASING)
    }
}

/// Returns the colour for a value from 0 to 1, from dark blue through green to yellow.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn night(hex: u32) -> u32 {
        let color = by_night(rgb(hex)).to_color_u8();
        u32::from_be_bytes([0, color.red(), color.green(), color.blue()])
    }

    #[test]
    fn roads_stand_out_from_all_land_by_day_and_by_night() {
        let land = [GROUND, BLOCK, FOREST, MEDIAN, COMMERCIAL, PLAZA];
        let green = [SAND, LAWN, PARK, PITCH, WATER];
        for land in land.into_iter().chain(green) {
            let day = contrast(ASPHALT, land);
            assert!(day >= 3.0, "asphalt on {land:06x}: {day:.2}");
            let dark = contrast(night(ASPHALT), night(land));
            assert!(dark >= 1.9, "asphalt on {land:06x} by night: {dark:.2}");
        }
    }

    #[test]
    fn paint_is_seen_on_every_lane() {
        for lane in [ASPHALT, PARKING, BUS_LANE, CYCLE_LANE] {
            assert!(contrast(MARKING, lane) >= 3.0, "{lane:06x}");
            assert!(
                contrast(night(MARKING), night(lane)) >= 3.0,
                "{lane:06x} by night"
            );
        }
        // Checks the measure itself: black on white gives 21, and a colour on itself gives 1.
        assert!((contrast(0, 0xFFFFFF) - 21.0).abs() < 1e-9 && contrast(5, 5) == 1.0);
    }

    #[test]
    fn text_can_be_read() {
        for (text, below) in [
            (INK, PAPER),
            (QUIET_INK, PAPER),
            (INK, GROUND),
            (INK, FOREST),
            (ROAD_INK, ASPHALT),
        ] {
            assert!(contrast(text, below) >= 4.5, "{text:06x} on {below:06x}");
        }
        assert!(contrast(night(ROAD_INK), night(ASPHALT)) >= 4.5);
        for (text, below) in [
            (PARK_INK, PARK),
            (PARK_INK, LAWN),
            (PARK_INK, FOREST),
            (WATER_INK, WATER),
        ] {
            let (day, dark) = (contrast(text, below), contrast(night(text), night(below)));
            assert!(
                day >= 4.5 && dark >= 4.5,
                "{text:06x} on {below:06x}: {day} {dark}"
            );
        }
    }

    #[test]
    fn heat_maps_go_one_way_in_lightness() {
        let light = |stops: [u32; 9]| stops.map(luminance);
        assert!(light(HEAT_BY_DAY).is_sorted_by(|a, b| a > b));
        assert!(light(HEAT_BY_NIGHT).is_sorted_by(|a, b| a < b));
        for (share, day) in [
            (-1.0, 0xF8EE9F),
            (0.0, 0xF8EE9F),
            (0.5, 0xE55455),
            (7.0, 0x442761),
        ] {
            assert_eq!(heat_ramp(share, false), rgb(day), "{share}");
        }
        // A value half-way between two stops gives a colour half-way between theirs.
        assert_eq!(heat_ramp(1.0 / 16.0, false), rgb(0xFBDC83));
    }

    #[test]
    fn by_night_roads_are_lighter_than_pavements_and_paint_is_lightest() {
        let order = [GROUND, SIDEWALK, ASPHALT, KERB, MARKING].map(|hex| luminance(night(hex)));
        assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
        // Transparency is kept, and colours outside the tables get darker.
        assert!((by_night(faded(KERB, 0.5)).alpha() - 0.5).abs() < 0.01);
        assert!(luminance(night(0xF5D020)) < luminance(0xF5D020));
    }
}

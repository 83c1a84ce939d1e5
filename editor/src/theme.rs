//! Colours, sizes and spacings of the editor. Colours are defined only in this file.

use crate::tools::{Fill, Tone};
use egui::{Color32, CornerRadius, FontId, Stroke, Style, TextStyle, Visuals};
use roadwright_render::palette;
use roadwright_scenario::LaneType;
use roadwright_scenario::junction::Light;

/// The light or dark theme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Theme {
    /// Whether the theme is dark.
    pub(crate) dark: bool,
}

// Each tone has two variants, because colours that are legible on a light ground are too dark on a dark one.
const ACCENT: Color32 = Color32::from_rgb(0x1B, 0x72, 0xE8);
const ACCENT_DARK: Color32 = Color32::from_rgb(0x6C, 0xB0, 0xFF);
const GUIDE: Color32 = Color32::from_rgb(0x0B, 0x86, 0x8F);
const GUIDE_DARK: Color32 = Color32::from_rgb(0x4F, 0xD2, 0xDA);
const WARNING: Color32 = Color32::from_rgb(0xB4, 0x6A, 0x00);
const WARNING_DARK: Color32 = Color32::from_rgb(0xFF, 0xB3, 0x47);
const DANGER: Color32 = Color32::from_rgb(0xC6, 0x28, 0x28);
const DANGER_DARK: Color32 = Color32::from_rgb(0xFF, 0x7B, 0x72);

/// A line of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GridLine {
    /// Every tenth line.
    Tenth,
    /// Any other line.
    Plain,
}

impl GridLine {
    /// Returns the kind of the line with this number, counted from the origin.
    pub(crate) fn of(number: i64) -> Self {
        if number % 10 == 0 {
            Self::Tenth
        } else {
            Self::Plain
        }
    }
}

impl Theme {
    /// Returns the colour of open ground.
    pub(crate) fn ground(self) -> Color32 {
        self.of_the_map(palette::GROUND)
    }

    /// Adapts a colour of the map to the theme.
    pub(crate) fn of_the_map(self, value: u32) -> Color32 {
        let color = palette::rgb(value);
        let shown = if self.dark {
            palette::by_night(color)
        } else {
            color
        }
        .to_color_u8();
        Color32::from_rgb(shown.red(), shown.green(), shown.blue())
    }

    /// Returns the colour of the outlines of rigid bodies.
    pub(crate) fn body_line(self) -> Color32 {
        let color = palette::body_line(self.dark).to_color_u8();
        Color32::from_rgb(color.red(), color.green(), color.blue())
    }

    /// Returns the colour of the outlines of fixed objects around rigid bodies.
    pub(crate) fn still_line(self) -> Color32 {
        let color = palette::still_line(self.dark).to_color_u8();
        Color32::from_rgb(color.red(), color.green(), color.blue())
    }

    /// Returns the colour of text on the map.
    pub(crate) fn ink(self) -> Color32 {
        if self.dark {
            Color32::from_rgb(0xEA, 0xEC, 0xEF)
        } else {
            hex(palette::INK)
        }
    }

    /// Returns the colour of halos around text on the map.
    pub(crate) fn halo(self) -> Color32 {
        if self.dark {
            Color32::from_black_alpha(190)
        } else {
            Color32::from_white_alpha(225)
        }
    }

    /// Returns the colour of a grid line. Every tenth line is stronger.
    pub(crate) fn grid(self, line: GridLine) -> Color32 {
        let alpha = match line {
            GridLine::Tenth => 40,
            GridLine::Plain => 18,
        };
        if self.dark {
            Color32::from_white_alpha(alpha / 2 + 4)
        } else {
            Color32::from_black_alpha(alpha)
        }
    }

    /// Returns the colour of a role.
    pub(crate) fn tone(self, tone: Tone) -> Color32 {
        match (tone, self.dark) {
            (Tone::Accent, false) => ACCENT,
            (Tone::Accent, true) => ACCENT_DARK,
            (Tone::Hover, false) => ACCENT.gamma_multiply(0.6),
            (Tone::Hover, true) => ACCENT_DARK.gamma_multiply(0.6),
            (Tone::Guide, false) => GUIDE,
            (Tone::Guide, true) => GUIDE_DARK,
            (Tone::Warning, false) => WARNING,
            (Tone::Warning, true) => WARNING_DARK,
            (Tone::Danger, false) => DANGER,
            (Tone::Danger, true) => DANGER_DARK,
        }
    }

    /// Returns the fill colour for the area of a mark.
    pub(crate) fn fill(self, fill: Fill) -> Color32 {
        match fill {
            Fill::Tint(tone) => self.tone(tone).gamma_multiply(0.22),
            // The map below remains visible through a road that is being drawn.
            Fill::Lane(kind) => self.solid_lane(kind).gamma_multiply(0.72),
        }
    }

    /// Returns the colour of a lane's surface.
    pub(crate) fn solid_lane(self, kind: LaneType) -> Color32 {
        hex(match kind {
            LaneType::Driving | LaneType::Shoulder | LaneType::PaintedMedian => palette::ASPHALT,
            LaneType::Bus => palette::BUS_LANE,
            LaneType::Biking => palette::CYCLE_LANE,
            LaneType::Parking => palette::PARKING,
            LaneType::Sidewalk => palette::SIDEWALK,
            LaneType::Median => palette::MEDIAN,
        })
    }

    /// Returns the colour inside a handle.
    pub(crate) fn handle(self) -> Color32 {
        if self.dark {
            Color32::from_rgb(0x1A, 0x1D, 0x21)
        } else {
            Color32::WHITE
        }
    }

    /// Returns the colour of the needle at the crisp value in fuzzy plots.
    pub(crate) fn needle(self) -> Color32 {
        self.tone(Tone::Danger)
    }

    /// Returns the colour of a connection, lane end or signal that is free to go. One that is not
    /// free has the danger colour.
    pub(crate) fn go(self) -> Color32 {
        light(Light::Green)
    }

    /// Returns the colour of less important marks on asphalt, such as blocked connections and free
    /// car lengths.
    pub(crate) fn on_road(self) -> Color32 {
        Color32::from_white_alpha(if self.dark { 110 } else { 150 })
    }

    /// Returns the colour of the plate of a message.
    pub(crate) fn toast(self) -> Color32 {
        hex(if self.dark { 0x3a_4552 } else { 0x23_272e })
    }

    /// Returns the colour of the text of a message.
    pub(crate) fn toast_text(self) -> Color32 {
        Color32::WHITE
    }

    /// Returns the colour of the action of a message.
    pub(crate) fn toast_action(self) -> Color32 {
        ACCENT_DARK
    }

    /// Returns the colour of the sign of a message. Plates are dark in both themes.
    pub(crate) fn toast_sign(self, tone: crate::tone::Tone) -> Color32 {
        match tone {
            crate::tone::Tone::Done => hex(0x5c_c97f),
            crate::tone::Tone::Refused => WARNING_DARK,
            crate::tone::Tone::Failed => DANGER_DARK,
        }
    }

    /// Returns the colour of working modules.
    pub(crate) fn good(self) -> Color32 {
        hex(if self.dark { 0x4f_b76b } else { 0x2e_8b4a })
    }

    /// Returns the colour of less important text, such as comments and disabled entries.
    pub(crate) fn quiet(self) -> Color32 {
        hex(if self.dark { 0x8a_94a0 } else { 0x6d_7780 })
    }

    /// Returns the colour in the heat map for a share of 0 to 1.
    pub(crate) fn heat(self, share: f64) -> Color32 {
        let color = palette::heat_ramp(share, self.dark).to_color_u8();
        Color32::from_rgb(color.red(), color.green(), color.blue())
    }

    /// Returns the colour of all vehicles on a heat map, where the other colours show the values of
    /// lanes.
    pub(crate) fn heat_vehicle(self) -> Color32 {
        hex(palette::HEAT_VEHICLE)
    }

    /// Returns the colour of the curve with this index in a plot. Colours repeat after four curves,
    /// which can also be distinguished by their names.
    pub(crate) fn plot(self, index: usize) -> Color32 {
        // Colours repeat from the fifth curve on, and names distinguish the curves.
        let tones = [Tone::Accent, Tone::Guide, Tone::Warning, Tone::Danger];
        self.tone(tones[index % tones.len()])
    }
}

/// Returns the colour given as 0xRRGGBB.
pub(crate) fn hex(value: u32) -> Color32 {
    // The highest byte of 0xRRGGBB is unused.
    let [_, r, g, b] = value.to_be_bytes();
    Color32::from_rgb(r, g, b)
}

/// Returns the colour of a signal's light.
pub(crate) fn light(light: Light) -> Color32 {
    match light {
        Light::Red => Color32::from_rgb(0xE5, 0x48, 0x3D),
        // A mixture of red and amber, for bars too narrow to be split.
        Light::RedAmber => Color32::from_rgb(0xEE, 0x78, 0x2C),
        Light::Amber => Color32::from_rgb(0xF2, 0xA9, 0x1E),
        Light::Green => Color32::from_rgb(0x2F, 0xB8, 0x6A),
    }
}

/// Sets egui's style.
pub(crate) fn apply(context: &egui::Context, dark: bool) {
    let chosen = if dark {
        egui::Theme::Dark
    } else {
        egui::Theme::Light
    };
    context.set_theme(chosen);
    context.all_styles_mut(set_style);
}

/// Smallest font size, points.
pub(crate) const SMALLEST: f32 = 11.0;

fn set_style(style: &mut Style) {
    let small = FontId::proportional(SMALLEST);
    style.text_styles.insert(TextStyle::Small, small);
    style.spacing.item_spacing = egui::vec2(6.0, 5.0);
    style.spacing.button_padding = egui::vec2(8.0, 4.0);
    style.spacing.interact_size.y = 24.0;
    style.spacing.slider_width = 130.0;
    set_visuals(&mut style.visuals);
}

fn set_visuals(visuals: &mut Visuals) {
    let radius = CornerRadius::same(5);
    for state in [
        &mut visuals.widgets.noninteractive,
        &mut visuals.widgets.inactive,
        &mut visuals.widgets.hovered,
        &mut visuals.widgets.active,
        &mut visuals.widgets.open,
    ] {
        state.corner_radius = radius;
    }
    visuals.window_corner_radius = CornerRadius::same(8);
    let colors = if visuals.dark_mode {
        &DARK_PANELS
    } else {
        &LIGHT_PANELS
    };
    set_colors(visuals, colors);
}

/// Colours of panels, dialogs and widgets.
struct PanelColors {
    panel: u32,
    /// Background of lists and text fields.
    well: u32,
    /// Background of every other row of a table.
    stripe: u32,
    /// Buttons, number fields and choices, in three states: at rest, below the pointer, and
    /// pressed.
    field: [u32; 3],
    line: u32,
    ink: u32,
    quiet_ink: u32,
    selected: u32,
    selected_ink: u32,
}

const LIGHT_PANELS: PanelColors = PanelColors {
    panel: 0xFFFFFF,
    well: 0xF5F6F8,
    stripe: 0xF5F6F8,
    field: [0xEAEDF1, 0xDFE3E9, 0xD3D9E1],
    line: 0xDFE2E7,
    ink: 0x23272E,
    quiet_ink: 0x59616C,
    selected: 0xD3E4FC,
    selected_ink: 0x0C3B7C,
};

const DARK_PANELS: PanelColors = PanelColors {
    panel: 0x1E252D,
    well: 0x171D24,
    stripe: 0x232B34,
    field: [0x2E3844, 0x394552, 0x445160],
    line: 0x313A45,
    ink: 0xE8ECF1,
    quiet_ink: 0xA0ABB8,
    selected: 0x22507F,
    selected_ink: 0xE8F1FF,
};

fn set_colors(visuals: &mut Visuals, colors: &PanelColors) {
    visuals.panel_fill = hex(colors.panel);
    visuals.window_fill = hex(colors.panel);
    visuals.window_stroke = Stroke::new(1.0, hex(colors.line));
    visuals.extreme_bg_color = hex(colors.well);
    visuals.faint_bg_color = hex(colors.stripe);
    visuals.code_bg_color = hex(colors.well);
    visuals.weak_text_color = Some(hex(colors.quiet_ink));
    visuals.selection.bg_fill = hex(colors.selected);
    visuals.selection.stroke = Stroke::new(1.0, hex(colors.selected_ink));
    let ink = hex(colors.ink);
    let widgets = &mut visuals.widgets;
    widgets.noninteractive.bg_fill = hex(colors.panel);
    widgets.noninteractive.weak_bg_fill = hex(colors.panel);
    widgets.noninteractive.bg_stroke.color = hex(colors.line);
    widgets.noninteractive.fg_stroke.color = ink;
    let [rest, hovered, pressed] = colors.field.map(hex);
    let states = [
        (&mut widgets.inactive, rest),
        (&mut widgets.hovered, hovered),
        (&mut widgets.active, pressed),
        (&mut widgets.open, rest),
    ];
    for (state, fill) in states {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.fg_stroke.color = ink;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panels_write_is_legible() {
        let number = |color: Color32| u32::from_be_bytes([0, color.r(), color.g(), color.b()]);
        let contrast = |ink: Color32, ground: Color32| {
            palette::contrast(number(ground.blend(ink)), number(ground))
        };
        for mut visuals in [Visuals::light(), Visuals::dark()] {
            set_visuals(&mut visuals);
            let below = [
                visuals.panel_fill,
                visuals.window_fill,
                visuals.extreme_bg_color,
            ];
            for ground in below {
                for ink in [visuals.text_color(), visuals.weak_text_color()] {
                    let contrast = contrast(ink, ground);
                    assert!(contrast >= 4.5, "{ink:?} on {ground:?}: {contrast:.2}");
                }
            }
        }
        for dark in [false, true] {
            let theme = Theme { dark };
            let contrast = contrast(theme.handle(), theme.tone(Tone::Accent));
            assert!(contrast >= 4.5, "primary buttons, {dark}: {contrast:.2}");
        }
        // Weak text is too faint in egui's default.
        let light = Visuals::light();
        let weak = contrast(light.weak_text_color(), light.panel_fill);
        assert!(weak < 4.5, "{weak:.2}");
    }
}

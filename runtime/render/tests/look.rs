//! Checks that docs/look.md lists the actual colours.

use roadwright_render::palette::*;

const ROLES: [(&str, u32); 26] = [
    ("ground", GROUND),
    ("block", BLOCK),
    ("forest floor", FOREST),
    ("path, paving", PAVING),
    ("pavement", SIDEWALK),
    ("kerb", KERB),
    ("casing", CASING),
    ("asphalt", ASPHALT),
    ("parking lane", PARKING),
    ("bus lane", BUS_LANE),
    ("cycle lane", CYCLE_LANE),
    ("median, island", MEDIAN),
    ("apron of setts", APRON),
    ("guard rail", RAIL),
    ("paint", MARKING),
    ("crown 1", CROWNS[0]),
    ("crown 2", CROWNS[1]),
    ("crown 3", CROWNS[2]),
    ("crown 4", CROWNS[3]),
    ("roof 1", ROOFS[0]),
    ("roof 2", ROOFS[1]),
    ("roof 3", ROOFS[2]),
    ("roof 4", ROOFS[3]),
    ("parapet", ROOF_EDGE),
    ("contour line", CONTOUR),
    ("text on the map", INK),
];

#[test]
fn the_page_about_the_look_has_the_palette() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/look.md");
    let page = std::fs::read_to_string(page).unwrap();
    let missing: Vec<String> = ROLES
        .iter()
        .map(|(name, day)| {
            let night = by_night(rgb(*day)).to_color_u8();
            let (r, g, b) = (night.red(), night.green(), night.blue());
            let contrast = contrast(*day, ASPHALT);
            format!("| {name} | `{day:06X}` | `{r:02X}{g:02X}{b:02X}` | {contrast:.2} |")
        })
        .filter(|line| !page.contains(line.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/look.md lacks\n{}",
        missing.join("\n")
    );
}

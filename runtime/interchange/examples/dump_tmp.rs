use roadwright_interchange::osm::*;
fn main() {
    for path in std::env::args().skip(2) {
        let e = read_file(std::path::Path::new(&path)).unwrap();
        for clip in [None, Some(GeoBox { west: -6.265, south: 53.34, east: -6.25, north: 53.35 })] {
            let r = import(&e, &ImportOptions { name: "x".into(), clip, driving_side: None });
            let text = match r { Ok((s, sum)) => format!("{}{:?}", roadwright_scenario::file::to_text(&s), sum), Err(e) => e.to_string() };
            let name = format!("{}/{}-{}", std::env::args().nth(1).unwrap(), path.replace('/', "_"), clip.is_some());
            std::fs::write(name, text).unwrap();
        }
    }
}

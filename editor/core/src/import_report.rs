//! Result of an import: the created items, and the omitted or changed items with their places.

use roadwright_interchange::osm::ImportSummary;

/// Result of the last import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    /// Path of the imported file.
    pub file: String,
    /// Id of the document that the import created. The places refer to this document.
    pub document: u64,
    /// Created and omitted items.
    pub summary: ImportSummary,
}

impl ImportReport {
    /// Returns the number of items left out or changed.
    pub fn left_out(&self) -> usize {
        self.summary
            .warnings
            .iter()
            .map(|warning| warning.count)
            .sum()
    }

    /// Returns the report in one line.
    pub fn line(&self) -> String {
        let summary = &self.summary;
        let mut text = format!("{} roads, {:.1} km", summary.roads, summary.road_km);
        if summary.buildings + summary.land > 0 {
            let (buildings, land) = (summary.buildings, summary.land);
            text += &format!(", {buildings} buildings, {land} land areas");
        }
        let left_out = self.left_out();
        if left_out > 0 {
            text += &format!("; {left_out} items left out or changed");
        }
        text
    }

    /// Returns the non-zero counts of created items, each with the name of the item.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let summary = &self.summary;
        let counted = [
            ("drivable OSM ways", summary.ways),
            ("junctions", summary.junctions),
            ("signals", summary.signals),
            ("junctions and crossings with signals", summary.controllers),
            ("stop and give-way signs", summary.signs),
            ("pedestrian crossings", summary.crossings),
            ("turn restrictions", summary.restrictions),
            (
                "turn restrictions via other roads",
                summary.via_restrictions,
            ),
            (
                "time-dependent turn restrictions",
                summary.timed_restrictions,
            ),
            ("lanes with arrows", summary.turn_lanes),
            ("lanes with lane change restrictions", summary.lane_changes),
            ("buildings", summary.buildings),
            ("land areas", summary.land),
        ];
        let roads = format!("{}, {:.1} km", summary.roads, summary.road_km);
        let lanes = format!("{}, {:.1} km", summary.lanes, summary.lane_km);
        let counted = counted.into_iter().filter(|(_, count)| *count > 0);
        let counted = counted.map(|(name, count)| (name, count.to_string()));
        [("roads", roads), ("lanes", lanes)]
            .into_iter()
            .chain(counted)
            .collect()
    }
}

//! Writes vehicle files.

use super::VehicleFile;
use crate::json_text::{FileError, TextError, Writer};
use std::path::Path;

impl VehicleFile {
    /// Returns the text of the vehicle file, with one part per line as in the shipped files.
    pub fn to_text(&self) -> String {
        let mut out = Writer::new();
        out.value("format", &self.format);
        out.value("version", &self.version);
        out.value("name", &self.name);
        if !self.description.is_empty() {
            out.value("description", &self.description);
        }
        out.value("body", &self.body);
        out.value("wheels", &self.wheels);
        out.value("steering", &self.steering);
        out.value("performance", &self.performance);
        out.given("suspension", self.suspension.as_ref());
        out.given("engine", self.engine.as_ref());
        out.given("gearbox", self.gearbox.as_ref());
        out.given("brakes", self.brakes.as_ref());
        out.given("resistance", self.resistance.as_ref());
        out.given("articulation", self.articulation.as_ref());
        if !self.trailers.is_empty() {
            out.value("trailers", &self.trailers);
        }
        out.given("sliding", self.sliding.as_ref());
        out.given("tracks", self.tracks.as_ref());
        if !self.off_road.is_default() {
            out.value("off_road", &self.off_road);
        }
        if !self.limits.is_empty() {
            out.value("limits", &self.limits);
        }
        out.finish()
    }

    /// Checks the numbers of the vehicle as if it were read from a file: their ranges, and the
    /// relations between them.
    ///
    /// # Errors
    /// As when a file is read. The error names the first invalid key and the reason.
    pub fn checked(&self) -> Result<(), TextError> {
        // A number that is not finite would be written as null and reported under a different name.
        Self::from_text(&self.to_text()).map(|_| ())
    }

    /// Writes the vehicle to a file atomically, so that after a crash either the old or the new
    /// file is complete.
    ///
    /// # Errors
    /// If the vehicle is not valid, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let text = self.to_text();
        Self::from_text(&text).map_err(|error| FileError::Text {
            path: path.to_owned(),
            error,
        })?;
        crate::json_text::save_text(&text, path)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::super::SHIPPED;
    use super::*;

    #[test]
    fn every_shipped_vehicle_comes_back_as_it_was() {
        for shipped in SHIPPED {
            let file = VehicleFile::from_text(shipped.text).unwrap();
            let text = file.to_text();
            let again = VehicleFile::from_text(&text).unwrap();
            assert_eq!(again, file, "{}", shipped.name);
            // One part per line, so that files can be compared line by line.
            assert!(
                text.lines().count() > 8 && text.ends_with("\n}\n"),
                "{text}"
            );
            assert!(text.contains("\n  \"wheels\": {\"radius\": "), "{text}");
        }
    }

    #[test]
    fn what_no_file_may_say_is_neither_checked_nor_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jeep.vehicle.json");
        let jeep = VehicleFile::from_text(SHIPPED[SHIPPED.len() - 1].text).unwrap();
        assert_eq!(jeep.checked(), Ok(()));
        let mut wrong = jeep.clone();
        wrong.body.mass = (-1.0).into();
        let error = wrong.checked().unwrap_err();
        assert_eq!(error.key, "body.mass");
        assert!(error.message.contains("-1"), "{error}");
        assert!(wrong.save(&path).is_err() && !path.exists());
        wrong.body.mass = f64::NAN.into();
        assert!(wrong.checked().is_err());
        // These values are invalid only in combination.
        let mut wrong = jeep.clone();
        wrong.gearbox.as_mut().unwrap().gears[1].ratio = 1.0.into();
        let error = wrong.checked().unwrap_err();
        assert!(error.key.starts_with("gearbox.gears"), "{error}");
        jeep.save(&path).unwrap();
        assert_eq!(VehicleFile::load(&path).unwrap(), jeep);
    }
}

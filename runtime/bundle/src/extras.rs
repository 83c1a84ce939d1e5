//! Additional files of a bundle: road presets and a background picture.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Path of the road presets, in a bundle and beside a scenario.
pub const PRESETS: &str = "presets.json";
/// Path of the file with the position of the background picture on the map.
pub const PLACEMENT: &str = "background.json";
/// File names of background pictures.
const PICTURES: [&str; 3] = ["background.png", "background.jpg", "background.jpeg"];
/// Maximum size of each of the presets, the placement and a picture, in bytes.
const LARGEST: u64 = 64 * roadwright_files::MEBIBYTE;

/// Placement of a picture on the map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// File name of the picture: `background.png`, `.jpg` or `.jpeg`.
    pub picture: String,
    /// South-west corner, m.
    pub low: [f64; 2],
    /// Metres per pixel, above 0.
    pub metres_per_pixel: f64,
    /// Opacity, from 0 (invisible) to 1 (opaque).
    pub opacity: f32,
}

impl Placement {
    /// Reads and validates a placement.
    ///
    /// # Errors
    /// If the placement is invalid, with the reason.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{PLACEMENT}: {error}");
        let placement: Self = serde_json::from_slice(bytes).map_err(|error| wrong(&error))?;
        if !PICTURES.contains(&placement.picture.as_str()) {
            return Err(wrong(
                &"picture: the name must be background.png, background.jpg or background.jpeg",
            ));
        }
        if !placement.low.iter().all(|x| x.abs() <= 1e7) {
            return Err(wrong(
                &"low: the coordinates must be within 10,000 km of the origin, in metres",
            ));
        }
        if !(1e-4..=1e4).contains(&placement.metres_per_pixel) {
            return Err(wrong(&"metres_per_pixel must be 0.0001 to 10,000"));
        }
        if !(0.0..=1.0).contains(&placement.opacity) {
            return Err(wrong(&"opacity must be 0 to 1"));
        }
        Ok(placement)
    }

    /// Returns the placement in the form used in files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a placement can be serialized");
        bytes.push(b'\n');
        bytes
    }
}

/// Files that are packed together with a scenario: road presets, and a background picture with its placement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extras {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Extras {
    /// Reads the files beside a scenario. Missing or unreadable files are left out.
    pub fn beside(folder: &Path) -> Self {
        let names = [PRESETS, PLACEMENT].into_iter().chain(PICTURES);
        let read = |name: &str| {
            let path = folder.join(name);
            // Links are ignored, because their target may be private.
            let is_file = path.symlink_metadata().is_ok_and(|data| data.is_file());
            let bytes = is_file.then(|| roadwright_files::read(&path, LARGEST).ok())??;
            Some((name.to_owned(), bytes))
        };
        let mut extras = Self {
            files: names.filter_map(read).collect(),
        };
        extras.keep_picture_of_placement();
        extras
    }

    /// Adds road presets, as JSON.
    #[must_use]
    pub fn with_presets(mut self, json: Vec<u8>) -> Self {
        self.files.insert(PRESETS.to_owned(), json);
        self
    }

    /// Adds a picture with its placement. An earlier picture is replaced.
    #[must_use]
    pub fn with_background(mut self, placement: &Placement, picture: Vec<u8>) -> Self {
        self.files
            .insert(PLACEMENT.to_owned(), placement.to_bytes());
        self.files.insert(placement.picture.clone(), picture);
        self.keep_picture_of_placement();
        self
    }

    /// Drops a picture that has no placement, and a placement that has no picture.
    fn keep_picture_of_placement(&mut self) {
        let placement = self.files.get(PLACEMENT);
        let placement = placement.and_then(|bytes| Placement::from_bytes(bytes).ok());
        let kept = placement.map(|placement| placement.picture);
        let kept = kept.filter(|picture| self.files.contains_key(picture));
        if kept.is_none() {
            self.files.remove(PLACEMENT);
        }
        for picture in PICTURES {
            if kept.as_deref() != Some(picture) {
                self.files.remove(picture);
            }
        }
    }
}

/// Whether a path names a background picture.
pub(crate) fn is_picture(path: &str) -> bool {
    PICTURES.contains(&path)
}

//! Animations of a run, as GIF.
//!
//! All frames share one palette, so that a colour looks the same in each of them and no traces of moving
//! vehicles remain. After the first frame, only the changed pixels are written, together with their bounding
//! box.

use crate::map::drawn;
use crate::{Picture, RenderError};
use color_quant::NeuQuant;
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use roadwright_scenario::Scenario;
use roadwright_simulation::Snapshot;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Number of colours in the palette.
const COLORS: usize = 255;
/// Palette index that means "same as in the previous frame".
const UNCHANGED: u8 = 255;
/// Sampling interval of pixels for the palette: every n-th pixel is used.
const SAMPLED: i32 = 3;
/// Minimum duration of a frame, in hundredths of a second. Most programs cannot show shorter frames.
const SHORTEST: u16 = 2;

/// An animation of a run, to which frames are added in order.
///
/// ```
/// use roadwright_render::{Film, Picture};
///
/// let file = "../../scenarios/crossroads.scenario.json";
/// let scenario = roadwright_scenario::file::load(file.as_ref())?;
/// let picture = Picture { size: (160, 120), ..Picture::default() };
/// let mut film = Film::new(0.1);
/// film.add(&scenario, None, &picture)?;
/// film.add(&scenario, None, &picture)?;
/// assert!(film.gif()?.starts_with(b"GIF89a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Film {
    /// Duration of a frame, hundredths of a second.
    delay: u16,
    size: (u32, u32),
    /// Pixels of the previous frame, RGBA.
    last: Vec<u8>,
    changes: Vec<Change>,
}

/// The rectangle that differs from the previous frame.
#[derive(Debug)]
struct Change {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
    /// Pixels in RGBA, transparent where nothing has changed.
    pixels: Vec<u8>,
}

impl Film {
    /// Creates an empty film with the given duration of each frame, s. The duration is rounded to
    /// hundredths of a second, with a minimum of two hundredths.
    pub fn new(seconds: f64) -> Self {
        let hundredths = (100.0 * seconds).round().clamp(0.0, f64::from(u16::MAX));
        Self {
            delay: (hundredths as u16).max(SHORTEST),
            size: (0, 0),
            last: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Adds a frame. All frames must have the size of the first one.
    ///
    /// # Errors
    /// As [`map`](crate::map), and if the size of the frame differs.
    pub fn add(
        &mut self,
        scenario: &Scenario,
        snapshot: Option<&Snapshot>,
        picture: &Picture,
    ) -> Result<(), RenderError> {
        let is_first = self.changes.is_empty();
        if !is_first && picture.size != self.size {
            return Err(RenderError::Film(
                "the frames of the animation differ in size".into(),
            ));
        }
        let pixels = drawn(scenario, snapshot, picture)?.opaque();
        let (width, height) = picture.size;
        let change = if is_first {
            Change {
                left: 0,
                top: 0,
                width,
                height,
                pixels: pixels.clone(),
            }
        } else {
            changed(&self.last, &pixels, width)
        };
        self.size = picture.size;
        self.last = pixels;
        self.changes.push(change);
        Ok(())
    }

    /// Returns the film as a GIF that repeats endlessly.
    ///
    /// # Errors
    /// If there is no frame, or the frames are too large for a GIF.
    pub fn gif(&self) -> Result<Vec<u8>, RenderError> {
        if self.changes.is_empty() {
            return Err(RenderError::Empty);
        }
        let failed = |error: gif::EncodingError| RenderError::Film(error.to_string());
        let side = |pixels: u32| {
            let short = u16::try_from(pixels);
            short.map_err(|_| RenderError::Size(self.size.0, self.size.1))
        };
        let palette = Palette::of(&self.changes);
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(
            &mut bytes,
            side(self.size.0)?,
            side(self.size.1)?,
            &palette.colors,
        )
        .map_err(failed)?;
        encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
        let mut known = BTreeMap::new();
        for change in &self.changes {
            let frame = Frame {
                delay: self.delay,
                dispose: DisposalMethod::Keep,
                transparent: Some(UNCHANGED),
                left: side(change.left)?,
                top: side(change.top)?,
                width: side(change.width)?,
                height: side(change.height)?,
                buffer: Cow::Owned(palette.indices(&change.pixels, &mut known)),
                ..Frame::default()
            };
            encoder.write_frame(&frame).map_err(failed)?;
        }
        drop(encoder);
        Ok(bytes)
    }
}

/// Returns the bounding box of the changes between two frames with the same width, or a single pixel if there
/// are none.
fn changed(before: &[u8], after: &[u8], width: u32) -> Change {
    let width = width as usize;
    let differs = |pixel: usize| before[4 * pixel..][..4] != after[4 * pixel..][..4];
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for pixel in (0..after.len() / 4).filter(|pixel| differs(*pixel)) {
        let place = [pixel % width, pixel / width];
        for axis in [0, 1] {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }
    if low[0] > high[0] {
        (low, high) = ([0; 2], [0; 2]);
    }
    let rows = low[1]..=high[1];
    let box_pixels =
        rows.flat_map(|row| (low[0]..=high[0]).map(move |column| row * width + column));
    let pixels = box_pixels.flat_map(|pixel| {
        if differs(pixel) {
            [0, 1, 2, 3].map(|part| after[4 * pixel + part])
        } else {
            [0; 4]
        }
    });
    Change {
        left: low[0] as u32,
        top: low[1] as u32,
        width: (high[0] - low[0] + 1) as u32,
        height: (high[1] - low[1] + 1) as u32,
        pixels: pixels.collect(),
    }
}

/// Colours shared by all frames.
struct Palette {
    quantizer: NeuQuant,
    /// Red, green and blue of each colour, followed by an unused colour for unchanged pixels.
    colors: Vec<u8>,
}

impl Palette {
    fn of(changes: &[Change]) -> Self {
        let pixels = changes
            .iter()
            .flat_map(|change| change.pixels.chunks_exact(4));
        let seen: Vec<u8> = pixels
            .filter(|pixel| pixel[3] != 0)
            .flatten()
            .copied()
            .collect();
        let quantizer = NeuQuant::new(SAMPLED, COLORS, &seen);
        let mut colors = quantizer.color_map_rgb();
        colors.truncate(3 * COLORS);
        colors.resize(3 * (COLORS + 1), 0);
        Self { quantizer, colors }
    }

    /// Returns the palette indices of pixels, reusing earlier results.
    fn indices(&self, pixels: &[u8], known: &mut BTreeMap<[u8; 3], u8>) -> Vec<u8> {
        let index = |pixel: &[u8]| {
            if pixel[3] == 0 {
                return UNCHANGED;
            }
            let color = [pixel[0], pixel[1], pixel[2]];
            let find = || self.quantizer.index_of(pixel) as u8;
            *known.entry(color).or_insert_with(find)
        };
        pixels.chunks_exact(4).map(index).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        let file = "../../scenarios/crossroads.scenario.json";
        roadwright_scenario::file::load(file.as_ref()).unwrap()
    }

    fn picture(detail: &str) -> Picture {
        Picture {
            size: (160, 120),
            detail: Some(detail.into()),
            ..Picture::default()
        }
    }

    /// Returns the picture that a viewer shows after each frame, RGBA.
    fn shown(gif: &[u8]) -> Vec<Vec<u8>> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(gif).unwrap();
        let width = usize::from(decoder.width());
        let mut screen = vec![0; 4 * width * usize::from(decoder.height())];
        let mut screens = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            assert_eq!(frame.delay, 10);
            let columns = usize::from(frame.width);
            for (number, pixel) in frame.buffer.chunks_exact(4).enumerate() {
                let (column, row) = (number % columns, number / columns);
                let at = (row + usize::from(frame.top)) * width + column + usize::from(frame.left);
                if pixel[3] != 0 {
                    screen[4 * at..][..4].copy_from_slice(pixel);
                }
            }
            screens.push(screen.clone());
        }
        screens
    }

    #[test]
    fn what_comes_back_looks_as_it_did() {
        let scenario = scenario();
        let mut film = Film::new(0.1);
        for detail in ["here", "there and everywhere", "here", "here"] {
            film.add(&scenario, None, &picture(detail)).unwrap();
        }
        let gif = film.gif().unwrap();
        let screens = shown(&gif);
        assert_eq!(screens.len(), 4);
        assert_ne!(screens[0], screens[1]);
        assert_eq!(screens[0], screens[2]);
        assert_eq!(screens[2], screens[3]);
        // The film is close to the drawn picture, although it has only 255 colours.
        let drawn = drawn(&scenario, None, &picture("here")).unwrap().opaque();
        let apart = drawn
            .iter()
            .zip(&screens[3])
            .map(|(a, b)| u64::from(a.abs_diff(*b)));
        let mean = apart.sum::<u64>() as f64 / drawn.len() as f64;
        assert!(mean < 3.0, "{mean}");
        // Unchanged frames take hardly any space.
        let mut one = Film::new(0.1);
        one.add(&scenario, None, &picture("here")).unwrap();
        let whole = one.gif().unwrap().len();
        assert!(gif.len() < 2 * whole, "{} {whole}", gif.len());
        assert_eq!(film.gif().unwrap(), gif);
    }

    #[test]
    fn a_film_without_frames_or_of_two_sizes_is_none() {
        assert!(matches!(Film::new(0.1).gif(), Err(RenderError::Empty)));
        let (scenario, mut film) = (scenario(), Film::new(f64::NAN));
        film.add(&scenario, None, &picture("")).unwrap();
        let other = Picture {
            size: (161, 120),
            ..picture("")
        };
        let error = film.add(&scenario, None, &other).unwrap_err();
        assert!(error.to_string().contains("differ in size"), "{error}");
    }
}

//! Bundles, `NAME.rwz`: a scenario with all that it needs in one file that is safe to open.
//!
//! A bundle is a zip archive with a [`Manifest`]: the scenario (heights are in it), the scripts that
//! it uses, its vehicle files, and, where there are any, presets of roads and a picture to trace.
//! Compiled plugins never travel: the manifest names them with their hashes, and
//! [`Bundle::lacks`] tells which of them are not at hand.
//!
//! Reading one runs nothing and writes nothing. Files of other kinds, files that the manifest does
//! not know or whose hash is another one, paths that lead out of their folder, links, and whatever
//! unpacks to more than 256 MiB, 10,000 files or 100 times its size are refused. Equal input gives
//! equal bytes.
//!
//! ```
//! use roadwright_bundle::{Available, Bundle, Extras};
//! use roadwright_scenario::Scenario;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::new("Town");
//! let bundle = Bundle::pack(&scenario, "town", None, &Available::default(), Extras::default())?;
//! let again = Bundle::from_bytes(&bundle.to_bytes()?)?;
//! assert_eq!(again.scenario(), &scenario);
//! # Ok(())
//! # }
//! ```

mod archive;
mod available;
mod bundle;
mod extras;
mod manifest;
mod needs;
mod unpack;

pub use archive::{ArchiveError, MOST_BYTES, MOST_FILES, MOST_RATIO};
pub use available::Available;
pub use bundle::{Bundle, BundleError, ENDING};
pub use extras::{Extras, PLACEMENT, PRESETS, Placement};
pub use manifest::{FORMAT, FileHash, Manifest, Need, NeedKind, VERSION};
pub use needs::Lack;

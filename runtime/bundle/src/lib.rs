//! Bundles (`NAME.rwz`): a scenario with everything it needs, in a single file that is safe to
//! open.
//!
//! A bundle is a zip archive with a [`Manifest`]. It contains the scenario (including heights), the
//! scripts that the scenario uses, its vehicle files and, if there are any, road presets and a
//! background picture. Compiled plugins are never included. The manifest lists them with their
//! hashes, and [`Bundle::lacks`] returns the plugins that are not available.
//!
//! Reading a bundle runs nothing and writes nothing. A bundle is rejected if it contains files of
//! other kinds, files that are not in the manifest or have a different hash, paths that lead out of
//! their folder, or links, or if it unpacks to more than 256 MiB, 10,000 files or 100 times its
//! size. Equal input gives equal bytes.
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

//! Access to untrusted files. Files are checked before they are read, and they are written in such
//! a way that the previous contents are never lost.
//!
//! Reading ([`read()`], [`read_text`]) has a limit in bytes and rejects folders, pipes and devices,
//! which may never end. Writing ([`write()`], [`Beside`]) creates a new file **beside** the old one
//! and moves it into place, so that the old file stays intact if the program is killed or the disk
//! is full. [`Output`] does the same for several results that get their final names together, and
//! also writes to pipes and devices. [`NewFolder`] does it for folders. **Sweeping** removes
//! temporary files that killed programs have left behind.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("town.json");
//! roadwright_files::write(&path, b"{}")?;
//! assert_eq!(roadwright_files::read_text(&path, 1024)?, "{}");
//! assert!(roadwright_files::read_text(&path, 1).is_err(), "it is larger than that");
//! # Ok(())
//! # }
//! ```

mod folder;
mod output;
mod read;
mod write;

pub use folder::NewFolder;
pub use output::{Complete, Left, Output, Standard, Stream, Target};
pub use read::{MEBIBYTE, open, read, read_text};
pub use write::{Beside, write};

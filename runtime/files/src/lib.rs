//! Files that strangers have made or named: looked at before they are read, and written so that
//! what was there before is never lost.
//!
//! Reading ([`read()`], [`read_text`]) has a limit in bytes, and refuses folders, pipes and devices,
//! which may never end. Writing ([`write()`], [`Beside`]) makes a new file **beside** the old one and
//! moves it into place: a program that is killed, or a disk that is full, leaves the old file.
//! [`Output`] does the same for several results that get their names together, and writes to pipes and
//! devices as well. [`NewFolder`] does it for folders.
//! **Sweeping** removes what killed programs have left.
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

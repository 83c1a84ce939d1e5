//! Reads the folder of the path dialog in the background.

use crate::context::Context;
use crate::folder_list::{FolderList, read};
use crate::model::{Dialog, Model};
use crate::worker::Worker;
use std::path::PathBuf;
use std::sync::Arc;

/// Interval between reads of a folder while its list is shown, s.
const PERIOD: f64 = 2.0;

/// Reads the folder of the path dialog in the background.
pub(crate) struct FolderReader(Worker<PathBuf, FolderList>);

impl FolderReader {
    /// Creates a reader that calls `wake` after it has read a folder.
    pub(crate) fn new(wake: impl Fn() + Send + 'static) -> Self {
        Self(Worker::new(|folder: PathBuf| read(&folder), wake))
    }

    /// Requests the contents of the dialog's folder at intervals, and immediately when the dialog shows
    /// another folder.
    pub(crate) fn look(&mut self, cx: &mut Context, time: f64) {
        if let Some(list) = self.0.take() {
            cx.model.folder.list = Arc::new(list);
        }
        let is_shown = matches!(cx.model.dialog, Dialog::Path { .. });
        if is_shown && time - cx.model.folder.asked_at >= PERIOD {
            self.ask(cx, time);
        }
    }

    /// Whether the list belongs to the requested folder, or no list is shown.
    pub(crate) fn is_listed(&self, model: &Model) -> bool {
        let folder = &model.folder;
        !matches!(model.dialog, Dialog::Path { .. }) || folder.list.folder == folder.wanted
    }

    /// Switches to another folder.
    pub(crate) fn list(&mut self, cx: &mut Context, folder: PathBuf) {
        cx.model.folder.wanted = folder;
        let time = cx.egui.input(|i| i.time);
        self.ask(cx, time);
    }

    fn ask(&mut self, cx: &mut Context, time: f64) {
        let folder = &mut cx.model.folder;
        if folder.wanted.as_os_str().is_empty() {
            return;
        }
        folder.asked_at = time;
        self.0.ask(folder.wanted.clone());
    }
}

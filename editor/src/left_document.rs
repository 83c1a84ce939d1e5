//! The previous document while the map of a newly opened document is still being drawn.
//!
//! Opening can be cancelled until that map has been drawn. The previous document then returns with its history, its
//! unsaved changes, its view and its import report. Its run restarts, because a run ends with its document.

use crate::camera::Camera;
use crate::context::Context;
use crate::document::Document;
use crate::import_report::ImportReport;
use crate::scene::Scene;
use std::sync::Arc;

/// The previous document, with its view.
pub(crate) struct LeftDocument {
    document: Document,
    camera: Camera,
    scene: Arc<Scene>,
    import: Option<Arc<ImportReport>>,
    /// Id and revision of the document that was opened instead.
    other: (u64, u64),
}

impl LeftDocument {
    /// Puts another document into the window and returns the previous one.
    pub(crate) fn leave(cx: &mut Context, other: Document) -> Self {
        let (camera, scene) = (cx.model.camera, cx.model.scene.clone());
        Self {
            other: (other.id(), other.revision()),
            import: cx.model.import.clone(),
            document: cx.put_document(other),
            camera,
            scene,
        }
    }

    /// Whether the window shows the newly opened document and that document has not been edited.
    pub(crate) fn is_before(&self, cx: &Context) -> bool {
        let document = &cx.model.document;
        self.other == (document.id(), document.revision())
    }

    /// Puts the document back into the window.
    pub(crate) fn put_back(self, cx: &mut Context) {
        let is_current = Arc::ptr_eq(&self.scene.scenario, self.document.scenario());
        cx.put_document(self.document);
        cx.model.camera = self.camera;
        // The view is the same as when the document was left.
        cx.view.needs_frame = false;
        cx.model.import = self.import;
        if is_current {
            cx.model.scene = self.scene;
        }
    }

    /// Frees the memory of the document on another thread, because for a city, this takes longer
    /// than a frame.
    pub(crate) fn discard(self) {
        std::thread::spawn(move || drop(self));
    }
}

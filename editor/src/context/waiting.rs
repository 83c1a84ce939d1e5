//! The user's document while another document is shown in its place, such as the world of an individual or
//! the test track of a vehicle.
//!
//! The user's document is set aside with its history, its file and its unsaved changes. The
//! document in its place has no file. It can be played, inspected and edited like any other, and is
//! discarded on return.

use super::Context;
use crate::camera::Camera;
use crate::document::Document;

/// The user's document while it is set aside, with its view.
pub(crate) struct Waiting {
    pub(crate) document: Document,
    camera: Camera,
}

/// Returns the user's document, which is either set aside or in the window.
pub(crate) fn own<'a>(waiting: &'a Option<Waiting>, in_window: &'a Document) -> &'a Document {
    waiting
        .as_ref()
        .map_or(in_window, |waiting| &waiting.document)
}

impl Context {
    /// Shows a document in place of the user's document. Replaces any document already shown there.
    pub(crate) fn stand_in(&mut self, document: Document) {
        let camera = self.model.camera;
        let before = self.put_document(document);
        // A document already shown in its place is discarded; the user's document stays set aside.
        if self.waiting.is_none() {
            self.model.waiting = Some(before.scenario().clone());
            self.waiting = Some(Waiting {
                document: before,
                camera,
            });
        }
    }

    /// Shows the user's document again in its previous state.
    pub(crate) fn end_waiting(&mut self) {
        if let Some(Waiting { document, camera }) = self.waiting.take() {
            self.model.waiting = None;
            self.put_document(document);
            self.model.camera = camera;
            // The view is the same as when the document was left.
            self.view.needs_frame = false;
        }
    }

    /// Returns the user's document, even while another document is shown in its place.
    pub(crate) fn own_document(&self) -> &Document {
        own(&self.waiting, &self.model.document)
    }

    /// Whether the user's document has unsaved changes while it is set aside.
    pub(crate) fn is_waiting_dirty(&self) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|waiting| waiting.document.is_dirty())
    }

    /// Returns from the test track to the scenario with its history.
    pub(crate) fn leave_track(&mut self) {
        if self.model.workshop.track.take().is_some() {
            self.end_waiting();
        }
    }

    /// Whether the world of an individual is shown in place of the document.
    pub(crate) fn is_showing(&self) -> bool {
        self.model.experiment.shown.is_some()
    }

    /// Shows the document again in its previous state.
    pub(crate) fn end_show(&mut self) {
        self.model.experiment.shown = None;
        self.model.experiment.paths = None;
        self.end_waiting();
    }
}

//! The document of the person, while something else stands in its place: the world of an individual, or
//! the test track of a vehicle.
//!
//! It waits as it is, with its history, its file and what is not saved. What stands in its place is a
//! document of its own, without a file: it can be played, looked into and edited like any other, and goes
//! when one goes back.

use super::Context;
use crate::camera::Camera;
use crate::document::Document;

/// The document that waits, and where its map looked.
pub(crate) struct Waiting {
    pub(crate) document: Document,
    camera: Camera,
}

/// The document of the person: the one that waits, or the one in the window.
pub(crate) fn own<'a>(waiting: &'a Option<Waiting>, in_window: &'a Document) -> &'a Document {
    waiting
        .as_ref()
        .map_or(in_window, |waiting| &waiting.document)
}

impl Context {
    /// Puts something into the place of the document, or of what stands there already.
    pub(crate) fn stand_in(&mut self, document: Document) {
        let camera = self.model.camera;
        let before = self.put_document(document);
        // What stood in its place before goes; the document of the person waits on.
        if self.waiting.is_none() {
            self.model.waiting = Some(before.scenario().clone());
            self.waiting = Some(Waiting {
                document: before,
                camera,
            });
        }
    }

    /// Shows the document again, as it was left.
    pub(crate) fn end_waiting(&mut self) {
        if let Some(Waiting { document, camera }) = self.waiting.take() {
            self.model.waiting = None;
            self.put_document(document);
            self.model.camera = camera;
            // The map looks where it looked when the document was left.
            self.view.needs_frame = false;
        }
    }

    /// The document of the person, also while it waits.
    pub(crate) fn own_document(&self) -> &Document {
        own(&self.waiting, &self.model.document)
    }

    /// Whether the document that waits has changes that are not saved.
    pub(crate) fn is_waiting_dirty(&self) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|waiting| waiting.document.is_dirty())
    }

    /// The scenario comes back onto the map as it was, with its history.
    pub(crate) fn leave_track(&mut self) {
        if self.model.workshop.track.take().is_some() {
            self.end_waiting();
        }
    }

    /// Whether the world of an individual stands in place of the document.
    pub(crate) fn is_showing(&self) -> bool {
        self.model.experiment.shown.is_some()
    }

    /// Shows the document again, as it was left.
    pub(crate) fn end_show(&mut self) {
        self.model.experiment.shown = None;
        self.model.experiment.paths = None;
        self.end_waiting();
    }
}

//! The context that the editor's subjects share. It contains the state that panels read, the widgets, and
//! background jobs.
//!
//! A subject is a struct with its own state and a method `act`, which takes the context and an action. Subjects
//! do not call each other. They queue requests with [`Context::then`], which are carried out as soon as the
//! subject returns.

mod waiting;

use crate::document::Document;
use crate::jobs::Job;
use crate::model::{Action, Dialog, Model, Tone};
use crate::requests::Request;
use crate::scene::Scene;
use crate::view::ViewState;
use roadwright_scenario::Edit;
use std::collections::VecDeque;
use std::sync::Arc;
use waiting::Waiting;

/// The state that all subjects of the editor can access.
pub(crate) struct Context {
    pub(crate) model: Model,
    pub(crate) view: ViewState,
    /// Actions sent by panels during a frame. They are carried out after it.
    pub(crate) actions: Vec<Action>,
    pub(crate) egui: egui::Context,
    /// Background jobs in progress.
    pub(crate) jobs: Vec<Job>,
    /// The user's document while another one, such as a test track, is shown.
    pub(crate) waiting: Option<Waiting>,
    /// Total number of documents shown in the window. When it changes, all data that subjects have
    /// derived from a document are stale.
    pub(crate) epoch: u64,
    /// Requests that result from the current action.
    next: VecDeque<Request>,
}

impl Context {
    /// Creates a context for a model.
    pub(crate) fn new(model: Model, view: ViewState, egui: egui::Context) -> Self {
        Self {
            model,
            view,
            actions: Vec::new(),
            egui,
            jobs: Vec::new(),
            waiting: None,
            epoch: 0,
            next: VecDeque::new(),
        }
    }

    /// Queues a request to another subject. It is carried out as soon as the current subject returns.
    pub(crate) fn then(&mut self, request: impl Into<Request>) {
        self.next.push_back(request.into());
    }

    /// Takes the next queued request.
    pub(crate) fn take_next(&mut self) -> Option<Request> {
        self.next.pop_front()
    }

    /// Shows a message.
    pub(crate) fn say(&mut self, tone: Tone, text: &str) {
        self.view.messages.say(tone, text, None);
    }

    /// Shows a message about the step that was just applied, with a button to undo it.
    pub(crate) fn say_undoable(&mut self, text: &str) {
        let revision = self.model.document.revision();
        self.view.messages.say(Tone::Done, text, Some(revision));
    }

    /// Returns a function that another thread can call to wake the window.
    pub(crate) fn wake(&self) -> impl Fn() + Send + Clone + 'static {
        waker(&self.egui)
    }

    /// Applies an edit as a separate undo step, or shows why it was rejected.
    pub(crate) fn apply(&mut self, label: &str, edit: Edit) {
        if let Err(error) = self.model.document.apply(label, edit) {
            self.say(Tone::Refused, &format!("{error}."));
        }
    }

    /// Applies an edit as the newest state of the gesture in progress, or shows why it was rejected.
    pub(crate) fn preview(&mut self, label: &str, edit: Edit) {
        if let Err(error) = self.model.document.preview(label, edit) {
            self.say(Tone::Refused, &format!("{error}."));
        }
    }

    /// Puts a document into the window and returns the previous one.
    pub(crate) fn put_document(&mut self, document: Document) -> Document {
        let model = &mut self.model;
        let before = std::mem::replace(&mut model.document, document);
        model.selection.clear();
        model.explained = None;
        model.drawn_route = None;
        model.problems = Default::default();
        model.changed_on_disk = false;
        model.dialog = Dialog::None;
        // The run and all derived data belong to the old document. They must not be used for the new one,
        // although the revisions of both start from the same number.
        self.epoch += 1;
        model.live = None;
        model.watched = None;
        model.follow = false;
        model.driving = None;
        model.scene = Arc::new(Scene::empty());
        model.findings = (0, Arc::default());
        model.routes.clear();
        model.measured.clear();
        // A layer chosen for a bridge in the old document would join nothing in the new one.
        model.settings.tools.layer = None;
        let tool = model.tool;
        self.view.forget(tool);
        before
    }
}

/// Returns a function that another thread can call to wake the window of a context.
pub(crate) fn waker(context: &egui::Context) -> impl Fn() + Send + Clone + 'static {
    let context = context.clone();
    move || context.request_repaint()
}

//! Carries out the actions on plugins and scripts.

use crate::context::Context;
use crate::extensions::{Extensions, Folders, StepRequest};
use crate::model::{Dialog, Model, ModuleAction, Tone};
use crate::panels::past::clock;
use crate::requests::{FlowAction, ModuleRequest, PlayingAction, Request};
use roadwright_bundle::Available;
use roadwright_extension::script::{LONGEST_SCRIPT, Subject, compile, step_through};
use roadwright_extension::{CallWatch, Event, Level, author};
use std::path::Path;

/// The subject that manages plugins and scripts through their host.
pub(crate) struct ModuleHost {
    extensions: Extensions,
}

impl ModuleHost {
    /// Opens the host, and searches for modules in the user's folders and in the folder of the document.
    pub(crate) fn open(folders: &Folders, model: &mut Model) -> Self {
        let mut extensions = Extensions::open(folders, model.document.path(), &model.settings);
        // Modules found at startup are not reported as new.
        let trusted = &model.settings.trusted_folders;
        extensions.look(&mut model.modules, trusted, 0.0);
        Self { extensions }
    }

    /// Returns the modules that scenarios can use, and the texts of scripts.
    pub(crate) fn available(&self) -> Available {
        self.extensions.available()
    }

    /// Returns a handle that informs another thread of hanging calls and unread events of the host.
    pub(crate) fn call_watch(&self) -> &CallWatch {
        self.extensions.call_watch()
    }

    /// Carries out an action.
    pub(crate) fn act(&mut self, cx: &mut Context, request: ModuleRequest) {
        match request {
            ModuleRequest::Action(action) => self.do_action(cx, action),
            ModuleRequest::Follow => {
                let path = cx.model.document.path();
                self.extensions.follow(path, &cx.model.settings);
            }
            ModuleRequest::StepThrough(request, view) => {
                let script = request.script.clone();
                self.step_through(cx, request, Subject::Driving { view, script });
            }
        }
    }

    /// Reports plugins and scripts that were added, removed or changed.
    pub(crate) fn look(&mut self, cx: &mut Context, time: f64) {
        let trusted = &cx.model.settings.trusted_folders;
        let news = self.extensions.look(&mut cx.model.modules, trusted, time);
        for event in &news.events {
            if let Some(text) = applied(&cx.model, event) {
                let applied = &mut cx.model.modules.applied;
                applied.insert(event.module.clone(), text.clone());
                cx.say(Tone::Done, &format!("{}: {text}", event.module));
            } else {
                tell(cx, event);
            }
        }
        // The run has its own registry, which is updated only here.
        if news.has_timed_out {
            // The result would depend on the speed of the machine if the run continued, so the user decides.
            cx.then(PlayingAction::Halt);
        }
        if news.has_new_modules {
            cx.then(PlayingAction::UseModules);
        }
        if cx.model.dialog == Dialog::None && cx.model.modules.asks {
            cx.model.dialog = Dialog::AllowPlugin;
        }
    }

    fn do_action(&mut self, cx: &mut Context, action: ModuleAction) {
        let host = self.extensions.host();
        match action {
            ModuleAction::Allow(hash) => {
                host.allow(&hash);
                cx.model.settings.trusted_plugins.insert(hash);
                // Other builds that wait for permission are listed again by the next update from the host.
                cx.model.modules.unallowed.clear();
                cx.model.modules.asks = false;
                cx.model.dialog = Dialog::None;
            }
            ModuleAction::AllowFolder(folder) => {
                let waiting = &cx.model.modules;
                for (file, its) in waiting.unallowed.iter().zip(&waiting.folders) {
                    if its.as_ref() == Ok(&folder) {
                        host.allow(&file.hash);
                    }
                }
                cx.model.settings.trusted_folders.insert(folder);
                cx.model.modules.asks = false;
                cx.model.dialog = Dialog::None;
            }
            ModuleAction::ForgetFolder(folder) => {
                cx.model.settings.trusted_folders.remove(&folder);
            }
            ModuleAction::Decline(hash) => {
                self.extensions.decline(&hash);
                cx.model.modules.asks = false;
                cx.model.dialog = Dialog::None;
            }
            ModuleAction::Reload(id) => host.reload(&id),
            ModuleAction::Disable(id, disabled) => host.set_disabled(&id, disabled),
            ModuleAction::Isolate(id, isolated) => host.set_isolated(&id, isolated),
            ModuleAction::RollBack(id) => {
                if !host.roll_back(&id) {
                    cx.say(Tone::Refused, "There is no earlier build.");
                }
            }
            ModuleAction::OpenFolder(path) => {
                let folder = path.parent().unwrap_or(&path).to_owned();
                if let Err(why) = open_folder(&folder) {
                    cx.say(Tone::Failed, &format!("{}: {why}", folder.display()));
                }
            }
            ModuleAction::SaveScript {
                id,
                text,
                base,
                anyway,
            } => {
                if anyway || self.check_script(cx, &id, &text) {
                    self.save_script(cx, &id, &text, &base);
                }
            }
            ModuleAction::CheckScript(id, text) => {
                if self.check_script(cx, &id, &text) {
                    cx.say(Tone::Done, &format!("{id}: no errors found."));
                }
            }
            ModuleAction::StepThrough(request) => match request.agent {
                None => self.step_through(cx, request, Subject::MadeUp(1)),
                Some(agent) => cx.then(PlayingAction::FindView(request, agent)),
            },
            ModuleAction::EndStepping => cx.model.modules.stepping = None,
            ModuleAction::NewScript(name) => self.new_script(cx, &name),
            ModuleAction::TimedOut { goes_on } => {
                cx.model.modules.timed_out = None;
                if goes_on {
                    cx.then(PlayingAction::GoOn);
                }
            }
            ModuleAction::RestartWithout(id) => {
                // The simulation thread hangs in a call of the plugin.
                host.quarantine(&id);
                cx.then(Request::Flow(FlowAction::Restart));
            }
        }
    }

    /// Runs one handler for one agent and keeps its trace, statement by statement.
    fn step_through(&mut self, cx: &mut Context, request: StepRequest, subject: Subject) {
        let scripts = self.extensions.host().scripts();
        let place = scripts.place_of(&request.script);
        // Scripts can import other scripts from their own folder.
        let folder = place.as_deref().and_then(Path::parent);
        let (file, text) = (&request.script, &request.text);
        let steps = step_through(file, text, folder, &request.event, &subject);
        cx.model.modules.stepping = Some((request, steps));
    }

    /// Checks the text of a script and shows any error at its line. Returns whether the text is free of
    /// errors.
    fn check_script(&mut self, cx: &mut Context, id: &str, text: &str) -> bool {
        let place = self.extensions.host().scripts().place_of(id);
        let folder = place.as_deref().and_then(Path::parent);
        let mistake = compile(id, text, folder).err();
        let is_fine = mistake.is_none();
        cx.model.modules.checked = Some((id.to_owned(), text.to_owned(), mistake));
        is_fine
    }

    /// Saves a script, unless its file has changed since the draft was started.
    fn save_script(&mut self, cx: &mut Context, id: &str, text: &str, base: &str) {
        let scripts = self.extensions.host().scripts();
        let Some(place) = scripts.place_of(id) else {
            return;
        };
        // The file is read now, because the host's copy may be older, and overwriting a change by another
        // program could not be undone.
        match roadwright_files::read_text(&place, LONGEST_SCRIPT) {
            Ok(there) if there != base && there != text => {
                scripts.read(&place);
                cx.say(
                    Tone::Refused,
                    &format!(
                        "Another program has changed {id}. Reload it or keep your version first."
                    ),
                );
                return;
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                cx.say(Tone::Failed, &format!("{}: {error}", place.display()));
                return;
            }
        }
        let write = || -> std::io::Result<()> {
            if let Some(folder) = place.parent() {
                std::fs::create_dir_all(folder)?;
            }
            roadwright_files::write(&place, text.as_bytes())
        };
        match write() {
            // The host reads the file immediately and reports errors, as if another editor had
            // saved it.
            Ok(()) => self.extensions.host().scripts().read(&place),
            Err(error) => cx.say(Tone::Failed, &format!("{}: {error}", place.display())),
        }
    }

    fn new_script(&mut self, cx: &mut Context, name: &str) {
        let Some(place) = self.extensions.host().scripts().place_of("x.rhai") else {
            return;
        };
        let folder = place.parent().unwrap_or(&place).to_owned();
        match author::new_script(&folder, name) {
            Ok(path) => {
                self.extensions.host().scripts().read(&path);
                cx.view.panels.show_script(&format!("{name}.rhai"));
            }
            Err(error) => cx.say(Tone::Refused, &error.to_string()),
        }
    }
}

/// Returns when a reloaded script was applied to the run, for example "version 3, applied at 00:44.0"; `None` for
/// other events and without a run.
fn applied(model: &Model, event: &Event) -> Option<String> {
    let version = event.text.strip_suffix(" loaded")?;
    let mut scripts = model.modules.scripts.iter();
    let is_script = scripts.any(|script| script.id == event.module);
    let live = model.live.as_ref().filter(|_| is_script)?;
    Some(format!(
        "{version}, applied at {}",
        clock(live.snapshot.time)
    ))
}

/// Shows a message of the host.
fn tell(cx: &mut Context, event: &Event) {
    // A dialog asks for permission instead, because this message is worded for the command line.
    if event.text.contains("is not allowed to run yet") {
        return;
    }
    let tone = match event.level {
        Level::Info => Tone::Done,
        Level::Warning => Tone::Refused,
        Level::Error => Tone::Failed,
    };
    cx.say(tone, &format!("{}: {}", event.module, event.text));
}

/// Opens a folder in the system's file manager.
fn open_folder(folder: &Path) -> std::io::Result<()> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let child = std::process::Command::new(program).arg(folder).spawn();
    child.map(drop)
}

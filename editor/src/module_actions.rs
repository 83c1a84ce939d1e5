//! What panels ask for about plugins and scripts is done here.

use crate::app::Editor;
use crate::extensions::StepRequest;
use crate::model::{Dialog, ModuleAction, Tone};
use crate::waiting::own;
use roadwright_extension::author;
use roadwright_extension::script::{LONGEST_SCRIPT, Subject, compile, step_through};
use std::path::Path;

impl Editor {
    pub(crate) fn module(&mut self, action: ModuleAction) {
        let host = self.extensions.host();
        match action {
            ModuleAction::Allow(hash) => {
                host.allow(&hash);
                self.model.settings.trusted_plugins.insert(hash);
                // What else waits comes back with the next look at the host.
                self.model.modules.unallowed.clear();
                self.model.modules.asks = false;
                self.model.dialog = Dialog::None;
            }
            ModuleAction::AllowFolder(folder) => {
                let waiting = &self.model.modules;
                for (file, its) in waiting.unallowed.iter().zip(&waiting.folders) {
                    if its.as_ref() == Ok(&folder) {
                        host.allow(&file.hash);
                    }
                }
                self.model.settings.trusted_folders.insert(folder);
                self.model.modules.asks = false;
                self.model.dialog = Dialog::None;
            }
            ModuleAction::ForgetFolder(folder) => {
                self.model.settings.trusted_folders.remove(&folder);
            }
            ModuleAction::Decline(hash) => {
                self.extensions.decline(&hash);
                self.model.modules.asks = false;
                self.model.dialog = Dialog::None;
            }
            ModuleAction::Reload(id) => host.reload(&id),
            ModuleAction::Disable(id, disabled) => host.set_disabled(&id, disabled),
            ModuleAction::Isolate(id, isolated) => host.set_isolated(&id, isolated),
            ModuleAction::RollBack(id) => {
                if !host.roll_back(&id) {
                    self.say(Tone::Refused, "There is no build before this one.");
                }
            }
            ModuleAction::OpenFolder(path) => {
                let folder = path.parent().unwrap_or(&path).to_owned();
                if let Err(why) = open_folder(&folder) {
                    self.say(Tone::Failed, &format!("{}: {why}", folder.display()));
                }
            }
            ModuleAction::SaveScript {
                id,
                text,
                base,
                anyway,
            } => {
                if anyway || self.check_script(&id, &text) {
                    self.save_script(&id, &text, &base);
                }
            }
            ModuleAction::CheckScript(id, text) => {
                if self.check_script(&id, &text) {
                    self.say(Tone::Done, &format!("{id}: no mistake was found."));
                }
            }
            ModuleAction::StepThrough(request) => self.step_through(request),
            ModuleAction::EndStepping => self.model.modules.stepping = None,
            ModuleAction::NewScript(name) => self.new_script(&name),
            ModuleAction::TimedOut { goes_on } => {
                self.model.modules.timed_out = None;
                if let Some(live) = self.playing.run().filter(|_| goes_on) {
                    live.play(true);
                }
            }
            ModuleAction::RestartWithout(id) => self.restart_without(&id),
        }
    }

    /// Runs one handler for one agent and keeps what it did, statement by statement.
    fn step_through(&mut self, request: StepRequest) {
        let subject = match request.agent {
            None => Subject::MadeUp(1),
            Some(agent) => {
                let live = self.playing.run();
                let Some(view) = live.and_then(|live| live.behaviour_view(agent)) else {
                    self.say(Tone::Refused, &format!("Agent {agent} does not drive now."));
                    return;
                };
                Subject::Driving {
                    view: Box::new(view),
                    script: request.script.clone(),
                }
            }
        };
        let scripts = self.extensions.host().scripts();
        let place = scripts.place_of(&request.script);
        // Scripts import others from beside themselves.
        let folder = place.as_deref().and_then(Path::parent);
        let (file, text) = (&request.script, &request.text);
        let steps = step_through(file, text, folder, &request.event, &subject);
        self.model.modules.stepping = Some((request, steps));
    }

    /// Looks through the text of a script; what is wrong is shown in its line.
    fn check_script(&mut self, id: &str, text: &str) -> bool {
        let place = self.extensions.host().scripts().place_of(id);
        let folder = place.as_deref().and_then(Path::parent);
        let mistake = compile(id, text, folder).err();
        let is_fine = mistake.is_none();
        self.model.modules.checked = Some((id.to_owned(), text.to_owned(), mistake));
        is_fine
    }

    /// Writes a script, unless its file holds something else than what it was made of.
    fn save_script(&mut self, id: &str, text: &str, base: &str) {
        let scripts = self.extensions.host().scripts();
        let Some(place) = scripts.place_of(id) else {
            return;
        };
        // Looked at now, and not as the host has seen it a moment ago: what another program has
        // written meanwhile cannot be brought back.
        match roadwright_files::read_text(&place, LONGEST_SCRIPT) {
            Ok(there) if there != base && there != text => {
                scripts.read(&place);
                self.say(
                    Tone::Refused,
                    &format!(
                        "{id} was changed by another program: reload it, or keep yours, first."
                    ),
                );
                return;
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                self.say(Tone::Failed, &format!("{}: {error}", place.display()));
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
            // The host looks at once; what is wrong with it is said as with any other editor.
            Ok(()) => self.extensions.host().scripts().read(&place),
            Err(error) => self.say(Tone::Failed, &format!("{}: {error}", place.display())),
        }
    }

    fn new_script(&mut self, name: &str) {
        let Some(place) = self.extensions.host().scripts().place_of("x.rhai") else {
            return;
        };
        let folder = place.parent().unwrap_or(&place).to_owned();
        match author::new_script(&folder, name) {
            Ok(path) => {
                self.extensions.host().scripts().read(&path);
                self.view.panels.show_script(&format!("{name}.rhai"));
            }
            Err(error) => self.say(Tone::Refused, &error.to_string()),
        }
    }

    /// The thread of the simulation does not return from the plugin: keeps the work, and restarts.
    fn restart_without(&mut self, id: &str) {
        self.extensions.host().quarantine(id);
        self.flow.keep_now(own(&self.waiting, &self.model.document));
        let program = std::env::current_exe();
        let started = program.and_then(|program| std::process::Command::new(program).spawn());
        match started {
            // The destructors would wait for the thread.
            Ok(_) => std::process::exit(0),
            Err(error) => self.say(Tone::Failed, &format!("cannot start anew: {error}")),
        }
    }
}

/// Lets the system show a folder.
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

//! The script editor: coloured text, completion, hover texts, and errors at their lines.

use super::PanelFrame;
use super::code;
use super::stepping::Stepping;
use super::widgets::choice;
use crate::model::{Action, Model, ModuleAction};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::text::{CCursor, CCursorRange, LayoutJob};
use egui::text_edit::TextEditOutput;
use egui::{FontId, Key, RichText, Role, TextEdit, TextFormat, Ui, WidgetInfo};
use roadwright_extension::script::{ApiItem, ApiKind, ScriptError, ScriptRow, api, shipped};
use std::collections::BTreeMap;

/// Maximum number of completions offered.
const MOST_OFFERS: usize = 8;

/// Reserved words of Rhai.
const KEYWORDS: [&str; 22] = [
    "let", "const", "if", "else", "switch", "while", "loop", "for", "in", "do", "until", "break",
    "continue", "return", "throw", "try", "catch", "fn", "import", "as", "true", "false",
];

/// State of the panel.
#[derive(Default)]
pub(crate) struct ScriptPanel {
    shown: String,
    /// The document for which the script was shown; `None` if the user has just selected the
    /// script.
    document: Option<u64>,
    /// Drafts with unsaved text, by script.
    drafts: BTreeMap<String, Draft>,
    new_name: String,
    stepping: Stepping,
}

/// An unsaved text.
struct Draft {
    text: String,
    /// The saved text when the draft was started.
    base: String,
}

/// Whether a script with an error may be saved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistakes {
    Allowed,
    Refused,
}

impl ScriptPanel {
    /// Shows a script.
    pub(super) fn show(&mut self, id: &str) {
        self.shown = id.to_owned();
        self.document = None;
    }

    /// Shows a script of the document when another document is opened, unless that would hide unsaved text.
    fn follow(&mut self, model: &Model) {
        let id = model.document.id();
        let is_other = self.document.replace(id).is_some_and(|old| old != id);
        if is_other && !self.drafts.contains_key(&self.shown) {
            let own = scripts_of(model).collect::<Vec<_>>();
            if !own.contains(&self.shown.as_str())
                && let Some(first) = own.first()
            {
                self.shown = (*first).to_owned();
            }
        }
        let scripts = &model.modules.scripts;
        if !scripts.iter().any(|script| script.id == self.shown) {
            let first = scripts_of(model).next();
            let first = first.or(scripts.first().map(|script| script.id.as_str()));
            self.shown = first.unwrap_or_default().to_owned();
        }
    }
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let panel = &mut memory.script;
    panel.follow(model);
    ui.horizontal_wrapped(|ui| panel.choose(ui, model, actions));
    let mut scripts = model.modules.scripts.iter();
    let Some(script) = scripts.find(|script| script.id == panel.shown) else {
        return;
    };
    let saved = &script.text;
    let draft = panel.drafts.get(&script.id);
    let mut text = draft.map_or(saved, |draft| &draft.text).clone();
    ui.horizontal_wrapped(|ui| panel.save_or_revert(ui, script, &mut text, actions));
    let place = match &script.path {
        Some(path) => path.display().to_string(),
        None => "ships with Roadwright; changes are saved to a file of your own".to_owned(),
    };
    ui.label(RichText::new(place).weak().small());
    if let Some(applied) = model.modules.applied.get(&script.id) {
        ui.label(RichText::new(format!("Last reload: {applied}.")).small());
    }
    panel.changed_by_others(ui, model, script, &mut text);
    let error = mistake(model, script, &text);
    if let Some(error) = error {
        panel.tell_mistake(ui, model, script, &text, error, actions);
    }
    let wrong_line = error.map(|error| error.line);
    let id = script.id.as_str();
    panel.stepping.ui(ui, model, id, &text, actions);
    let lines = MarkedLines {
        wrong: wrong_line,
        current: panel.stepping.line(model, &script.id, &text),
    };
    edit(ui, model, &script.id, lines, &mut text);
    // Only a different text is a draft. A text equal to the saved one follows changes by other programs.
    if text == *saved {
        panel.drafts.remove(&script.id);
    } else if let Some(draft) = panel.drafts.get_mut(&script.id) {
        draft.text = text;
    } else {
        let base = saved.clone();
        panel.drafts.insert(script.id.clone(), Draft { text, base });
    }
}

/// Returns the error in the draft's text if the draft was checked, otherwise the error in the saved
/// text.
fn mistake<'a>(model: &'a Model, script: &'a ScriptRow, text: &str) -> Option<&'a ScriptError> {
    match &model.modules.checked {
        Some((id, checked, mistake)) if *id == script.id && checked == text => mistake.as_ref(),
        _ => script.error.as_ref(),
    }
}

/// Returns the scripts that the scenario uses as behaviours.
fn scripts_of(model: &Model) -> impl Iterator<Item = &str> {
    let scripts = &model.modules.scripts;
    let stacks = model.document.scenario().stacks().values();
    let used = stacks.map(|stack| stack.behaviour.module.as_str());
    used.filter(move |id| scripts.iter().any(|script| script.id == *id))
}

impl ScriptPanel {
    /// Shows the choice of a script, and a field for the name of a new one.
    fn choose(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let title = |script: &ScriptRow| {
            let is_draft = self.drafts.contains_key(&script.id);
            let mark = if is_draft { " *" } else { "" };
            (script.id.clone(), format!("{}{mark}", script.id))
        };
        let names: Vec<(String, String)> = model.modules.scripts.iter().map(title).collect();
        if let Some(id) = choice(ui, "Script", &self.shown, &names) {
            self.shown = id;
        }
        let edit = TextEdit::singleline(&mut self.new_name)
            .hint_text("new_script")
            .desired_width(90.0);
        let response = ui.add(edit);
        response
            .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Name of the new script"));
        let named = !self.new_name.is_empty();
        let button = ui.add_enabled(named, egui::Button::new("New script"));
        if button.clicked() {
            let name = std::mem::take(&mut self.new_name);
            actions.push(Action::Module(ModuleAction::NewScript(name)));
        }
    }

    /// Warns that another program has changed the file of a script with a draft. Nothing is lost until the
    /// user decides.
    fn changed_by_others(
        &mut self,
        ui: &mut Ui,
        model: &Model,
        script: &ScriptRow,
        text: &mut String,
    ) {
        if !self.is_changed_by_others(script) {
            return;
        }
        ui.horizontal_wrapped(|ui| {
            let color = model.theme().tone(Tone::Warning);
            ui.colored_label(color, "Another program has changed this script.");
            if ui.button("Reload").clicked() {
                self.drafts.remove(&script.id);
                text.clone_from(&script.text);
            }
            if ui.button("Keep mine").clicked()
                && let Some(draft) = self.drafts.get_mut(&script.id)
            {
                draft.base.clone_from(&script.text);
            }
        });
    }

    fn is_changed_by_others(&self, script: &ScriptRow) -> bool {
        let draft = self.drafts.get(&script.id);
        draft.is_some_and(|draft| draft.base != script.text && draft.text != script.text)
    }

    /// Shows the error. For unsaved text, offers to save it anyway.
    fn tell_mistake(
        &self,
        ui: &mut Ui,
        model: &Model,
        script: &ScriptRow,
        text: &str,
        error: &ScriptError,
        actions: &mut Vec<Action>,
    ) {
        let color = model.theme().tone(Tone::Danger);
        let words = RichText::new(error.to_string()).monospace().small();
        ui.label(words.color(color));
        let is_new = text != script.text && !self.is_changed_by_others(script);
        if is_new && ui.button("Save anyway").clicked() {
            actions.push(self.save(script, text, Mistakes::Allowed));
        }
    }

    fn save(&self, script: &ScriptRow, text: &str, mistakes: Mistakes) -> Action {
        let draft = self.drafts.get(&script.id);
        Action::Module(ModuleAction::SaveScript {
            id: script.id.clone(),
            text: text.to_owned(),
            base: draft.map_or(&script.text, |draft| &draft.base).clone(),
            anyway: mistakes == Mistakes::Allowed,
        })
    }

    /// Shows the buttons for the draft of a script, and the path to which it is saved.
    fn save_or_revert(
        &mut self,
        ui: &mut Ui,
        script: &ScriptRow,
        text: &mut String,
        actions: &mut Vec<Action>,
    ) {
        let saved = &script.text;
        let is_draft = *text != *saved;
        // The user first has to decide about changes by other programs.
        let may_save = is_draft && !self.is_changed_by_others(script);
        let save = ui.add_enabled(may_save, egui::Button::new("Save and apply"));
        let save = save
            .on_hover_text("The change takes effect on the next step; agents keep their memory.");
        // The key is consumed; otherwise the text field below would insert a line break as well.
        let wants_save = may_save
            && ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, Key::Enter));
        if save.clicked() || wants_save {
            actions.push(self.save(script, text, Mistakes::Refused));
        }
        let check = ui.button("Check");
        if check
            .on_hover_text("Check for errors without saving.")
            .clicked()
        {
            let action = ModuleAction::CheckScript(script.id.clone(), text.clone());
            actions.push(Action::Module(action));
        }
        let revert = ui.add_enabled(is_draft, egui::Button::new("Revert"));
        if revert.clicked() {
            self.drafts.remove(&script.id);
            text.clone_from(saved);
        }
        let shipped = shipped().iter().find(|(id, _)| *id == script.id);
        if let Some((_, shipped)) = shipped.filter(|(_, shipped)| *shipped != *text) {
            let back = ui.button("Restore shipped version");
            let hint = "Insert the text shipped with Roadwright; save to use it.";
            if back.on_hover_text(hint).clicked() {
                (*shipped).clone_into(text);
            }
        }
    }
}

/// Highlighted lines, counted from 1.
#[derive(Clone, Copy)]
struct MarkedLines {
    /// The line with the error.
    wrong: Option<usize>,
    /// The current statement while stepping.
    current: Option<usize>,
}

fn edit(ui: &mut Ui, model: &Model, script: &str, lines: MarkedLines, text: &mut String) {
    let theme = model.theme();
    let normal = ui.visuals().text_color();
    let mut layouter = |ui: &Ui, text: &dyn egui::TextBuffer, _: f32| {
        let mut job = highlight(text.as_str(), theme, normal, lines);
        // Long lines scroll instead of wrapping.
        job.wrap.max_width = f32::INFINITY;
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    };
    let before = text.clone();
    let scroll = egui::ScrollArea::horizontal().id_salt("script");
    let output = scroll.show(ui, |ui| {
        let output = TextEdit::multiline(text)
            .id_salt(script)
            .code_editor()
            .margin(egui::Margin {
                left: NUMBERS,
                ..egui::Margin::symmetric(4, 2)
            })
            .desired_width(f32::INFINITY)
            .desired_rows(24)
            .layouter(&mut layouter)
            .show(ui);
        numbers(ui, theme, &output, lines);
        brackets(ui, theme, text, &output);
        output
    });
    let mut output = output.inner;
    mend(ui.ctx(), &before, text, &mut output);
    output
        .response
        .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Text of the script"));
    if let Some(pointer) = output.response.hover_pos() {
        let cursor = output.galley.cursor_from_pos(pointer - output.galley_pos);
        if let Some(item) = item_at(text, cursor.index.0) {
            egui::Response::clone(&output.response).on_hover_ui_at_pointer(|ui| {
                ui.label(RichText::new(item.signature).monospace().strong());
                ui.label(item.doc);
            });
        }
    }
    let Some(cursor) = output.cursor_range else {
        return;
    };
    offers(
        ui,
        text,
        cursor.primary.index.0,
        output.response.id,
        output.state,
    );
}

/// Width of the line numbers, points.
const NUMBERS: i8 = 40;

/// Shows line numbers. The number of the line with the error is highlighted.
fn numbers(ui: &Ui, theme: Theme, output: &TextEditOutput, lines: MarkedLines) {
    let painter = ui.painter().with_clip_rect(output.response.rect);
    let right = output.response.rect.left() + f32::from(NUMBERS) - 8.0;
    // Lines do not wrap, so every row is a line.
    for (number, row) in (1..).zip(&output.galley.rows) {
        let color = if lines.wrong == Some(number) {
            theme.tone(Tone::Danger)
        } else {
            theme.quiet()
        };
        painter.text(
            egui::pos2(right, output.galley_pos.y + row.rect().top()),
            egui::Align2::RIGHT_TOP,
            number,
            FontId::monospace(11.0),
            color,
        );
    }
}

/// Frames the bracket at the cursor and its partner.
fn brackets(ui: &Ui, theme: Theme, text: &str, output: &TextEditOutput) {
    let cursor = output.cursor_range.map(|range| range.primary.index.0);
    let Some((open, close)) = cursor.and_then(|at| code::pair(text, at)) else {
        return;
    };
    for place in [open, close] {
        let left = output.galley.pos_from_cursor(CCursor::new(place));
        let right = output.galley.pos_from_cursor(CCursor::new(place + 1));
        let frame = left.union(right).translate(output.galley_pos.to_vec2());
        let stroke = egui::Stroke::new(1.0, theme.tone(Tone::Accent));
        ui.painter()
            .rect_stroke(frame, 2.0, stroke, egui::StrokeKind::Outside);
    }
}

/// Applies the automatic change after a typed character, such as indentation.
fn mend(context: &egui::Context, before: &str, text: &mut String, output: &mut TextEditOutput) {
    let Some(cursor) = output.cursor_range.map(|range| range.primary.index.0) else {
        return;
    };
    let Some(mend) = code::mend(before, text, cursor) else {
        return;
    };
    let kept: String = text.chars().take(cursor - mend.removed).collect();
    let rest: String = text.chars().skip(cursor).collect();
    let at = cursor - mend.removed + mend.inserted.chars().count();
    *text = [kept.as_str(), &mend.inserted, &rest].concat();
    let range = CCursorRange::one(CCursor::new(at));
    output.state.cursor.set_char_range(Some(range));
    output.state.clone().store(context, output.response.id);
}

/// Shows completions at the cursor. A click inserts one.
fn offers(
    ui: &mut Ui,
    text: &mut String,
    at: usize,
    id: egui::Id,
    mut state: egui::text_edit::TextEditState,
) {
    let before: String = text.chars().take(at).collect();
    let (owner, begun) = word_before(&before);
    // A single letter matches too many items to be helpful; after a dot, all of them are of interest.
    if owner.is_empty() && begun.len() < 2 {
        return;
    }
    let fitting = api()
        .iter()
        .filter(|item| item.owner == owner && item.name.starts_with(&begun) && item.name != begun);
    let mut names: Vec<&ApiItem> = Vec::new();
    // Overloads share a name, which is offered only once.
    for item in fitting {
        if !names.iter().any(|known| known.name == item.name) {
            names.push(item);
        }
    }
    if names.is_empty() {
        return;
    }
    ui.separator();
    for item in names.into_iter().take(MOST_OFFERS) {
        let label = RichText::new(item.signature).monospace().small();
        let response = ui.selectable_label(false, label).on_hover_text(item.doc);
        if response.clicked() {
            let rest: String = item.name.chars().skip(begun.chars().count()).collect();
            let call = match item.kind {
                ApiKind::Method | ApiKind::Function => "(",
                _ => "",
            };
            let inserted = format!("{rest}{call}");
            // The cursor counts characters, but text is changed at bytes.
            let byte = before.len();
            text.insert_str(byte, &inserted);
            let cursor = CCursor::new(at + inserted.chars().count());
            state.cursor.set_char_range(Some(CCursorRange::one(cursor)));
            state.clone().store(ui.ctx(), id);
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }
}

/// Returns the word before the dot, which is empty if there is no dot, and the word being typed.
fn word_before(before: &str) -> (String, String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begun: String = tail(before, is_word);
    let rest = &before[..before.len() - begun.len()];
    let owner = rest.strip_suffix('.').map(|rest| tail(rest, is_word));
    (owner.unwrap_or_default(), begun)
}

fn tail(text: &str, accepted: impl Fn(char) -> bool) -> String {
    let letters: Vec<char> = text.chars().rev().take_while(|c| accepted(*c)).collect();
    letters.into_iter().rev().collect()
}

/// Returns the item of the script API that is named at a position in the text.
fn item_at(text: &str, at: usize) -> Option<&'static ApiItem> {
    // In characters, like the pointer's position in the text.
    let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let letters: Vec<char> = text.chars().collect();
    letters.get(at).filter(|c| is_word(c))?;
    let begin = (0..at).rev().take_while(|i| is_word(&letters[*i])).last();
    let begin = begin.unwrap_or(at);
    let end = (at..letters.len())
        .take_while(|i| is_word(&letters[*i]))
        .last()?;
    let word: String = letters[begin..=end].iter().collect();
    let before: String = letters[..begin].iter().collect();
    let (owner, _) = word_before(&before);
    let mut named = api().iter().filter(|item| item.name == word);
    let exact = named.clone().find(|item| item.owner == owner);
    // The type before the dot is unknown, so any item of that name is a good guess there.
    // Elsewhere, the item must have no owner.
    exact.or_else(|| named.find(|item| !owner.is_empty() || item.owner.is_empty()))
}

/// Returns the text with syntax colours and highlighted lines, ready to be laid out.
fn highlight(text: &str, theme: Theme, normal: egui::Color32, lines: MarkedLines) -> LayoutJob {
    let mut job = LayoutJob::default();
    let font = FontId::monospace(12.5);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_wrong = lines.wrong == Some(number + 1);
        let is_current = lines.current == Some(number + 1);
        for (piece, kind) in pieces(line) {
            let color = match kind {
                Piece::Plain => normal,
                Piece::Comment => theme.quiet(),
                Piece::Keyword => theme.plot(0),
                Piece::Text => theme.plot(1),
                Piece::Number => theme.plot(2),
                Piece::Known => theme.tone(Tone::Accent),
            };
            let mut format = TextFormat::simple(font.clone(), color);
            if is_current {
                format.background = theme.tone(Tone::Accent).gamma_multiply(0.25);
            }
            if is_wrong {
                format.underline = egui::Stroke::new(1.0, theme.tone(Tone::Danger));
            }
            job.append(piece, 0.0, format);
        }
    }
    job
}

/// Kind of a piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Plain,
    Comment,
    Keyword,
    Text,
    Number,
    Known,
}

/// Splits a line into pieces, which together form the line.
fn pieces(line: &str) -> Vec<(&str, Piece)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, kind) = if rest.starts_with("//") {
            (rest.len(), Piece::Comment)
        } else if first == '"' || first == '`' {
            // Colours are assigned line by line, so only the first line of a multi-line string in backticks
            // is coloured.
            let inner = &rest[1..];
            let end = inner.find(first).map_or(rest.len(), |at| at + 2);
            (end, Piece::Text)
        } else if first.is_ascii_digit() {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            (end, Piece::Number)
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            let kind = if KEYWORDS.contains(&word) {
                Piece::Keyword
            } else if api()
                .iter()
                .any(|item| item.name == word || item.owner == word)
            {
                Piece::Known
            } else {
                Piece::Plain
            };
            (end, kind)
        } else {
            (first.len_utf8(), Piece::Plain)
        };
        let (piece, after) = rest.split_at(length);
        pieces.push((piece, kind));
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_line() {
        let line = "if agent.speed > 3.5 { agent.mark(\"\u{e4}h\"); } // slow\n";
        let found = pieces(line);
        let whole: String = found.iter().map(|(piece, _)| *piece).collect();
        assert_eq!(whole, line);
        assert!(found.contains(&("if", Piece::Keyword)));
        assert!(found.contains(&("speed", Piece::Known)));
        assert!(found.contains(&("3.5", Piece::Number)));
        assert!(found.contains(&("\"\u{e4}h\"", Piece::Text)));
        assert!(found.contains(&("// slow\n", Piece::Comment)));
        // An unterminated string ends with its line.
        assert_eq!(pieces("\"open"), [("\"open", Piece::Text)]);
    }

    #[test]
    fn words_and_items_are_found_at_a_place() {
        assert_eq!(
            word_before("let v = agent.spe"),
            ("agent".into(), "spe".into())
        );
        assert_eq!(word_before("par"), (String::new(), "par".into()));
        let text = "fn behave(agent) { agent.go_to(1.0, 2.0); }";
        let at = text.find("go_to").unwrap() + 2;
        assert_eq!(item_at(text, at).unwrap().name, "go_to");
        assert_eq!(
            item_at(text, text.find("behave").unwrap()).unwrap().kind,
            ApiKind::Event
        );
        assert!(item_at(text, text.find('{').unwrap()).is_none());
    }
}

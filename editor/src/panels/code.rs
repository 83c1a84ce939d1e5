//! Editing aids for code: indentation, and matching of brackets.

/// Number of spaces per level of indentation.
const LEVEL: usize = 4;

/// An automatic change after typing. It removes a number of characters before the cursor and
/// inserts text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mend {
    pub(super) removed: usize,
    pub(super) inserted: String,
}

/// Returns the automatic change after a typed character, given the text before and after typing and the
/// cursor position in characters.
///
/// A new line starts with the indentation of the previous one, one level deeper after an opening bracket. A
/// closing bracket that is the first character of its line moves one level back.
pub(super) fn mend(before: &str, after: &str, cursor: usize) -> Option<Mend> {
    // Typing adds exactly one character. Pasted text keeps its own indentation.
    if after.chars().count() != before.chars().count() + 1 || cursor == 0 {
        return None;
    }
    let head: String = after.chars().take(cursor).collect();
    let typed = head.chars().last()?;
    let earlier = &head[..head.len() - typed.len_utf8()];
    // Bytes count as characters below, because only spaces are counted.
    let line = earlier.rsplit('\n').next().unwrap_or_default();
    let indent = line.len() - line.trim_start_matches(' ').len();
    match typed {
        '\n' => {
            let opens = line.trim_end().ends_with(['{', '[', '(']);
            let depth = indent + if opens { LEVEL } else { 0 };
            (depth > 0).then(|| Mend {
                removed: 0,
                inserted: " ".repeat(depth),
            })
        }
        '}' | ']' | ')' if line.len() == indent && indent >= LEVEL => Some(Mend {
            removed: LEVEL + 1,
            inserted: typed.to_string(),
        }),
        _ => None,
    }
}

/// Returns the bracket beside the cursor and its partner, given by their positions in characters.
/// Brackets in strings and comments do not count.
pub(super) fn pair(text: &str, cursor: usize) -> Option<(usize, usize)> {
    let brackets = brackets(text);
    // The bracket before the cursor takes precedence over the one after it.
    let near = |at: usize| brackets.iter().position(|(place, _)| *place == at);
    let index = cursor
        .checked_sub(1)
        .and_then(near)
        .or_else(|| near(cursor))?;
    let (place, bracket) = brackets[index];
    let partner = if is_open(bracket) {
        partner(brackets[index..].iter())
    } else {
        partner(brackets[..=index].iter().rev())
    };
    partner.map(|other| (place.min(other), place.max(other)))
}

fn is_open(bracket: char) -> bool {
    matches!(bracket, '(' | '[' | '{')
}

/// Returns the position of the bracket that matches the first one.
fn partner<'a>(mut brackets: impl Iterator<Item = &'a (usize, char)>) -> Option<usize> {
    let (_, first) = brackets.next()?;
    let mut depth = 1;
    for (place, bracket) in brackets {
        if is_open(*bracket) == is_open(*first) {
            depth += 1;
        } else {
            depth -= 1;
        }
        if depth == 0 {
            return Some(*place).filter(|_| belong(*first, *bracket));
        }
    }
    None
}

fn belong(a: char, b: char) -> bool {
    [('(', ')'), ('[', ']'), ('{', '}')]
        .iter()
        .any(|pair| *pair == (a, b) || *pair == (b, a))
}

/// Returns all brackets outside strings and comments, with their positions in characters.
fn brackets(text: &str) -> Vec<(usize, char)> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut quote = None;
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let next = letters.get(at + 1);
        match quote {
            // An escaped quote does not end the string.
            Some('"') if letter == '\\' => at += 1,
            // Strings in double quotes end at the end of their line.
            Some(q) if letter == q || (q == '"' && letter == '\n') => quote = None,
            Some(_) => {}
            None if letter == '"' || letter == '`' => quote = Some(letter),
            None if letter == '/' && next == Some(&'/') => {
                while at + 1 < letters.len() && letters[at + 1] != '\n' {
                    at += 1;
                }
            }
            None if is_open(letter) || matches!(letter, ')' | ']' | '}') => {
                found.push((at, letter));
            }
            None => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    /// Returns the text with the automatic change, after a character was typed at its end.
    fn typed(before: &str, letter: char) -> String {
        let mut after = format!("{before}{letter}");
        if let Some(mend) = mend(before, &after, after.chars().count()) {
            for _ in 0..mend.removed {
                after.pop();
            }
            after += &mend.inserted;
        }
        after
    }

    #[test]
    fn a_new_line_begins_where_the_last_one_does_or_deeper() {
        assert_eq!(typed("fn a() {", '\n'), "fn a() {\n    ");
        assert_eq!(typed("    let x = 1;", '\n'), "    let x = 1;\n    ");
        assert_eq!(typed("    f(", '\n'), "    f(\n        ");
        assert_eq!(typed("x", '\n'), "x\n");
        assert_eq!(typed("\u{e4}h {", '\n'), "\u{e4}h {\n    ");
    }

    #[test]
    fn a_closing_bracket_at_the_beginning_goes_back() {
        assert_eq!(typed("fn a() {\n    ", '}'), "fn a() {\n}");
        assert_eq!(typed("a {\n        ", '}'), "a {\n    }");
        assert_eq!(typed("    let a = [1", ']'), "    let a = [1]");
        assert_eq!(typed("", '}'), "}");
    }

    #[test]
    fn pasted_and_deleted_text_stays_as_it_is() {
        assert_eq!(mend("a", "a {\n", 4), None);
        assert_eq!(mend("a\n", "a", 1), None);
        assert_eq!(mend("", "", 0), None);
    }

    #[test]
    fn brackets_find_each_other_and_not_those_in_texts() {
        let text = "f(a[1], \")\") // )";
        assert_eq!(pair(text, 2), Some((1, 11)));
        assert_eq!(pair(text, 12), Some((1, 11)));
        assert_eq!(pair(text, 4), Some((3, 5)));
        assert_eq!(pair(text, 0), None);
        assert_eq!(pair("(]", 1), None);
        assert_eq!(pair("((", 1), None);
        assert_eq!(pair("", 0), None);
        assert_eq!(pair("{ `}` }", 1), Some((0, 6)));
        assert_eq!(pair("\"\\\"(\" ()", 7), Some((6, 7)));
    }
}

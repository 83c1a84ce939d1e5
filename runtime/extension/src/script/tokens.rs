//! Checks on the tokens of a script before it is parsed.

use rhai::{Engine, Position, Token, TokenIterator, TokenizerControl};

/// Maximum number of parameters of a function or closure.
const MOST_PARAMETERS: usize = 64;

/// Returns the first function or closure with too many parameters, with its position and a message.
///
/// Rhai compares each parameter with all previous ones. Parsing 10,000 of them takes seconds, and a script of
/// maximum size can have more.
pub(super) fn too_many_parameters(engine: &Engine, text: &str) -> Option<(Position, String)> {
    let mut tokens = Tokens::new(engine, &text);
    // Whether a `|` here would be an operator between two values. Otherwise it begins a closure.
    let mut after_value = false;
    let mut next = tokens.next();
    while let Some((token, at)) = next {
        let (name, at, end, excused) = match token {
            // The first parenthesis after `fn` opens the list, as in `fn "type".name(...)`.
            Token::Fn => {
                let (name, at) = name_of(&mut tokens)?;
                (format!("fn {name}"), at, Token::RightParen, false)
            }
            // Tokens of `x | y, z, ...` in a list could be mistaken for an unterminated closure.
            Token::Pipe => ("a closure".to_owned(), at, Token::Pipe, after_value),
            other => {
                after_value = is_value(&other);
                next = tokens.next();
                continue;
            }
        };
        let (count, after) = count_parameters(&mut tokens);
        let is_closed = matches!(&after, Some((token, _)) if *token == end);
        if count > MOST_PARAMETERS && (is_closed || !excused) {
            let message = format!(
                "{name} has more than {MOST_PARAMETERS} parameters; pass an array or a map"
            );
            return Some((at, message));
        }
        // The end of the list has been consumed, or the token begins something else.
        after_value = count > 0;
        next = if is_closed { tokens.next() } else { after };
    }
    None
}

/// Returns the name after `fn`, up to the parenthesis; `None` if the text ends before.
fn name_of(tokens: &mut Tokens<'_>) -> Option<(String, Position)> {
    let mut last = (String::new(), Position::NONE);
    loop {
        match tokens.next()? {
            (Token::LeftParen, _) => return Some(last),
            (Token::Identifier(name), at) => last = (name.to_string(), at),
            // `fn name()` has one token for both parentheses and no parameters.
            (Token::Unit | Token::LeftBrace, _) => return Some(last),
            _ => {}
        }
    }
}

/// Returns the number of names separated by commas, and the token after the list, if any.
fn count_parameters(tokens: &mut Tokens<'_>) -> (usize, Option<(Token, Position)>) {
    let mut count = 0;
    loop {
        match tokens.next() {
            Some((Token::Identifier(_), _)) => count += 1,
            other => return (count, other),
        }
        match tokens.next() {
            Some((Token::Comma, _)) => {}
            other => return (count, other),
        }
    }
}

/// Whether a token can be the end of a value. A closing brace does not count, because it usually ends a
/// block.
fn is_value(token: &Token) -> bool {
    matches!(
        token,
        Token::Identifier(_)
            | Token::IntegerConstant(_)
            | Token::FloatConstant(_)
            | Token::StringConstant(_)
            | Token::CharConstant(_)
            | Token::True
            | Token::False
            | Token::Unit
            | Token::RightParen
            | Token::RightBracket
    )
}

/// The tokens of a script. Within `` `text ${code} text` ``, Rhai's tokenizer relies on the parser to find
/// the end of the code. Here, braces are counted instead.
struct Tokens<'a> {
    inner: TokenIterator<'a>,
    control: TokenizerControl,
    /// Number of open braces.
    depth: usize,
    /// For each enclosing template string, the brace depth at which its code begins.
    texts: Vec<usize>,
}

impl<'a> Tokens<'a> {
    fn new(engine: &'a Engine, text: &'a &str) -> Self {
        let (inner, control) = engine.lex([text]);
        Self {
            inner,
            control,
            depth: 0,
            texts: Vec::new(),
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = (Token, Position);

    fn next(&mut self) -> Option<Self::Item> {
        let (token, at) = self.inner.next()?;
        match &token {
            // The parser reports the error and stops.
            Token::EOF | Token::LexError(_) => return None,
            Token::InterpolatedString(_) => self.texts.push(self.depth),
            Token::LeftBrace | Token::MapStart => self.depth += 1,
            Token::RightBrace => {
                self.depth = self.depth.saturating_sub(1);
                if self.texts.last() == Some(&self.depth) {
                    self.texts.pop();
                    // The brace has closed the code, so characters of the text follow.
                    self.control.borrow_mut().is_within_text = true;
                }
            }
            _ => {}
        }
        Some((token, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<String> {
        let engine = Engine::new_raw();
        too_many_parameters(&engine, text).map(|(at, message)| format!("{at:?} {message}"))
    }

    fn names(count: usize) -> String {
        let names: Vec<String> = (0..count).map(|at| format!("p{at}")).collect();
        names.join(", ")
    }

    #[test]
    fn functions_and_closures_have_a_limit() {
        let (few, many) = (names(64), names(65));
        for fine in [
            format!("fn f({few}) {{}} let g = |{few}| 1;"),
            // Values, not parameters.
            format!("let x = [a | b, {many}]; f({many});"),
            // In a string.
            format!("let x = `fn f({many}) ${{ `${{1}} |{many}| ` }} fn g({many})`;"),
            "fn f".to_owned(),
            "fn f() { g || h | i } fn".to_owned(),
        ] {
            assert_eq!(found(&fine), None, "{fine}");
        }
        for (wrong, begins) in [
            (
                format!("fn f() {{}}\nfn fat({many}) {{}}"),
                "2:4 fn fat has more than 64 parameters",
            ),
            (format!("fn \"int\".fat({many}) {{}}"), "1:10 fn fat has"),
            (format!("let g = |{many}| 1;"), "1:9 a closure has"),
            (format!("f(|{many}"), "1:3 a closure has"),
            (
                format!("let x = `${{ |{many}| 1 }}`;"),
                "1:13 a closure has",
            ),
        ] {
            let said = found(&wrong).unwrap_or_default();
            assert!(said.starts_with(begins), "{said}");
        }
    }
}

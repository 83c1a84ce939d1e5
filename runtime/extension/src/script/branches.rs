//! Versions of a script with constant `if` conditions, so that each branch can be taken.
//!
//! Each condition is replaced by a constant that is padded with blanks and line breaks, so that the positions
//! of other statements stay the same.

use rhai::{AST, ASTNode, Expr, Position, Stmt, StmtBlock};

/// An `if` with the chosen branch, and the positions of its keyword and its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    word: Position,
    body: Position,
    takes_body: bool,
}

/// Returns, for each branch of each `if`, the decisions that lead into it: one for each enclosing
/// branch, and one for the `if` itself.
pub(super) fn choices(ast: &AST) -> Vec<Vec<Choice>> {
    let mut all: Vec<Vec<Choice>> = Vec::new();
    ast.walk(&mut |path| {
        let Some(ASTNode::Stmt(Stmt::If(flow, word))) = path.last() else {
            return true;
        };
        // A condition that queries the type of a value guards against wrong types.
        if asks_for_type(&flow.expr) {
            return true;
        }
        let around: Vec<Choice> = path.windows(2).filter_map(side).collect();
        for takes_body in [true, false] {
            let own = Choice {
                word: *word,
                body: flow.body.position(),
                takes_body,
            };
            all.push(around.iter().copied().chain([own]).collect());
        }
        true
    });
    all
}

/// Returns the branch of an `if` that contains the next node of a path; `None` if the node is in the
/// condition.
fn side(pair: &[ASTNode<'_>]) -> Option<Choice> {
    let [ASTNode::Stmt(Stmt::If(flow, word)), ASTNode::Stmt(inner)] = pair else {
        return None;
    };
    let holds = |block: &StmtBlock| block.iter().any(|own| std::ptr::eq(own, *inner));
    let takes_body = holds(&flow.body);
    (takes_body || holds(&flow.branch)).then_some(Choice {
        word: *word,
        body: flow.body.position(),
        takes_body,
    })
}

/// Whether a condition queries the type of a value.
fn asks_for_type(condition: &Expr) -> bool {
    let mut asks = false;
    condition.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _))) = path.last()
        {
            asks |= matches!(call.name.as_str(), "type_of" | "is_string");
        }
        true
    });
    asks
}

/// Returns the text of a script with the `if` conditions of a plan replaced by constants; `None` if
/// a position is not in the text.
pub(super) fn with_choices(text: &str, plan: &[Choice]) -> Option<String> {
    let mut places: Vec<(usize, usize, bool)> = Vec::new();
    for choice in plan {
        let begin = offset_of(text, choice.word)? + "if".len();
        let end = offset_of(text, choice.body)?;
        text.get(begin..end)?;
        places.push((begin, end, choice.takes_body));
    }
    // Replaced from the end backwards, so that earlier positions stay valid.
    places.sort_unstable();
    let mut decided = text.to_owned();
    for (begin, end, takes_body) in places.into_iter().rev() {
        let condition = &text[begin..end];
        decided.replace_range(begin..end, &decided_condition(condition, takes_body));
    }
    Some(decided)
}

/// Returns a constant of the same length as a condition, or slightly longer, and with the same number of
/// lines.
fn decided_condition(condition: &str, takes_body: bool) -> String {
    let word = if takes_body { " true " } else { " false " };
    let blank = |letter: char| if letter == '\n' { '\n' } else { ' ' };
    let blanks: String = condition.chars().map(blank).collect();
    match blanks.get(..word.len()) {
        Some(first) if !first.contains('\n') => format!("{word}{}", &blanks[word.len()..]),
        _ => format!("{word}{blanks}"),
    }
}

/// Returns the byte offset of a position in a source text; `None` if the text has no such position.
fn offset_of(text: &str, at: Position) -> Option<usize> {
    let (line, column) = (at.line()?, at.position()?);
    let mut begin = 0;
    for _ in 1..line {
        begin += text.get(begin..)?.find('\n')? + 1;
    }
    let rest = text.get(begin..)?;
    let (offset, _) = rest.char_indices().nth(column.checked_sub(1)?)?;
    Some(begin + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts of all versions of a script.
    fn versions(text: &str) -> Vec<String> {
        let ast = rhai::Engine::new().compile(text).unwrap();
        let plans = choices(&ast);
        plans
            .iter()
            .map(|plan| with_choices(text, plan).unwrap())
            .collect()
    }

    #[test]
    fn each_branch_is_taken_once_with_all_that_is_around_it() {
        let text =
            "fn f(a) {\n  if a > 1 && (a < 5) {\n    if a == 3 { 1 } else if a == 4 { 2 }\n  }\n}";
        let all = versions(text);
        assert_eq!(all.len(), 6, "{all:#?}");
        let engine = rhai::Engine::new();
        for version in &all {
            assert_eq!(version.lines().count(), text.lines().count());
            engine.compile(version).unwrap();
        }
        // The length is unchanged, so later positions in the line stay valid.
        let line = |text: &str| text.lines().nth(1).unwrap().to_owned();
        assert!(line(&all[0]).starts_with("  if true "), "{}", all[0]);
        assert_eq!(line(&all[0]).len(), line(text).len());
        // The innermost branch: into the outer body, past the first condition, and into its own body.
        let deepest = all.iter().find(|version| {
            let line = version.lines().nth(2).unwrap();
            version.lines().nth(1).unwrap().contains("true")
                && line.matches("true").count() == 1
                && line.contains("else if true")
        });
        assert!(deepest.unwrap().contains("if false"), "{deepest:?}");
    }

    #[test]
    fn conditions_about_types_and_those_over_several_lines() {
        assert_eq!(
            versions("fn f(a) { if type_of(a) == \"string\" { 1 } }"),
            [""; 0]
        );
        let all = versions("fn f(a) { if a ||\n   !a\n { 1 } }");
        assert!(all[0].contains("if true "), "{all:?}");
        assert_eq!(all[0].lines().count(), 3);
    }
}

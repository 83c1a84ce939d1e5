//! Rewords messages of the JSON reader for the authors of scenarios.
//!
//! The JSON library names types of the program (`struct Header`, `f64`), whereas authors know
//! objects, lists, strings and numbers.

/// Rewords a message of the JSON reader so that it contains no names of types.
pub(super) fn in_plain_words(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("invalid type: ")
        && let Some((found, expected)) = rest.split_once(", expected ")
    {
        return format!("expected {}, found {}", kind(expected), value(found));
    }
    if let Some(rest) = message.strip_prefix("invalid value: ") {
        return match rest.split_once(", expected ") {
            Some((found, expected)) => {
                format!("expected {}, found {}", kind(expected), value(found))
            }
            None if rest.contains("number in quotes") => {
                "expected an id as the key: a whole number in quotes".into()
            }
            None => rest.into(),
        };
    }
    if let Some(rest) = message.strip_prefix("invalid length ")
        && let Some((_, expected)) = rest.split_once(", expected ")
    {
        return format!("expected {}, found a list", kind(expected));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("the key {} is missing", quoted(name));
    }
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return format!("the key {} is given twice", quoted(name));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return format!("unknown key {}", quoted(rest));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        return format!("unknown value {}", quoted(rest));
    }
    if let Some(rest) = message.strip_prefix("EOF while parsing ") {
        return format!("the text is truncated within {}", article(rest));
    }
    message.into()
}

/// Replaces backquotes around names by double quotes, as in JSON.
fn quoted(text: &str) -> String {
    text.replace('`', "\"")
}

/// Returns the value that was found, as it is written in the file.
fn value(found: &str) -> String {
    match found {
        "sequence" => return "a list".into(),
        "map" => return "an object".into(),
        "null" | "unit value" => return "null".into(),
        _ => {}
    }
    let kinds = ["integer ", "floating point ", "boolean ", "string "];
    let bare = kinds.iter().find_map(|kind| found.strip_prefix(kind));
    bare.unwrap_or(found).replace('`', "")
}

/// Returns the expected kind of JSON value in plain words.
fn kind(expected: &str) -> String {
    match expected {
        "f64" | "f32" => "a number".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a non-negative whole number".into(),
        "i8" => "a whole number from -128 to 127".into(),
        "i16" | "i32" | "i64" => "a whole number".into(),
        "a boolean" => "true or false".into(),
        "a string" | "string" => "a string".into(),
        "a sequence" => "a list".into(),
        "a map" => "an object".into(),
        _ if expected.starts_with("struct ") => "an object".into(),
        _ if expected.contains("tagged enum ") => "an object with a \"type\"".into(),
        _ if expected.starts_with("enum ") || expected.starts_with("string or map") => {
            "a string".into()
        }
        _ => quoted(expected),
    }
}

/// Returns the name, with its article, of the JSON construct that the end of the text cut off.
fn article(place: &str) -> String {
    match place {
        "a string" | "a value" | "an object" | "a list" => place.into(),
        _ => format!("\"{place}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::in_plain_words;

    #[test]
    fn messages_speak_of_what_stands_in_files() {
        for (library, ours) in [
            (
                "invalid type: string \"a\", expected f64",
                "expected a number, found \"a\"",
            ),
            (
                "invalid type: null, expected struct Header",
                "expected an object, found null",
            ),
            (
                "invalid length 0, expected struct Header with 2 elements",
                "expected an object, found a list",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "expected a non-negative whole number, found -1",
            ),
            (
                "invalid type: sequence, expected an object whose keys are ids",
                "expected an object whose keys are ids, found a list",
            ),
            ("missing field `y`", "the key \"y\" is missing"),
            (
                "unknown variant `blob`, expected one of `circle`, `box`",
                "unknown value \"blob\", expected one of \"circle\", \"box\"",
            ),
            (
                "EOF while parsing an object",
                "the text is truncated within an object",
            ),
            (
                "-3 is out of range: expected 0 to 9",
                "-3 is out of range: expected 0 to 9",
            ),
        ] {
            assert_eq!(in_plain_words(library), ours);
        }
    }
}

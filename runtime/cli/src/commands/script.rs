//! `roadwright script`.

use super::print_json;
use crate::Outcome;
use crate::arguments::ScriptVerb;
use anyhow::Context;
use roadwright_extension::author;
use roadwright_extension::script::{ApiKind, ScriptError, api, api_markdown, compile, rehearse};
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub(crate) fn script(verb: &ScriptVerb) -> anyhow::Result<Outcome> {
    match verb {
        ScriptVerb::Check { file, json } => check(file, *json),
        ScriptVerb::RunOne {
            file,
            agent,
            event,
            json,
        } => run_one(file, *agent, event, *json),
        ScriptVerb::Api { json: true, .. } => {
            print_json(&api())?;
            Ok(Outcome::Fine)
        }
        ScriptVerb::Api { markdown: true, .. } => {
            write!(std::io::stdout().lock(), "{}", api_markdown())?;
            Ok(Outcome::Fine)
        }
        ScriptVerb::Api { .. } => {
            let mut out = std::io::stdout().lock();
            for item in api() {
                let mark = if item.kind == ApiKind::Event {
                    "called"
                } else {
                    ""
                };
                writeln!(out, "{:<64} {mark:<7}{}", item.signature, item.doc)?;
            }
            Ok(Outcome::Fine)
        }
        ScriptVerb::New { name, at } => {
            let path = author::new_script(at, name)?;
            writeln!(
                std::io::stdout().lock(),
                "{}\nGive it to a stack: \"behaviour\": {{\"module\": \"{name}.rhai\"}}, or --use behaviour={name}.rhai",
                path.display()
            )?;
            Ok(Outcome::Fine)
        }
    }
}

/// A script's name and text.
fn read(file: &Path) -> anyhow::Result<(String, String)> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}

/// What is wrong with a script, as a document.
fn mistake(name: &str, error: &ScriptError) -> serde_json::Value {
    json!({
        "file": name,
        "ok": false,
        "line": error.line,
        "column": error.column,
        "message": error.message,
    })
}

/// Calls one handler for a made-up agent.
fn run_one(file: &Path, agent: u64, event: &str, as_json: bool) -> anyhow::Result<Outcome> {
    let (name, text) = read(file)?;
    let done =
        compile(&name, &text, file.parent()).and_then(|compiled| rehearse(&compiled, event, agent));
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            if as_json {
                print_json(&mistake(&name, &error))?;
            } else {
                writeln!(std::io::stdout().lock(), "{error}")?;
            }
            return Ok(Outcome::Findings);
        }
    };
    let effects: Vec<String> = done.effects.iter().map(|e| format!("{e:?}")).collect();
    if as_json {
        let memory: serde_json::Map<_, _> = done
            .memory
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        print_json(
            &json!({"file": name, "ok": true, "event": event, "agent": agent, "effects": effects, "memory": memory, "wishes": done.wishes}),
        )?;
        return Ok(Outcome::Fine);
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{event} of {name} for agent {agent}, at 8 m/s on a free road"
    )?;
    writeln!(out, "  wishes   {}", done.wishes)?;
    for (name, value) in &done.memory {
        writeln!(out, "  memory   {name} = {value}")?;
    }
    for effect in effects {
        writeln!(out, "  effect   {effect}")?;
    }
    Ok(Outcome::Fine)
}

fn check(file: &Path, as_json: bool) -> anyhow::Result<Outcome> {
    let (name, text) = read(file)?;
    let result = compile(&name, &text, file.parent());
    if as_json {
        print_json(&match &result {
            Ok(script) => {
                let parameters: Vec<_> = script.parameters.iter().map(|p| p.key).collect();
                json!({"file": name, "ok": true, "doc": script.doc, "parameters": parameters})
            }
            Err(error) => mistake(&name, error),
        })?;
    } else {
        match &result {
            Ok(script) => writeln!(std::io::stdout().lock(), "{name}: fine. {}", script.doc)?,
            Err(error) => eprintln!("{error}"),
        }
    }
    Ok(match result {
        Ok(_) => Outcome::Fine,
        Err(_) => Outcome::Findings,
    })
}

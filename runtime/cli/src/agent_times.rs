//! Parsers of option arguments that give an agent and a time.

/// Parses an agent, a time and an optional trailer, as in `12@60.5:2`.
pub(crate) fn agent_at_from(text: &str) -> Result<(u64, f64, Option<u8>), String> {
    let Some((start, trailer)) = text.split_once(':') else {
        return agent_at(text).map(|(agent, time)| (agent, time, None));
    };
    let (agent, time) = agent_at(start)?;
    match trailer.parse() {
        Ok(trailer) if trailer > 0 => Ok((agent, time, Some(trailer))),
        _ => Err(format!(
            "\"{trailer}\" is not a trailer number; trailers are numbered from 1 at the front, as \
             in 12@60.5:2"
        )),
    }
}

/// Parses an agent and a time, as in `12@60.5`.
pub(crate) fn agent_at(text: &str) -> Result<(u64, f64), String> {
    let wrong = || format!("\"{text}\" is not an agent with a time; write it as in 12@60.5");
    let (agent, time) = text.split_once('@').ok_or_else(wrong)?;
    let agent = agent.parse().map_err(|_| wrong())?;
    let time: f64 = time.parse().map_err(|_| wrong())?;
    if (0.0..=1e7).contains(&time) {
        Ok((agent, time))
    } else {
        Err(format!(
            "{time} s is out of range: expected 0 to 10,000,000 s"
        ))
    }
}

/// An agent whose actions are explained, and the time at which to explain them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExplainedAgent {
    pub(crate) agent: u64,
    /// Time, s; `None` for the end of the run.
    pub(crate) time: Option<f64>,
}

/// Parses an agent with or without a time, as in `12@60.5` or `12`.
pub(crate) fn explained_agent(text: &str) -> Result<ExplainedAgent, String> {
    let of = |agent, time| ExplainedAgent { agent, time };
    match text.parse() {
        Ok(agent) => Ok(of(agent, None)),
        Err(_) => agent_at(text).map(|(agent, time)| of(agent, Some(time))),
    }
}

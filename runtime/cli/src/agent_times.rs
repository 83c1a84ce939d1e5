//! Agents with times, as options name them.

/// An agent, a time and perhaps a trailer, as in `12@60.5:2`.
pub(crate) fn agent_at_from(text: &str) -> Result<(u64, f64, Option<u8>), String> {
    let Some((start, trailer)) = text.split_once(':') else {
        return agent_at(text).map(|(agent, time)| (agent, time, None));
    };
    let (agent, time) = agent_at(start)?;
    match trailer.parse() {
        Ok(trailer) if trailer > 0 => Ok((agent, time, Some(trailer))),
        _ => Err(format!(
            "\"{trailer}\" is no trailer; they are counted from 1 at the front, as in 12@60.5:2"
        )),
    }
}

/// An agent and a time, as in `12@60.5`.
pub(crate) fn agent_at(text: &str) -> Result<(u64, f64), String> {
    let wrong = || format!("\"{text}\" is no agent and time; write them as in 12@60.5");
    let (agent, time) = text.split_once('@').ok_or_else(wrong)?;
    let agent = agent.parse().map_err(|_| wrong())?;
    let time: f64 = time.parse().map_err(|_| wrong())?;
    if (0.0..=1e7).contains(&time) {
        Ok((agent, time))
    } else {
        Err(format!("{time} s: a time is 0 to 10,000,000 s"))
    }
}

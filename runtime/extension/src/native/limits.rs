//! What a process may use that runs a plugin for us: so that one that eats memory or writes without
//! end harms itself and not the machine.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Bytes of a MiB.
pub(super) const MIB: u64 = 1 << 20;
/// Largest file, bytes.
const FILE: u64 = 1024 * MIB;
/// Open files.
const FILES: u64 = 256;

/// Limits this process permanently: memory to so many MiB of address space, files to 1 GiB
/// each and 256 at once, and no dumps of its memory. What is limited harder already stays so.
pub(crate) fn limit_this_process(memory: u64) {
    for (resource, most) in [
        (Resource::As, memory.saturating_mul(MIB)),
        (Resource::Fsize, FILE),
        (Resource::Nofile, FILES),
        (Resource::Core, 0),
    ] {
        let allowed = getrlimit(resource).maximum;
        let most = Some(allowed.map_or(most, |allowed| allowed.min(most)));
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        // Where a system does not know a limit there is none.
        let _ = setrlimit(resource, limit);
    }
}

/// Address space that this process uses now, MiB; 0 where that cannot be told.
pub(super) fn used_memory() -> u64 {
    // The second number would be the resident part; the limit above is on the address space.
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64 / MIB
}

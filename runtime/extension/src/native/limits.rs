//! Resource limits of a process that runs a plugin. With these limits, a plugin that consumes memory or
//! writes endlessly harms only itself and not the machine.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Number of bytes in a MiB.
pub(super) const MIB: u64 = 1 << 20;
/// Maximum size of a file, bytes.
const FILE: u64 = 1024 * MIB;
/// Maximum number of open files.
const FILES: u64 = 256;

/// Limits this process permanently: memory to the given MiB of address space, files to 1 GiB each and 256
/// open files, and no core dumps. Stricter limits that already exist are kept.
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
        // On systems that do not support a limit, it is ignored.
        let _ = setrlimit(resource, limit);
    }
}

/// Returns the address space that this process uses now, MiB; 0 if unknown.
pub(super) fn used_memory() -> u64 {
    // The second number would be the resident part, but the limit above is on the address space.
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64 / MIB
}

//! The floating-point mode of a thread. Plugins built with `-ffast-math` change it when they are
//! loaded. In the changed mode, denormal numbers in the host would become zero.
#![expect(
    unsafe_code,
    reason = "the control register cannot be accessed otherwise; it is read and restored"
)]

/// Bits that form the mode, without the sticky flags set by earlier operations.
#[cfg(target_arch = "x86_64")]
const MODE: u32 = 0xffc0;

/// Returns the floating-point mode of this thread.
#[cfg(target_arch = "x86_64")]
fn read() -> u64 {
    let mut register = 0u32;
    // SAFETY: stores the register in a variable of four bytes.
    unsafe {
        core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack));
    }
    // Bits 6 to 15 of MXCSR: denormals are zero, exception masks, rounding, flush to zero.
    u64::from(register & MODE)
}

#[cfg(target_arch = "x86_64")]
fn write(mode: u64) {
    let register = mode as u32 & MODE;
    // SAFETY: loads a mode that `read` has returned, so no reserved bit is set.
    unsafe {
        core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack, readonly));
    }
}

#[cfg(target_arch = "aarch64")]
fn read() -> u64 {
    let mode: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack)) };
    mode
}

#[cfg(target_arch = "aarch64")]
fn write(mode: u64) {
    // SAFETY: restores a mode that `read` has returned.
    unsafe { core::arch::asm!("msr fpcr, {}", in(reg) mode, options(nomem, nostack)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn read() -> u64 {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn write(_: u64) {}

/// Runs `f`, then restores the mode. Returns the result of `f`, and whether `f` changed the mode.
pub(crate) fn guarded<T>(f: impl FnOnce() -> T) -> (T, bool) {
    let before = read();
    let result = f();
    let changed = read() != before;
    // Restored even if the plugin wants the change; otherwise other modules in the same thread would compute
    // different bits than without this plugin.
    if changed {
        write(before);
    }
    (result, changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_changed_mode_is_put_back() {
        let before = read();
        // Flush to zero and denormals are zero, as -ffast-math sets them.
        let ((), changed) = guarded(|| write(before | 0x8040));
        assert!(changed);
        assert_eq!(read(), before);
        assert!(!guarded(|| ()).1);
    }
}

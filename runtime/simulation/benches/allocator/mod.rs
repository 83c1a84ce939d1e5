//! Makes benchmarks use the same allocator as the program, so that they measure what users experience.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

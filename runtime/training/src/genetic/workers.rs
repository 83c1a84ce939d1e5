//! The threads of a training.

/// Threads that runs are shared out among. Their number changes no result.
pub struct Workers(rayon::ThreadPool);

impl Workers {
    /// So many threads, at least one.
    ///
    /// # Errors
    /// If the system does not give them.
    pub fn new(count: usize) -> Result<Self, String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count.max(1));
        let pool = pool.build();
        pool.map(Self)
            .map_err(|error| format!("cannot start the threads: {error}"))
    }

    /// Does work whose runs go to these threads, and waits for it.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(work)
    }
}

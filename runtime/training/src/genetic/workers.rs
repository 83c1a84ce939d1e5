//! The threads of a training run.

/// Threads over which the runs are distributed. Results do not depend on the number of threads.
pub struct Workers(rayon::ThreadPool);

impl Workers {
    /// Starts `count` threads, or one if `count` is 0.
    ///
    /// # Errors
    /// If the system cannot start the threads.
    pub fn new(count: usize) -> Result<Self, String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count.max(1));
        let pool = pool.build();
        pool.map(Self)
            .map_err(|error| format!("cannot start the threads: {error}"))
    }

    /// Runs a closure whose parallel work is distributed over these threads, and waits for it to finish.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(work)
    }
}

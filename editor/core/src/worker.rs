//! Background work that answers only the latest request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Progress of background work, 0 to 1. Clones share the value, so that one thread reports it and
/// another one reads it.
#[derive(Debug, Clone, Default)]
pub struct Share(Arc<AtomicU32>);

impl Share {
    /// Reports progress. Values smaller than the current one have no effect.
    pub fn set(&self, share: f32) {
        // Stored as bits, because there is no atomic float. The bit patterns of non-negative floats
        // sort like the floats.
        self.0
            .fetch_max(share.max(0.0).to_bits(), Ordering::Relaxed);
    }

    /// Returns the largest reported value, initially 0.
    pub fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// A thread that answers one request at a time and always takes the newest one.
pub struct Worker<Q, A> {
    questions: Option<Sender<Q>>,
    answers: Receiver<A>,
    thread: Option<JoinHandle<()>>,
}

impl<Q: Send + 'static, A: Send + 'static> Worker<Q, A> {
    /// Starts the thread. `done` is called after each answer, to wake the window.
    pub fn new(
        mut answer: impl FnMut(Q) -> A + Send + 'static,
        done: impl Fn() + Send + 'static,
    ) -> Self {
        let (questions, inbox) = channel::<Q>();
        let (outbox, answers) = channel();
        let thread = std::thread::spawn(move || {
            while let Ok(mut question) = inbox.recv() {
                // Only the newest request counts.
                while let Ok(newer) = inbox.try_recv() {
                    question = newer;
                }
                if outbox.send(answer(question)).is_err() {
                    break;
                }
                done();
            }
        });
        Self {
            questions: Some(questions),
            answers,
            thread: Some(thread),
        }
    }

    /// Sends a request. It replaces an older request that has not been started.
    pub fn ask(&mut self, question: Q) {
        if let Some(questions) = &self.questions {
            // Ignored, because the thread ends only when this sender is dropped.
            let _ = questions.send(question);
        }
    }

    /// Takes the newest answer since the last call, if any.
    pub fn take(&mut self) -> Option<A> {
        let mut newest = None;
        while let Ok(answer) = self.answers.try_recv() {
            newest = Some(answer);
        }
        newest
    }

    /// Takes the oldest answer that was not taken yet, if any.
    pub fn take_next(&mut self) -> Option<A> {
        self.answers.try_recv().ok()
    }

    /// Waits for an answer; used by tests and benchmarks.
    pub fn wait(&mut self) -> Option<A> {
        let first = self.answers.recv().ok()?;
        Some(self.take().unwrap_or(first))
    }
}

impl<Q, A> Drop for Worker<Q, A> {
    fn drop(&mut self) {
        // Dropped first, because the thread stops waiting as soon as there is no sender.
        self.questions = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

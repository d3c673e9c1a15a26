//! The pool for work that may take over a millisecond, off the asynchronous threads: computations,
//! the parsing of large bodies, the writing of large answers.
//!
//! The threads have a low priority, so that short requests keep their latency. Two rules keep the
//! long jobs of one source from delaying the jobs of another:
//!
//! - The waiting source that has used the least processor time lately is served next
//!   (`fair_queue.rs`). A source with long jobs delays another by at most one job.
//! - The pool has one thread more than the machine has cores, and one source uses at most as many
//!   threads as there are cores. A second source therefore finds a free thread, whatever the first
//!   source sends, and a source without neighbours uses every core.

mod fair_queue;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

use self::fair_queue::FairQueue;
use crate::{body_memory::RequestSource, thread_priority::lower_priority_to};

const PATIENCE: Duration = Duration::from_secs(30);
/// The `nice` value of the threads: a quarter of the processor beside a busy asynchronous thread. With
/// 10, a tenth, a body of 140 kB took 50 ms longer than a small call beside clients with bodies of
/// 16 MiB; with 5 it takes 10 ms longer, and the small calls are no slower.
const NICENESS: i32 = 5;

/// A computation that gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeError {
    /// No thread came free in time.
    Busy {
        /// Time after which the caller may try again.
        retry_after: Duration,
    },
    /// The computation panicked, which is a defect.
    Failed,
}

/// A pool of threads that share the cores fairly between the sources of their jobs.
pub struct ComputePool {
    queue: Arc<JobQueue>,
    /// Longest wait of a job for a thread before the caller is refused.
    patience: Duration,
}

type ComputeJob = Box<dyn FnOnce() + Send>;

/// A job that waits; empty once a thread has taken the job or its caller has given up.
type JobSlot = Arc<Mutex<Option<ComputeJob>>>;

struct JobQueue {
    jobs: Mutex<Jobs>,
    arrival: Condvar,
}

struct Jobs {
    queue: FairQueue<JobSlot>,
    is_closed: bool,
}

impl JobQueue {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; none once the pool is dropped.
    fn next(&self) -> Option<(RequestSource, ComputeJob)> {
        let mut jobs = self.jobs();
        loop {
            while let Some((source, slot)) = jobs.queue.pop() {
                match take(&slot) {
                    Some(job) => return Some((source, job)),
                    None => jobs.queue.finish(source, Duration::ZERO),
                }
            }
            if jobs.is_closed {
                return None;
            }
            jobs = self.arrival.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) {
        lower_priority_to(NICENESS);
        while let Some((source, job)) = self.next() {
            let before = processor_time();
            job();
            let used = processor_time().saturating_sub(before);
            self.jobs().queue.finish(source, used);
        }
    }
}

/// Returns the processor time that this thread has used.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

impl ComputePool {
    /// Makes a pool for so many cores, at least one: a thread for each core, and one more.
    ///
    /// # Panics
    ///
    /// Where the system has no thread left.
    #[must_use]
    pub fn new(cores: usize) -> Self {
        Self::with_patience(cores, PATIENCE)
    }

    fn with_patience(cores: usize, patience: Duration) -> Self {
        let cores = cores.max(1);
        let jobs = Jobs { queue: FairQueue::new(cores), is_closed: false };
        let queue = Arc::new(JobQueue { jobs: Mutex::new(jobs), arrival: Condvar::new() });
        for number in 1..=cores + 1 {
            let queue = queue.clone();
            let thread = std::thread::Builder::new().name(format!("compute-{number}"));
            thread.spawn(move || queue.work()).expect("the system has threads at the start");
        }
        Self { queue, patience }
    }

    /// Returns the numbers of running and of waiting jobs.
    #[must_use]
    pub fn load(&self) -> (usize, usize) {
        self.queue.jobs().queue.load()
    }

    /// Runs `work` of `source` once a thread is free. A caller that hangs up while its work waits
    /// takes the work out of the queue.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Busy`] where no thread came free in time.
    pub async fn run<T: Send + 'static>(
        &self,
        source: RequestSource,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let (waiting, mut outcome) = self.submit(source, work);
        match tokio::time::timeout(self.patience, &mut outcome).await {
            Ok(outcome) => finished(outcome),
            Err(_) if waiting.give_up() => {
                Err(ComputeError::Busy { retry_after: Duration::from_secs(1) })
            }
            // A thread has the work: its end is near, and a repeat would cost as much again.
            Err(_) => finished(outcome.await),
        }
    }

    /// Runs `work` of `source` however long it waits: the last step of a call that is paid for.
    ///
    /// # Errors
    ///
    /// [`ComputeError::Failed`] where the work panicked.
    pub async fn run_patiently<T: Send + 'static>(
        &self,
        source: RequestSource,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let (_waiting, outcome) = self.submit(source, work);
        finished(outcome.await)
    }

    fn submit<T: Send + 'static>(
        &self,
        source: RequestSource,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> (WaitingJob, oneshot::Receiver<T>) {
        let (tell, outcome) = oneshot::channel();
        let job: ComputeJob = Box::new(move || match catch_unwind(AssertUnwindSafe(work)) {
            // The caller may have hung up.
            Ok(result) => drop(tell.send(result)),
            // The panic hook has logged the place.
            Err(_) => tracing::error!("a long computation panicked"),
        });
        let slot = Arc::new(Mutex::new(Some(job)));
        self.queue.jobs().queue.push(source, slot.clone());
        self.queue.arrival.notify_one();
        (WaitingJob { queue: self.queue.clone(), source, slot }, outcome)
    }
}

impl Drop for ComputePool {
    fn drop(&mut self) {
        self.queue.jobs().is_closed = true;
        self.queue.arrival.notify_all();
    }
}

/// A submitted job, taken out of the queue with the end of its caller.
struct WaitingJob {
    queue: Arc<JobQueue>,
    source: RequestSource,
    slot: JobSlot,
}

impl WaitingJob {
    /// Takes the job out of the queue; false where a thread has it already.
    fn give_up(&self) -> bool {
        let job = take(&self.slot);
        let had_waited = job.is_some();
        if had_waited {
            let is_own = |slot: &JobSlot| Arc::ptr_eq(slot, &self.slot);
            self.queue.jobs().queue.remove(self.source, is_own);
        }
        had_waited
    }
}

impl Drop for WaitingJob {
    fn drop(&mut self) {
        self.give_up();
    }
}

fn take(slot: &JobSlot) -> Option<ComputeJob> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn finished<T>(outcome: Result<T, oneshot::error::RecvError>) -> Result<T, ComputeError> {
    outcome.map_err(|_| ComputeError::Failed)
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::Pin, sync::mpsc, task::Poll};

    use futures_util::future::join_all;

    use super::*;

    /// Polls a future once.
    async fn is_pending(mut future: Pin<&mut impl Future>) -> bool {
        poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
    }

    fn address(last: u8) -> RequestSource {
        RequestSource::of(None, [192, 0, 2, last].into())
    }

    /// Blocks a thread of the pool until the test sends.
    fn until(released: mpsc::Receiver<()>) -> impl FnOnce() -> bool + Send {
        move || released.recv().is_ok()
    }

    /// Waits until the threads of the pool have taken what they may take: a thread tells the result
    /// of a job before it leaves the queue.
    async fn until_load(pool: &ComputePool, load: (usize, usize)) {
        while pool.load() != load {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_second_source_finds_a_thread_beside_the_long_jobs_of_a_first() {
        let pool = ComputePool::new(2);
        let (gates, blocked): (Vec<_>, Vec<_>) = (0..5).map(|_| mpsc::channel()).unzip();
        let long = join_all(blocked.into_iter().map(|gate| pool.run(address(1), until(gate))));
        tokio::pin!(long);
        assert!(is_pending(long.as_mut()).await);
        for number in 0..20 {
            assert_eq!(pool.run(address(2), move || number).await, Ok(number));
        }
        // The first source has a job on each core, and the threads have told that the others ended.
        until_load(&pool, (2, 3)).await;
        for gate in gates {
            gate.send(()).expect("its job waits or runs");
        }
        assert!(long.as_mut().await.into_iter().all(|done| done == Ok(true)));
    }

    #[tokio::test]
    async fn jobs_are_charged_with_processor_time() {
        let pool = ComputePool::new(1);
        let (release, released) = mpsc::channel();
        // Keeps the queue busy, so that no virtual time is dropped.
        let blocker = pool.run(address(9), until(released));
        tokio::pin!(blocker);
        assert!(is_pending(blocker.as_mut()).await);
        let busy = || {
            let started = processor_time();
            while processor_time() < started + Duration::from_millis(2) {
                std::hint::spin_loop();
            }
        };
        assert_eq!(pool.run(address(1), busy).await, Ok(()));
        // The first source is served after the second, although its job comes first.
        let (hold, held) = mpsc::channel();
        let (tell, order) = mpsc::channel();
        let third = pool.run(address(3), until(held));
        tokio::pin!(third);
        assert!(is_pending(third.as_mut()).await);
        until_load(&pool, (2, 0)).await;
        let jobs = [1, 2].map(|source| {
            let tell = tell.clone();
            pool.run(address(source), move || tell.send(source).is_ok())
        });
        let both = join_all(jobs);
        tokio::pin!(both);
        assert!(is_pending(both.as_mut()).await);
        hold.send(()).expect("the third job waits");
        assert_eq!(both.as_mut().await, [Ok(true), Ok(true)]);
        assert_eq!(order.try_iter().collect::<Vec<u8>>(), [2, 1]);
        release.send(()).expect("the first job waits");
        assert_eq!(blocker.as_mut().await, Ok(true));
        assert_eq!(third.as_mut().await, Ok(true));
    }

    #[tokio::test]
    async fn a_caller_that_hangs_up_takes_its_waiting_job_along() {
        let pool = ComputePool::new(1);
        let (release, released) = mpsc::channel();
        let blocker = pool.run(address(1), until(released));
        tokio::pin!(blocker);
        assert!(is_pending(blocker.as_mut()).await);
        until_load(&pool, (1, 0)).await;
        let held = Arc::new(());
        let job = held.clone();
        let mut second = Box::pin(pool.run(address(1), move || drop(job)));
        assert!(is_pending(second.as_mut()).await);
        drop(second);
        assert_eq!(Arc::strong_count(&held), 1, "what the job held is freed");
        assert_eq!(pool.load(), (1, 0));
        release.send(()).expect("the first job waits");
        assert_eq!(blocker.as_mut().await, Ok(true));
    }

    #[tokio::test]
    async fn a_job_that_finds_no_thread_in_time_is_refused() {
        let pool = ComputePool::with_patience(1, Duration::ZERO);
        let (release, released) = mpsc::channel::<()>();
        let (started, has_started) = oneshot::channel();
        let blocker = pool.run_patiently(address(1), move || {
            started.send(()).expect("the test waits");
            released.recv().is_ok()
        });
        tokio::pin!(blocker);
        assert!(is_pending(blocker.as_mut()).await);
        has_started.await.expect("the first job runs");
        let refused = pool.run(address(1), || ()).await;
        assert_eq!(refused, Err(ComputeError::Busy { retry_after: Duration::from_secs(1) }));
        release.send(()).expect("the first job waits");
        assert_eq!(blocker.as_mut().await, Ok(true));
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_of_its_own_job_alone() {
        let pool = ComputePool::new(1);
        let failed: Result<(), _> = pool.run(address(1), || panic!("a defect")).await;
        assert_eq!(failed, Err(ComputeError::Failed));
        assert_eq!(pool.run(address(1), || 7).await, Ok(7));
    }
}

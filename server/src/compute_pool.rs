//! The pool for work that may take over a millisecond, off the asynchronous threads: computations,
//! the parsing of large bodies, the writing of large answers.
//!
//! The pool has a thread for each core, of low priority, so that short requests keep their latency.
//! Work that waits is taken by source in rotation: a source with many waiting jobs delays another
//! source by one job for each thread.

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{body_memory::RequestSource, thread_priority::lower_priority_to};

const PATIENCE: Duration = Duration::from_secs(30);
/// The `nice` value of the threads: a tenth of the processor beside a busy asynchronous thread.
const NICENESS: i32 = 10;

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

/// A pool that runs as many jobs at once as it has threads.
pub struct ComputePool {
    queue: Arc<JobQueue>,
    /// Longest wait of a job for a thread before the caller is refused.
    patience: Duration,
}

type ComputeJob = Box<dyn FnOnce() + Send>;

/// A job that waits; empty once a thread has taken the job or its caller has given up.
type JobSlot = Arc<Mutex<Option<ComputeJob>>>;

struct JobQueue {
    waiting: Mutex<WaitingJobs>,
    arrival: Condvar,
    running: AtomicUsize,
}

#[derive(Default)]
struct WaitingJobs {
    by_source: HashMap<RequestSource, VecDeque<JobSlot>>,
    /// The sources with waiting jobs, in the order in which they are served.
    rotation: VecDeque<RequestSource>,
    is_closed: bool,
}

impl WaitingJobs {
    fn push(&mut self, source: RequestSource, job: JobSlot) {
        let jobs = self.by_source.entry(source).or_default();
        if jobs.is_empty() {
            self.rotation.push_back(source);
        }
        jobs.push_back(job);
    }

    fn pop(&mut self) -> Option<JobSlot> {
        let source = self.rotation.pop_front()?;
        let jobs = self.by_source.get_mut(&source)?;
        let job = jobs.pop_front();
        if jobs.is_empty() {
            self.by_source.remove(&source);
        } else {
            self.rotation.push_back(source);
        }
        job
    }

    /// Drops a job whose caller no longer waits for it.
    fn remove(&mut self, source: RequestSource, job: &JobSlot) {
        let Some(jobs) = self.by_source.get_mut(&source) else { return };
        jobs.retain(|other| !Arc::ptr_eq(other, job));
        if jobs.is_empty() {
            self.by_source.remove(&source);
            self.rotation.retain(|other| *other != source);
        }
    }
}

impl JobQueue {
    fn waiting(&self) -> MutexGuard<'_, WaitingJobs> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; none once the pool is dropped.
    fn next(&self) -> Option<ComputeJob> {
        let mut waiting = self.waiting();
        loop {
            while let Some(slot) = waiting.pop() {
                if let Some(job) = take(&slot) {
                    return Some(job);
                }
            }
            if waiting.is_closed {
                return None;
            }
            waiting = self.arrival.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) {
        lower_priority_to(NICENESS);
        while let Some(job) = self.next() {
            self.running.fetch_add(1, Ordering::Relaxed);
            job();
            self.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl ComputePool {
    /// Makes a pool of so many threads, at least one.
    ///
    /// # Panics
    ///
    /// Where the system has no thread left.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self::with_patience(threads, PATIENCE)
    }

    fn with_patience(threads: usize, patience: Duration) -> Self {
        let queue = Arc::new(JobQueue {
            waiting: Mutex::default(),
            arrival: Condvar::new(),
            running: AtomicUsize::new(0),
        });
        for number in 1..=threads.max(1) {
            let queue = queue.clone();
            let thread = std::thread::Builder::new().name(format!("compute-{number}"));
            thread.spawn(move || queue.work()).expect("the system has threads at the start");
        }
        Self { queue, patience }
    }

    /// Returns the numbers of running and of waiting jobs.
    #[must_use]
    pub fn load(&self) -> (usize, usize) {
        let waiting = self.queue.waiting().by_source.values().map(VecDeque::len).sum();
        (self.queue.running.load(Ordering::Relaxed), waiting)
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
        self.queue.waiting().push(source, slot.clone());
        self.queue.arrival.notify_one();
        (WaitingJob { queue: self.queue.clone(), source, slot }, outcome)
    }
}

impl Drop for ComputePool {
    fn drop(&mut self) {
        self.queue.waiting().is_closed = true;
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
            self.queue.waiting().remove(self.source, &self.slot);
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

    #[tokio::test]
    async fn waiting_jobs_run_by_source_in_rotation() {
        let pool = ComputePool::new(1);
        let (release, released) = mpsc::channel::<()>();
        let (tell, order) = mpsc::channel();
        let blocker = pool.run(address(9), move || released.recv().is_ok());
        tokio::pin!(blocker);
        assert!(is_pending(blocker.as_mut()).await);
        while pool.load().0 == 0 {
            tokio::task::yield_now().await;
        }
        let jobs = [(1, "a"), (1, "b"), (1, "c"), (2, "d"), (2, "e"), (3, "f")];
        let jobs = jobs.map(|(source, name)| {
            let tell = tell.clone();
            pool.run(address(source), move || tell.send(name).is_ok())
        });
        let all = join_all(jobs);
        tokio::pin!(all);
        assert!(is_pending(all.as_mut()).await);
        assert_eq!(pool.load(), (1, 6));
        release.send(()).expect("the first job waits");
        assert_eq!(blocker.as_mut().await, Ok(true));
        assert!(all.as_mut().await.into_iter().all(|done| done == Ok(true)));
        let found: Vec<&str> = order.try_iter().collect();
        assert_eq!(found, ["a", "d", "f", "b", "e", "c"]);
    }

    #[tokio::test]
    async fn a_caller_that_hangs_up_takes_its_waiting_job_along() {
        let pool = ComputePool::new(1);
        let (release, released) = mpsc::channel::<()>();
        let blocker = pool.run(address(1), move || released.recv().is_ok());
        tokio::pin!(blocker);
        assert!(is_pending(blocker.as_mut()).await);
        let held = Arc::new(());
        let job = held.clone();
        let mut second = Box::pin(pool.run(address(2), move || drop(job)));
        assert!(is_pending(second.as_mut()).await);
        drop(second);
        assert_eq!(Arc::strong_count(&held), 1, "what the job held is freed");
        release.send(()).expect("the first job waits");
        assert_eq!(blocker.as_mut().await, Ok(true));
        assert_eq!(pool.load().1, 0);
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
        let refused = pool.run(address(2), || ()).await;
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

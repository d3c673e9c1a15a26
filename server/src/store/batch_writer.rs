//! The generic batch writer beneath the ledger, lease and result writers.
//!
//! Jobs wait in a bounded queue. The task of a queue takes every waiting job, up to the largest
//! batch, writes these jobs together and answers each one. Jobs that arrive during a write form the
//! next batch. So an idle writer adds no delay, and a busy one commits more jobs at once.

use std::sync::Arc;

use account_core::{AccountId, CallerId, GuestId, StoreError};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

/// The write of one batch, which is the part that differs between writers.
pub(super) trait BatchBackend: Send + 'static {
    /// The input of one write, as a caller submits the write.
    type Job: Send + 'static;
    /// The result of one write, as its caller gets the result.
    type Answer: Send + 'static;

    /// The largest number of jobs in a batch, so that a transaction stays short.
    const LARGEST_BATCH: usize;
    /// True if a job is dropped before its write once its caller no longer waits.
    const SKIPS_ABANDONED: bool = false;

    /// Returns whether `write` blocks its thread, so that the task needs a thread of its own.
    fn blocks_thread(&self) -> bool {
        false
    }

    /// Writes a batch and returns one result for each job, in the order of the jobs.
    fn write(
        &mut self,
        jobs: Vec<Self::Job>,
    ) -> impl Future<Output = Vec<Result<Self::Answer, StoreError>>> + Send;
}

type AnswerSender<Answer> = oneshot::Sender<Result<Answer, StoreError>>;
type QueuedJob<Job, Answer> = (Job, AnswerSender<Answer>);

/// A handle to tasks that write jobs in batches, with one queue for each task.
///
/// The tasks end with [`close`](Self::close), or when the handle is dropped; in both cases the
/// waiting jobs are written first.
pub(super) struct BatchWriter<Job, Answer> {
    /// The writer's name in error messages and in the log.
    name: &'static str,
    queues: Vec<Queue<Job, Answer>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

struct Queue<Job, Answer> {
    jobs: mpsc::Sender<QueuedJob<Job, Answer>>,
    /// Tells the task to accept no further jobs.
    close: Arc<Notify>,
}

impl<Job: Send + 'static, Answer: Send + 'static> BatchWriter<Job, Answer> {
    /// Starts a task for each backend, with a queue of `capacity` jobs in front of each task.
    ///
    /// # Panics
    ///
    /// Panics where there is no backend, or outside a Tokio runtime.
    pub(super) fn start<B>(name: &'static str, backends: Vec<B>, capacity: usize) -> Self
    where
        B: BatchBackend<Job = Job, Answer = Answer>,
    {
        assert!(!backends.is_empty(), "a batch writer has at least one backend");
        let start = |backend: B| {
            let (jobs, waiting) = mpsc::channel(capacity);
            let close = Arc::new(Notify::new());
            let blocks_thread = backend.blocks_thread();
            let task = write_batches(backend, waiting, close.clone());
            let task = if blocks_thread {
                tokio::task::spawn_blocking(|| Handle::current().block_on(task))
            } else {
                tokio::spawn(task)
            };
            (Queue { jobs, close }, task)
        };
        let (queues, tasks) = backends.into_iter().map(start).unzip();
        Self { name, queues, tasks: Mutex::new(tasks) }
    }

    /// Submits a job and waits for its result, and for room in a full queue before that.
    pub(super) async fn submit(&self, partition: u64, job: Job) -> Result<Answer, StoreError> {
        let (sender, answer) = oneshot::channel();
        let sent = self.queue(partition).send((job, sender)).await;
        sent.map_err(|_| self.closed())?;
        answer.await.map_err(|_| self.closed())?
    }

    /// Submits a job and waits for its result; a full queue refuses the job at once.
    pub(super) async fn try_submit(&self, partition: u64, job: Job) -> Result<Answer, StoreError> {
        let (sender, answer) = oneshot::channel();
        self.queue(partition).try_send((job, sender)).map_err(|error| match error {
            TrySendError::Full(_) => {
                StoreError::new(format!("too many jobs wait for the {} writer", self.name))
            }
            TrySendError::Closed(_) => self.closed(),
        })?;
        answer.await.map_err(|_| self.closed())?
    }

    /// Submits a job without waiting for its result.
    pub(super) fn enqueue(&self, partition: u64, job: Job) -> Result<(), EnqueueError> {
        let (sender, _) = oneshot::channel();
        self.queue(partition).try_send((job, sender)).map_err(|error| match error {
            TrySendError::Full(_) => EnqueueError::Full,
            TrySendError::Closed(_) => EnqueueError::Closed,
        })
    }

    /// Returns the number of waiting jobs.
    pub(super) fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.jobs.max_capacity() - queue.jobs.capacity()).sum()
    }

    /// Writes the waiting jobs and ends the tasks. Later jobs are refused.
    pub(super) async fn close(&self) {
        for queue in &self.queues {
            queue.close.notify_one();
        }
        for task in self.tasks.lock().await.drain(..) {
            if task.await.is_err() {
                tracing::error!("the {} writer panicked", self.name);
            }
        }
    }

    /// Returns the queue of a partition: all jobs of one partition go through one queue, in order.
    fn queue(&self, partition: u64) -> &mpsc::Sender<QueuedJob<Job, Answer>> {
        let index = partition % self.queues.len() as u64;
        &self.queues[usize::try_from(index).expect("less than the number of queues")].jobs
    }

    fn closed(&self) -> StoreError {
        StoreError::new(format!("the {} writer is closed", self.name))
    }
}

/// The reason why a job was not enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnqueueError {
    /// The queue holds as many jobs as may wait.
    Full,
    /// The writer was closed, for a shutdown.
    Closed,
}

/// Returns the partition of a caller, so that one queue holds all jobs of the caller.
pub(super) const fn partition_of(caller: CallerId) -> u64 {
    let (CallerId::Account(AccountId(number)) | CallerId::Guest(GuestId(number))) = caller;
    number.cast_unsigned()
}

async fn write_batches<B: BatchBackend>(
    mut backend: B,
    mut queue: mpsc::Receiver<QueuedJob<B::Job, B::Answer>>,
    close: Arc<Notify>,
) {
    let mut batch = Vec::with_capacity(B::LARGEST_BATCH);
    loop {
        // A steady stream of jobs must not delay the close, so the close is polled first.
        let taken = tokio::select! {
            biased;
            () = close.notified() => {
                queue.close();
                continue;
            }
            taken = queue.recv_many(&mut batch, B::LARGEST_BATCH) => taken,
        };
        if taken == 0 {
            return;
        }
        if B::SKIPS_ABANDONED {
            batch.retain(|(_, answer)| !answer.is_closed());
            if batch.is_empty() {
                continue;
            }
        }
        let (jobs, answers): (Vec<B::Job>, Vec<AnswerSender<B::Answer>>) = batch.drain(..).unzip();
        for (answer, result) in answers.into_iter().zip(backend.write(jobs).await) {
            // The caller may have stopped waiting; the job stays written.
            let _ = answer.send(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use account_core::testing::all;

    use super::*;

    /// Doubles numbers and records the size of each batch.
    struct Doubler {
        sizes: mpsc::UnboundedSender<usize>,
    }

    impl BatchBackend for Doubler {
        type Job = u32;
        type Answer = u32;

        const LARGEST_BATCH: usize = 4;
        const SKIPS_ABANDONED: bool = true;

        async fn write(&mut self, jobs: Vec<u32>) -> Vec<Result<u32, StoreError>> {
            self.sizes.send(jobs.len()).expect("the test listens");
            // Jobs that arrive here form the next batch.
            tokio::task::yield_now().await;
            jobs.into_iter().map(|job| Ok(2 * job)).collect()
        }
    }

    fn writer(capacity: usize) -> (BatchWriter<u32, u32>, mpsc::UnboundedReceiver<usize>) {
        let (sizes, seen) = mpsc::unbounded_channel();
        (BatchWriter::start("test", vec![Doubler { sizes }], capacity), seen)
    }

    #[tokio::test]
    async fn waiting_jobs_are_written_together_up_to_the_largest_batch() {
        let (writer, mut sizes) = writer(16);
        let doubled = all((0..10).map(|job| writer.submit(0, job))).await;
        let doubled: Vec<u32> = doubled.into_iter().map(|answer| answer.expect("open")).collect();
        assert_eq!(doubled, (0..10).map(|job| 2 * job).collect::<Vec<_>>());
        let sizes: Vec<usize> = std::iter::from_fn(|| sizes.try_recv().ok()).collect();
        assert_eq!(sizes, [4, 4, 2]);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_some_jobs_and_delays_others() {
        let (writer, _sizes) = writer(3);
        let refused = all((0..5).map(|job| writer.try_submit(0, job))).await;
        assert_eq!(refused.iter().filter(|answer| answer.is_err()).count(), 2);
        let delayed = all((0..5).map(|job| writer.submit(0, job))).await;
        assert_eq!(delayed.iter().filter(|answer| answer.is_err()).count(), 0);
    }

    #[tokio::test]
    async fn an_abandoned_job_is_skipped_where_the_backend_says_so() {
        let (writer, mut sizes) = writer(3);
        assert_eq!(writer.enqueue(0, 1), Ok(()));
        assert_eq!(writer.submit(0, 2).await.expect("open"), 4);
        assert_eq!(sizes.recv().await, Some(1));
    }

    #[tokio::test]
    async fn closing_writes_what_waits_and_refuses_later_jobs() {
        let (writer, _sizes) = writer(16);
        let (doubled, ()) =
            tokio::join!(all((0..10).map(|job| writer.submit(0, job))), writer.close());
        assert_eq!(doubled.iter().filter(|answer| answer.is_ok()).count(), 10);
        assert!(writer.submit(0, 1).await.is_err());
        assert_eq!(writer.enqueue(0, 1), Err(EnqueueError::Closed));
        assert_eq!(writer.waiting(), 0);
    }
}

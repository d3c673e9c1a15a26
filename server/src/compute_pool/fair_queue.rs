//! The order of the compute pool: start-time fair queueing of jobs by source.
//!
//! The virtual time of a source is the processor time that its finished jobs have used. The waiting
//! source with the smallest virtual time is served next; sources with equal virtual times are served
//! in rotation. The virtual time of a source that was idle starts at that of the source served last,
//! so that no source saves up time while idle.
//!
//! A source without jobs whose virtual time is larger than that start is remembered, because a
//! source that sends its jobs one by one would otherwise never wait. Once no job waits or runs, every
//! virtual time is dropped.
//!
//! # References
//!
//! Goyal, Vin and Cheng (1996), "Start-time fair queuing", section 2.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    mem,
    time::Duration,
};

use crate::body_memory::RequestSource;

/// The most sources without jobs that are remembered; the smallest virtual time is forgotten first.
const MOST_IDLE: usize = 1024;

/// Waiting jobs, and the sources that they belong to.
pub(super) struct FairQueue<J> {
    /// The most jobs of one source that run at once.
    most_of_source: usize,
    sources: HashMap<RequestSource, Source<J>>,
    /// The sources whose next job may run, the next one first.
    ready: BTreeMap<Rank, RequestSource>,
    /// The sources without jobs, the smallest virtual time first.
    idle: BTreeMap<Rank, RequestSource>,
    /// The virtual time of the source that was served last.
    start: Duration,
    /// The number of the next rank.
    next: u64,
    waiting: usize,
    running: usize,
}

/// The place of a source in an order: its virtual time, then the number of the placement.
type Rank = (Duration, u64);

struct Source<J> {
    rank: Rank,
    waiting: VecDeque<J>,
    running: usize,
}

impl<J> FairQueue<J> {
    /// Makes an empty queue that lets so many jobs of one source run at once.
    pub(super) fn new(most_of_source: usize) -> Self {
        Self {
            most_of_source,
            sources: HashMap::new(),
            ready: BTreeMap::new(),
            idle: BTreeMap::new(),
            start: Duration::ZERO,
            next: 1,
            waiting: 0,
            running: 0,
        }
    }

    /// Returns the numbers of running and of waiting jobs.
    pub(super) fn load(&self) -> (usize, usize) {
        (self.running, self.waiting)
    }

    /// Adds a job of a source.
    pub(super) fn push(&mut self, source: RequestSource, job: J) {
        let rank = (self.start, 0);
        let new = || Source { rank, waiting: VecDeque::new(), running: 0 };
        let state = self.sources.entry(source).or_insert_with(new);
        let is_first = state.waiting.is_empty();
        if is_first {
            state.rank = state.rank.max(rank);
        }
        state.waiting.push_back(job);
        self.waiting += 1;
        if is_first {
            self.place(source, Duration::ZERO);
        }
    }

    /// Takes the next job to run. The caller reports its end by [`FairQueue::finish`].
    pub(super) fn pop(&mut self) -> Option<(RequestSource, J)> {
        let ((virtual_time, _), source) = self.ready.pop_first()?;
        let state = self.sources.get_mut(&source).expect("a ready source is known");
        let job = state.waiting.pop_front().expect("a ready source has a job");
        state.running += 1;
        self.waiting -= 1;
        self.running += 1;
        self.start = self.start.max(virtual_time);
        self.forget_equal();
        self.place(source, Duration::ZERO);
        Some((source, job))
    }

    /// Notes the end of a running job of a source, which has used so much processor time.
    pub(super) fn finish(&mut self, source: RequestSource, used: Duration) {
        self.running -= 1;
        let state = self.sources.get_mut(&source).expect("a source with a running job is known");
        state.running -= 1;
        self.place(source, used);
    }

    /// Removes the waiting jobs of a source that `is_gone` names.
    pub(super) fn remove(&mut self, source: RequestSource, is_gone: impl Fn(&J) -> bool) {
        let Some(state) = self.sources.get_mut(&source) else { return };
        let before = state.waiting.len();
        state.waiting.retain(|job| !is_gone(job));
        self.waiting -= before - state.waiting.len();
        if state.waiting.is_empty() {
            self.place(source, Duration::ZERO);
        }
    }

    /// Adds used time to the virtual time of a source, and moves the source to where it belongs now.
    fn place(&mut self, source: RequestSource, used: Duration) {
        let state = self.sources.get_mut(&source).expect("a source that is placed is known");
        let rank = (state.rank.0.saturating_add(used), self.next);
        self.next += 1;
        let old = mem::replace(&mut state.rank, rank);
        let (waits, running) = (!state.waiting.is_empty(), state.running);
        self.ready.remove(&old);
        self.idle.remove(&old);
        if waits && running < self.most_of_source {
            self.ready.insert(rank, source);
        } else if !waits && running == 0 {
            self.idle.insert(rank, source);
            self.forget_equal();
        }
    }

    /// Forgets the idle sources that would start no earlier if they came anew, and all of them once
    /// the queue is idle.
    fn forget_equal(&mut self) {
        let is_idle = self.load() == (0, 0);
        while let Some((&(virtual_time, _), _)) = self.idle.first_key_value() {
            if !is_idle && virtual_time > self.start && self.idle.len() <= MOST_IDLE {
                return;
            }
            if let Some((_, source)) = self.idle.pop_first() {
                self.sources.remove(&source);
            }
        }
        if is_idle {
            self.start = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queue of a test, whose jobs are named by their costs in milliseconds.
    struct Queue(FairQueue<u64>);

    fn source(number: u16) -> RequestSource {
        let [high, low] = number.to_be_bytes();
        RequestSource::of(None, [192, 0, high, low].into())
    }

    fn number(source: RequestSource) -> u16 {
        match source {
            RequestSource::Network(std::net::IpAddr::V4(address)) => {
                let [_, _, high, low] = address.octets();
                u16::from_be_bytes([high, low])
            }
            other => panic!("{other:?}"),
        }
    }

    impl Queue {
        fn new(most_of_source: usize) -> Self {
            Self(FairQueue::new(most_of_source))
        }

        fn push(&mut self, of: u16, costs: impl IntoIterator<Item = u64>) {
            costs.into_iter().for_each(|cost| self.0.push(source(of), cost));
        }

        /// Starts the next job, and returns the number of its source with its cost.
        fn start(&mut self) -> Option<(u16, u64)> {
            self.0.pop().map(|(source, cost)| (number(source), cost))
        }

        fn finish(&mut self, (of, cost): (u16, u64)) {
            self.0.finish(source(of), Duration::from_millis(cost));
        }

        /// Runs so many jobs one after the other, and returns the numbers of their sources.
        fn run(&mut self, jobs: usize) -> Vec<u16> {
            let job = |_| {
                let job = self.start().expect("a job waits");
                self.finish(job);
                job.0
            };
            (0..jobs).map(job).collect()
        }
    }

    #[test]
    fn jobs_of_equal_cost_run_by_source_in_rotation() {
        let mut queue = Queue::new(1);
        queue.push(1, [1, 1, 1]);
        queue.push(2, [1, 1]);
        queue.push(3, [1]);
        assert_eq!(queue.0.load(), (0, 6));
        assert_eq!(queue.run(6), [1, 2, 3, 1, 2, 1]);
        assert_eq!(queue.0.load(), (0, 0));
    }

    #[test]
    fn sources_with_long_and_with_short_jobs_get_the_same_time() {
        let mut queue = Queue::new(1);
        queue.push(1, [100; 10]);
        queue.push(2, [1; 500]);
        let served = queue.run(303);
        let of = |which| served.iter().filter(|of| **of == which).count();
        assert_eq!((of(1), of(2)), (3, 300));
        // After the first long job, as many short ones as took the same time.
        assert_eq!(served[..2], [1, 2]);
        assert!(served[2..101].iter().all(|of| *of == 2), "{served:?}");
    }

    #[test]
    fn a_source_that_comes_later_waits_for_nobody_who_has_used_more() {
        let mut queue = Queue::new(1);
        queue.push(1, [100; 5]);
        queue.run(2);
        queue.push(2, [1; 3]);
        // The second source starts where the first was served last; the first then used 100 ms.
        assert_eq!(queue.run(5), [2, 2, 2, 1, 1]);
    }

    #[test]
    fn an_idle_source_saves_up_nothing() {
        let mut queue = Queue::new(1);
        queue.push(1, [10; 200]);
        queue.push(2, [10]);
        queue.run(100);
        queue.push(2, [10; 100]);
        let served = queue.run(100);
        let of_second = served.iter().filter(|of| **of == 2).count();
        assert!((49..=51).contains(&of_second), "{of_second} of 100");
    }

    #[test]
    fn a_source_that_sends_its_jobs_one_by_one_pays_for_each() {
        let mut queue = Queue::new(2);
        queue.push(1, [1; 400]);
        let mut long = 0;
        for _ in 0..100 {
            // The source of the long jobs waits for each answer before it sends the next.
            if queue.0.sources.get(&source(2)).is_none_or(|state| state.waiting.is_empty()) {
                queue.push(2, [100]);
            }
            long += queue.run(1).iter().filter(|of| **of == 2).count();
        }
        assert_eq!(long, 1);
        assert_eq!(queue.run(3), [1, 2, 1]);
    }

    #[test]
    fn one_source_leaves_a_thread_to_others() {
        let mut queue = Queue::new(2);
        queue.push(1, [100; 5]);
        let first = queue.start().expect("a first job");
        let second = queue.start().expect("a second job");
        assert_eq!((first, second), ((1, 100), (1, 100)));
        assert_eq!(queue.start(), None, "the source has as many running jobs as it may");
        assert_eq!(queue.0.load(), (2, 3));
        queue.push(2, [1]);
        assert_eq!(queue.start(), Some((2, 1)));
        queue.finish(first);
        assert_eq!(queue.start(), Some((1, 100)));
        assert_eq!(queue.start(), None);
    }

    #[test]
    fn a_removed_job_does_not_run_and_its_source_is_forgotten() {
        let mut queue = Queue::new(1);
        queue.push(1, [1, 2]);
        queue.push(2, [3]);
        queue.0.remove(source(1), |cost| *cost == 2);
        queue.0.remove(source(2), |cost| *cost == 3);
        queue.0.remove(source(3), |_| true);
        assert_eq!(queue.0.load(), (0, 1));
        assert_eq!(queue.run(1), [1]);
        assert_eq!(queue.start(), None);
        assert!(queue.0.sources.is_empty());
    }

    #[test]
    fn no_virtual_time_outlives_the_last_job() {
        let mut queue = Queue::new(2);
        queue.push(1, [100, 100]);
        queue.run(2);
        assert!(queue.0.sources.is_empty() && queue.0.idle.is_empty());
        // Equal again: the first to come is the first to be served.
        queue.push(1, [1]);
        queue.push(2, [1]);
        assert_eq!(queue.run(2), [1, 2]);
    }

    #[test]
    fn the_memory_of_idle_sources_is_bounded() {
        let mut queue = Queue::new(1);
        let most = u16::try_from(MOST_IDLE).expect("small");
        queue.push(0, [1]);
        let running = queue.start().expect("a job that keeps the queue busy");
        for of in 1..=2 * most {
            queue.push(of, [u64::from(of)]);
            assert_eq!(queue.run(1), [of]);
        }
        assert_eq!(queue.0.sources.len(), MOST_IDLE + 1);
        assert_eq!(queue.0.idle.len(), MOST_IDLE);
        assert!(queue.0.sources.contains_key(&source(2 * most)), "a large virtual time is kept");
        assert!(!queue.0.sources.contains_key(&source(1)), "the smallest is forgotten");
        queue.finish(running);
        assert!(queue.0.sources.is_empty() && queue.0.ready.is_empty());
    }
}

//! Argon2id on a fixed number of threads, behind a bounded queue.
//!
//! The pool hashes as many passwords at once as it has threads, and a bounded number wait; further
//! requests are refused with a time to wait. The threads have the lowest priority of the process, so
//! that a flood of logins slows no other work.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use account_core::password::{Busy, Password, PasswordHash, PasswordHasher, Verification};
use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Params, Version};
use rand::{Rng, rand_core::UnwrapErr, rngs::SysRng};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use zeroize::Zeroizing;

use crate::thread_priority::lower_priority;

/// The memory that one hash takes, in KiB.
const MEMORY: u32 = 19 * 1024;
/// The number of passes over the memory.
const PASSES: u32 = 2;
const SALT_BYTES: usize = 16;
const RETRY_AFTER: Duration = Duration::from_secs(2);

type HashTask = Box<dyn FnOnce() + Send>;

/// The password hasher of the service: argon2id on threads of its own, with a bounded queue.
#[derive(Clone)]
pub struct Argon2Pool {
    /// Slots for passwords that are hashed or wait.
    places: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    jobs: Sender<HashTask>,
    /// A hash that no password matches, for addresses without an account.
    decoy: Arc<str>,
}

/// The permit to compute one hash: a slot of the queue and a thread.
pub struct Permit {
    _place: OwnedSemaphorePermit,
    _thread: OwnedSemaphorePermit,
}

impl Argon2Pool {
    /// Makes a pool of this many threads, at least one, and a queue of this many waiting passwords.
    ///
    /// # Panics
    ///
    /// Panics where the system cannot start a thread.
    #[must_use]
    pub fn new(threads: usize, queue: usize) -> Self {
        let threads = threads.max(1);
        // The hash of a random text that is not stored; its cost is that of any other hash.
        let decoy = hash(&Zeroizing::new(hex::encode(random::<32>())));
        Self {
            places: Arc::new(Semaphore::new(threads + queue)),
            threads: Arc::new(Semaphore::new(threads)),
            jobs: start(threads),
            decoy: decoy.into(),
        }
    }
}

impl PasswordHasher for Argon2Pool {
    type Permit = Permit;

    async fn admit(&self) -> Result<Permit, Busy> {
        let busy = Busy { retry_after: RETRY_AFTER };
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| busy)?;
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(|_| busy)?;
        Ok(Permit { _place: place, _thread: thread })
    }

    async fn hash(&self, permit: Permit, password: &Password) -> PasswordHash {
        let password = Zeroizing::new(password.expose().to_owned());
        PasswordHash(self.run(permit, move || hash(&password)).await)
    }

    async fn verify(
        &self,
        permit: Permit,
        password: &Password,
        known: Option<&PasswordHash>,
    ) -> Verification {
        let password = Zeroizing::new(password.expose().to_owned());
        let is_known = known.is_some();
        let known = known.map_or_else(|| self.decoy.to_string(), |known| known.0.clone());
        self.run(permit, move || {
            let matches = matches(&password, &known) && is_known;
            let outdated = matches && !is_current(&known);
            Verification { matches, rehashed: outdated.then(|| PasswordHash(hash(&password))) }
        })
        .await
    }
}

impl Argon2Pool {
    /// Runs a task on one of the threads. The permit is kept until the end of the task, even if the
    /// caller no longer waits.
    async fn run<T: Send + 'static>(
        &self,
        permit: Permit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let (tell, told) = oneshot::channel();
        let job = move || {
            let result = work();
            drop(permit);
            // The caller may no longer wait.
            let _ = tell.send(result);
        };
        self.jobs.send(Box::new(job)).expect("the threads live as long as the pool");
        told.await.expect("hashing does not panic")
    }
}

/// Starts threads that run the jobs sent to them, until all senders are dropped.
fn start(threads: usize) -> Sender<HashTask> {
    let (jobs, queue) = mpsc::channel::<HashTask>();
    let queue = Arc::new(Mutex::new(queue));
    for number in 1..=threads {
        let queue = Arc::clone(&queue);
        let work = move || {
            lower_priority();
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                match next {
                    Ok(job) => job(),
                    Err(_) => return,
                }
            }
        };
        let thread = std::thread::Builder::new().name(format!("password-{number}"));
        thread.spawn(work).expect("the system has threads at the start");
    }
    jobs
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY, PASSES, 1, None).expect("parameters within argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(password: &str) -> String {
    use argon2::PasswordHasher as _;
    let hash: phc::PasswordHash = argon2()
        .hash_password_with_salt(password.as_bytes(), &random::<SALT_BYTES>())
        .expect("argon2 takes every password and this salt");
    hash.to_string()
}

fn matches(password: &str, known: &str) -> bool {
    use argon2::PasswordVerifier as _;
    phc::PasswordHash::new(known)
        .is_ok_and(|known| argon2().verify_password(password.as_bytes(), &known).is_ok())
}

/// Returns true for a hash with the current parameters.
fn is_current(known: &str) -> bool {
    known.starts_with(&format!("$argon2id$v=19$m={MEMORY},t={PASSES},p=1$"))
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    UnwrapErr(SysRng).fill_bytes(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use account_core::testing::all;

    use super::*;

    #[tokio::test]
    async fn a_hash_matches_its_password_and_no_other() {
        let pool = Argon2Pool::new(2, 8);
        let password = Password::attempt("correct horse");
        let hash = pool.hash(pool.admit().await.expect("free"), &password).await;
        assert!(is_current(&hash.0), "{}", hash.0);
        for (offered, known, expected) in [
            ("correct horse", Some(&hash), true),
            ("correct horsf", Some(&hash), false),
            ("", Some(&hash), false),
            ("correct horse", None, false),
            ("correct horse", Some(&PasswordHash("malformed".into())), false),
        ] {
            let permit = pool.admit().await.expect("free");
            let verification = pool.verify(permit, &Password::attempt(offered), known).await;
            assert_eq!(verification.matches, expected, "{offered}");
            assert!(verification.rehashed.is_none());
        }
    }

    #[tokio::test]
    async fn a_hash_under_older_parameters_is_replaced_by_the_right_password_alone() {
        use argon2::PasswordHasher as _;
        let older = Params::new(8 * 1024, 1, 1, None).expect("parameters");
        let older = Argon2::new(Algorithm::Argon2id, Version::V0x13, older);
        let old: phc::PasswordHash = older
            .hash_password_with_salt(b"correct horse", &random::<SALT_BYTES>())
            .expect("a hash");
        let (pool, old) = (Argon2Pool::new(1, 1), PasswordHash(old.to_string()));

        let wrong = pool.admit().await.expect("free");
        let wrong = pool.verify(wrong, &Password::attempt("wrong horse"), Some(&old)).await;
        assert!(!wrong.matches && wrong.rehashed.is_none());
        let right = pool.admit().await.expect("free");
        let right = pool.verify(right, &Password::attempt("correct horse"), Some(&old)).await;
        assert!(right.matches);
        assert!(is_current(&right.rehashed.expect("a new hash").0));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn hashing_gives_way_to_everything_else() {
        let thread_priority =
            || rustix::process::getpriority_process(None).expect("the system tells");
        let before = thread_priority();
        let pool = Argon2Pool::new(2, 2);
        for _ in 0..4 {
            let permit = pool.admit().await.expect("free");
            assert_eq!(
                pool.run(permit, thread_priority).await,
                crate::thread_priority::LEAST_URGENT
            );
        }
        assert_eq!(thread_priority(), before, "the thread that answers is as urgent as it was");
    }

    #[tokio::test]
    async fn beyond_threads_and_queue_a_login_is_told_to_come_back() {
        let pool = Argon2Pool::new(1, 2);
        let held = pool.admit().await.expect("free");
        // Each releases its permit at once, so that the next one gets the thread.
        let waiting = (0..2).map(|_| async { pool.admit().await.is_ok() });
        let (admitted, late) = tokio::join!(all(waiting), async {
            let late = pool.admit().await.err();
            drop(held);
            late
        });
        assert_eq!(late, Some(Busy { retry_after: RETRY_AFTER }));
        assert_eq!(admitted, [true, true]);
    }
}

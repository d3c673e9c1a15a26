//! Credits of running calls: what the balance does not pay beside them is refused before its work.

use std::{
    cell::Cell,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use account_core::{Tier, testing::all};
use poem::{Request, http::Method};
use quant_server::{body_memory::RequestSource, compute_pool::ComputePool};
use quant_tests::{
    App, email,
    requests::{OPTION, PRICE},
};

/// A computation that runs in the pool and costs five credits.
const BARRIER: &str = "/quantlib/pricing/binomial/barrier";
const MANY_STEPS: &str = r#"{"spot": 100, "strike": 100, "risk_free_rate": 0.05, "volatility": 0.2,
    "barrier": 90, "time_to_maturity": 1, "n_steps": 2000, "is_knock_in": false, "is_down": true}"#;
/// Arguments that only the computation refuses: the yield exceeds what one step of the tree reaches.
const INFEASIBLE: &str = r#"{"spot": 1, "strike": 1, "risk_free_rate": 0, "volatility": 0.01,
    "barrier": 0.5, "time_to_maturity": 1, "n_steps": 1, "is_knock_in": false, "is_down": true,
    "dividend_yield": 9}"#;

/// Longest wait for what must happen while the pool is full. A call would wait for the pool longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of threads of the pool, one more than the machine has cores.
fn threads() -> usize {
    std::thread::available_parallelism().expect("a number of cores").get() + 1
}

/// One of the callers whose work fills the pool. One caller alone cannot take every thread.
fn stranger(number: usize) -> RequestSource {
    RequestSource::of(None, IpAddr::V4(Ipv4Addr::new(192, 0, 2, u8::from(number > 0))))
}

/// A gate that blocks threads until it is opened, or dropped.
#[derive(Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().expect("no panic under the lock") = true;
        self.0.1.notify_all();
    }

    /// Takes every place of the pool until the gate opens.
    async fn fill(&self, pool: &ComputePool) {
        let blocked = (0..threads()).map(|number| {
            let gate = self.0.clone();
            pool.run(stranger(number), move || {
                let is_open = gate.0.lock().expect("no panic under the lock");
                drop(gate.1.wait_while(is_open, |is_open| !*is_open));
            })
        });
        for outcome in all(blocked).await {
            outcome.expect("a place in the pool");
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// Waits until so many computations wait for a place in the pool.
async fn waiting(app: &App, computations: usize) {
    while app.service().compute_pool.load().1 != computations {
        tokio::task::yield_now().await;
    }
}

/// Runs a call beside a script, with a pool that is full until the script opens the gate.
async fn beside<C, S>(app: &App, gate: &Gate, call: C, script: S) -> C::Output
where
    C: Future,
    S: Future<Output = ()>,
{
    let pool = &app.service().compute_pool;
    // A call that came before the pool is full could run.
    let call_once_full = async {
        while pool.load().0 != threads() {
            tokio::task::yield_now().await;
        }
        tokio::join!(call, script).0
    };
    let both = async { tokio::join!(gate.fill(pool), call_once_full).1 };
    tokio::time::timeout(PATIENCE, both)
        .await
        .expect("nothing waits for the full pool but the call")
}

fn repeat(key: &str, repeat_key: &str) -> Request {
    let request = Request::builder().method(Method::POST).uri_str(BARRIER);
    let request = request.header("X-API-Key", key).header("Idempotency-Key", repeat_key);
    request.content_type("application/json").body(MANY_STEPS)
}

#[tokio::test]
async fn of_48_parallel_calls_with_credits_for_one_47_are_refused_before_their_computation() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let (gate, refused) = (Gate::default(), Cell::new(0));
    let calls = (0..48).map(async |_| {
        let answer = app.post(BARRIER, Some(&key), MANY_STEPS).await;
        if answer.status == 402 {
            refused.set(refused.get() + 1);
            if refused.get() == 47 {
                gate.open();
            }
        }
        answer
    });

    let answers = beside(&app, &gate, all(calls), async {}).await;

    let paid: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!((paid.len(), refused.get()), (1, 47));
    assert_eq!(paid[0].header("x-credits-balance"), Some("0"));
    assert!(app.accounts().audit().await.expect("the store answers").holds());
}

#[tokio::test]
async fn credits_that_come_during_a_call_pay_for_the_next_one_at_once() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let gate = Gate::default();
    let script = async {
        waiting(&app, 1).await;
        app.post(PRICE, Some(&key), OPTION).await.expect(402);
        app.accounts().grant(&email("ada"), 5, app.clock.now()).await.expect("an account");
        app.post(PRICE, Some(&key), OPTION).await.expect(200);
        app.post(PRICE, Some(&key), OPTION).await.expect(402);
        gate.open();
    };

    let first = app.post(BARRIER, Some(&key), MANY_STEPS);

    beside(&app, &gate, first, script).await.expect(200);
}

#[tokio::test]
async fn a_cancelled_or_refused_call_holds_no_credits() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let gate = Gate::default();
    let cancelled = async {
        let other = async {
            waiting(&app, 1).await;
            app.post(PRICE, Some(&key), OPTION).await.expect(402);
        };
        tokio::select! {
            answer = app.post(BARRIER, Some(&key), MANY_STEPS) => panic!("{answer:?}"),
            () = other => {}
        }
        app.post(PRICE, Some(&key), OPTION).await.expect(200);
        gate.open();
    };
    beside(&app, &gate, cancelled, async {}).await;

    let key = app.account("bob", Tier::Pro, 5).await;
    app.post(BARRIER, Some(&key), INFEASIBLE).await.expect(422);
    app.post(PRICE, Some(&key), OPTION).await.expect(200);
}

#[tokio::test]
async fn a_repeat_of_a_running_call_is_told_so_whatever_credits_the_call_holds() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let gate = Gate::default();
    let script = async {
        waiting(&app, 1).await;
        app.send(repeat(&key, "order 17")).await.expect(409);
        app.send(repeat(&key, "order 18")).await.expect(402);
        gate.open();
    };

    beside(&app, &gate, app.send(repeat(&key, "order 17")), script).await.expect(200);

    let again = app.send(repeat(&key, "order 17")).await;
    again.expect(200);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn a_spent_balance_is_read_anew_before_a_call_is_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 5).await;
    let elsewhere = app.beside().await;
    app.post(PRICE, Some(&key), OPTION).await.expect(200);
    elsewhere.post(PRICE, Some(&key), OPTION).await.expect(402);

    // The other instance has not seen this change yet, and its cache still has the old balance.
    app.accounts().grant(&email("ada"), 5, app.clock.now()).await.expect("an account");

    elsewhere.post(PRICE, Some(&key), OPTION).await.expect(200);
}

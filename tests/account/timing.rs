//! Response times for addresses with and without an account, compared by rank sums. The two kinds
//! of call alternate. The test is ignored by default, because its result needs an optimised build
//! and an otherwise idle machine:
//!
//! ```sh
//! cargo test --release -p quant-tests timing -- --ignored --nocapture
//! ```
//!
//! The deterministic counterpart, which counts hashes and storage calls, is not ignored
//! (`every_address_costs_a_visitor_the_same_answers_hashes_storage_calls_and_emails`).

use std::time::Instant;

use account_core::Tier;
use chrono::TimeDelta;
use quant_tests::App;
use serde_json::json;

const ADDRESSES: usize = 40;
const ROUNDS: usize = 10;
/// The deviation of a rank sum, in standard deviations, from which a difference counts as real. One
/// comparison of equal distributions in 16,000 deviates by more.
const SIGNIFICANT: f64 = 4.0;

/// A call about an email address.
#[derive(Clone, Copy, Debug)]
enum Visit {
    WrongLogin,
    Locked,
    Forgot,
    Resend,
    Register,
    WrongReset,
}

impl Visit {
    fn request(self, name: &str, round: usize) -> (&'static str, serde_json::Value) {
        let email = format!("{name}@example.com");
        match self {
            Self::WrongLogin | Self::Locked => {
                ("/user/login", json!({ "email": email, "password": "wrong wrong wrong" }))
            }
            Self::Forgot => ("/user/forgot-password", json!({ "email": email })),
            Self::Resend => ("/user/resend-otp", json!({ "email": email })),
            Self::Register => (
                "/user/register",
                json!({ "email": email, "username": format!("{name}-{round}"),
                        "password": "correct horse battery staple" }),
            ),
            Self::WrongReset => (
                "/user/reset-password",
                json!({ "email": email, "otp": "000000",
                        "new_password": "another long and private sentence" }),
            ),
        }
    }
}

/// The duration of a call in microseconds.
async fn time(app: &App, visit: Visit, name: &str, round: usize) -> f64 {
    let (path, body) = visit.request(name, round);
    let body = body.to_string();
    let began = Instant::now();
    let answer = app.post(path, None, &body).await;
    let took = began.elapsed().as_secs_f64() * 1e6;
    assert!(answer.status.as_u16() < 500, "{visit:?}: {answer:?}");
    took
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The distance of the rank sum of `first` from its mean under equal distributions, in standard
/// deviations (Mann and Whitney, 1947).
fn deviation(first: &[f64], second: &[f64]) -> f64 {
    let (n, m) = (first.len() as f64, second.len() as f64);
    let wins: f64 = first
        .iter()
        .map(|a| {
            second
                .iter()
                .map(|b| f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b)))
                .sum::<f64>()
        })
        .sum();
    (wins - n * m / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures time: run it alone, optimised, on a quiet machine"]
async fn response_times_do_not_reveal_whether_an_account_exists() {
    let visits = [
        Visit::WrongLogin,
        Visit::Locked,
        Visit::Forgot,
        Visit::Resend,
        Visit::Register,
        Visit::WrongReset,
    ];
    let mut telling = Vec::new();
    for visit in visits {
        let app = App::start_with(|config| {
            config.address_limit = 1_000_000.try_into().expect("not zero");
        })
        .await;
        for number in 0..ADDRESSES {
            app.account(&format!("known{number}"), Tier::Free, 0).await;
        }
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // After 25 hours every lock, cooldown and daily count of the round before has ended.
            app.clock.advance(TimeDelta::hours(25));
            for number in 0..ADDRESSES {
                let has = format!("known{number}");
                // Both addresses get the same number of calls, so that both leave the same rows. A
                // registered address is no longer unknown, so `Register` takes a new one.
                let has_not = match visit {
                    Visit::Register => format!("nobody{number}-{round}"),
                    _ => format!("nobody{number}"),
                };
                if matches!(visit, Visit::Locked) {
                    for name in [&has, &has_not] {
                        for _ in 0..5 {
                            time(&app, Visit::WrongLogin, name, round).await;
                        }
                    }
                }
                // The order alternates, so that other load on the machine affects both alike.
                if (number + round) % 2 == 0 {
                    known.push(time(&app, visit, &has, round).await);
                    unknown.push(time(&app, visit, &has_not, round).await);
                } else {
                    unknown.push(time(&app, visit, &has_not, round).await);
                    known.push(time(&app, visit, &has, round).await);
                }
            }
        }
        let deviation = deviation(&known, &unknown);
        println!(
            "{:<12} known {:>9.1} µs  unknown {:>9.1} µs  off by {deviation:+.2} standard deviations of {} visits each",
            format!("{visit:?}"),
            median(&mut known),
            median(&mut unknown),
            known.len(),
        );
        if deviation.abs() > SIGNIFICANT {
            telling.push(visit);
        }
    }
    assert!(telling.is_empty(), "response times reveal whether an account exists: {telling:?}");
}

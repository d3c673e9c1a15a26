//! Whether time tells who has an account: the same visit to addresses with and without one, taken
//! by turns, compared by ranks. Left out of the usual run, since only a quiet machine and an
//! optimised build say much:
//!
//! ```sh
//! cargo test --release -p quant-tests timing -- --ignored --nocapture
//! ```
//!
//! The deterministic twin, which counts hashes and storage calls, is in the usual run
//! (`every_address_costs_a_visitor_the_same_answers_hashes_storage_calls_and_letters`).

use std::time::Instant;

use account_core::Tier;
use chrono::TimeDelta;
use quant_tests::App;
use serde_json::json;

const ADDRESSES: usize = 40;
const ROUNDS: usize = 10;
/// Beyond so many standard deviations of the rank sum a difference is no accident: one such run in
/// sixteen thousand would be.
const SURE: f64 = 4.0;

/// A visit to an address.
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

/// Microseconds of a visit.
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

/// By how many standard deviations the rank sum of the first is off what chance would give
/// (Mann and Whitney, 1947).
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
async fn time_does_not_tell_who_has_an_account() {
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
            // Past every lock, cooldown and count of the round before.
            app.clock.advance(TimeDelta::hours(25));
            for number in 0..ADDRESSES {
                let has = format!("known{number}");
                // Visited as often as the other, so that both leave as much behind; but whoever has
                // registered once is no longer unknown.
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
                // By turns, so that what else the machine does falls on both alike.
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
        if deviation.abs() > SURE {
            telling.push(visit);
        }
    }
    assert!(telling.is_empty(), "time tells who has an account at {telling:?}");
}

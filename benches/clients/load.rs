//! Deducts through the Rust client from many tasks at once. Prints a line of JSON.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement that cannot go on ends"
)]

use std::{
    env,
    str::FromStr,
    time::{Duration, Instant},
};

use scrip_wallet::{Deduct, Scrip, Wallet};
use serde_json::json;
use tokio::task::JoinSet;

fn setting<T: FromStr<Err: std::fmt::Debug>>(name: &str) -> T {
    env::var(name).unwrap().parse().unwrap()
}

async fn deduct(scrip: Scrip, wallets: u128, ends: Instant) -> Vec<Duration> {
    let mut times = Vec::new();
    loop {
        let began = Instant::now();
        if began >= ends {
            return times;
        }
        let user = uuid::Uuid::new_v4().as_u128() % wallets + 1;
        let wallet = Wallet::external(format!("user_{user}"));
        let deduct = Deduct::new(1).meta(json!({"feature": "image"}));
        scrip.deduct(&wallet, deduct).await.unwrap();
        times.push(began.elapsed());
    }
}

#[tokio::main]
async fn main() {
    let url: String = setting("BASE_URL");
    let key: String = setting("SECRET_KEY");
    let builder = Scrip::builder(url, key).gather(setting("GATHER"));
    let scrip = builder.timeout(Duration::from_secs(60)).build().unwrap();
    let began = Instant::now();
    let ends = began + Duration::from_secs(setting("SECONDS"));
    let mut callers = JoinSet::new();
    for _ in 0..setting("CALLERS") {
        callers.spawn(deduct(scrip.clone(), setting("WALLETS"), ends));
    }
    let mut times = callers.join_all().await.concat();
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    times.sort_unstable();
    let ms = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1_000.0;
    println!("{}", json!({"rate": rate, "p50": ms(50), "p99": ms(99)}));
}

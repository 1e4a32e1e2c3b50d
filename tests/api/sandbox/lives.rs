//! Whole lives of customers, repeated with webhooks that come late, twice, out of order or not at all: the
//! final state is always the same.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use scrip::catalog::SandboxChange;
use serde_json::{Value, json};

use crate::sandbox_shop::{DAY, HOUR, SandboxShop};

const LIVES: u64 = 6;
const STEPS: usize = 24;

/// A step by a customer, the shop or a bank.
#[derive(Debug, Clone, Copy)]
enum Step {
    Press(&'static str),
    Refund { cents: u32, slowly: bool },
    Dispute { cents: u32, inquiry: bool },
    Switch { tier: usize },
    Wait { seconds: i64 },
}

fn life(seed: u64) -> Vec<Step> {
    let mut rng = StdRng::seed_from_u64(seed);
    let step = |_| match rng.random_range(0..20) {
        0 => Step::Press("cancel"),
        1 | 2 => Step::Press("undo"),
        3 => Step::Press("refund_fails"),
        4 => Step::Press("refund_succeeds"),
        5 => Step::Press("dispute_won"),
        6 => Step::Press("dispute_lost"),
        7 | 8 => Step::Refund {
            cents: rng.random_range(1..1900),
            slowly: rng.random(),
        },
        9 => Step::Dispute {
            cents: rng.random_range(1..1900),
            inquiry: rng.random(),
        },
        10..13 => Step::Switch {
            // Rarely to a yearly tier: a year is long.
            tier: *[0, 0, 0, 0, 1, 1, 1, 1, 2].choose(&mut rng).unwrap(),
        },
        13..16 => Step::Wait { seconds: HOUR / 2 },
        _ => Step::Wait {
            seconds: rng.random_range(1..12) * DAY,
        },
    };
    (0..STEPS).map(step).collect()
}

/// The final state after these steps.
async fn lived(steps: &[Step], webhooks: SandboxChange, by_the_list: bool) -> Value {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    shop.portal("ann").await;
    let mut prices = Vec::new();
    for tier in [&tiers.small, &tiers.large, &tiers.yearly] {
        prices.push(shop.price_there(tier).await);
    }
    shop.set(webhooks).await;
    for step in steps {
        let (button, fields) = match *step {
            Step::Press(button) => (button, json!({})),
            Step::Refund { cents, slowly } => {
                let status = if slowly { "pending" } else { "succeeded" };
                let fields = json!({"amountCents": cents.to_string(), "status": status});
                ("refund", fields)
            }
            Step::Dispute { cents, inquiry } => {
                let inquiry = inquiry.to_string();
                let fields = json!({"amountCents": cents.to_string(), "inquiry": inquiry});
                ("dispute", fields)
            }
            Step::Switch { tier } => ("switch", json!({"price": prices[tier]})),
            Step::Wait { seconds } => {
                shop.advance(seconds).await;
                continue;
            }
        };
        let portal = shop.portal("ann").await;
        // What is impossible just now is refused in each of these lives.
        shop.try_press(&portal, button, fields).await;
        if by_the_list {
            shop.read().await;
        }
    }
    // Now everything that is late arrives.
    shop.set(SandboxChange {
        delay_seconds: Some(0),
        ..SandboxChange::default()
    })
    .await;
    shop.advance(2 * DAY).await;
    let mut state = shop.state_of("ann").await;
    // Credits reported after their cycle's end come and go at once: ledgers differ, sums do not.
    state["ledger"].take();
    // Orders of the same second may come in any order.
    let orders = state["orders"].as_array_mut().unwrap();
    orders.sort_by_key(ToString::to_string);
    state
}

#[tokio::test]
async fn late_doubled_shuffled_and_lost_webhooks_end_the_same() {
    let day = Some(DAY);
    let ways = [
        SandboxChange {
            duplicates: Some(2),
            shuffle: Some(true),
            ..SandboxChange::default()
        },
        SandboxChange {
            delay_seconds: Some(HOUR / 4),
            shuffle: Some(true),
            ..SandboxChange::default()
        },
        SandboxChange {
            delay_seconds: day,
            duplicates: Some(1),
            ..SandboxChange::default()
        },
    ];
    for seed in 0..LIVES {
        let steps = life(seed);
        let plain = lived(&steps, SandboxChange::default(), false).await;
        for webhooks in ways {
            let other = lived(&steps, webhooks, false).await;
            assert_eq!(other, plain, "life {seed}, {webhooks:?}: {steps:?}");
        }
        let deaf = SandboxChange {
            delay_seconds: Some(7 * DAY),
            ..SandboxChange::default()
        };
        let other = lived(&steps, deaf, true).await;
        assert_eq!(other, plain, "life {seed}, by the list: {steps:?}");
    }
}

#[tokio::test]
async fn an_address_that_the_provider_does_not_take_is_left_out() {
    let shop = SandboxShop::open().await;
    for email in ["\"<script>\"@example.com", "a@localhost"] {
        let body = json!({"externalUserId": "ann", "customerEmail": email});
        let checkout = shop.checkout(body).await;
        shop.press(&checkout, "pay").await;
        assert_eq!(shop.order(&checkout).await["status"], "paid", "{email}");
    }
}

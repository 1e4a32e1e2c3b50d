//! Each cycle of a subscription is billed once, after any changes.

use proptest::{collection::vec, prelude::*, sample::Index};

use super::*;
use crate::core::objects::{BillingReason, Configuration};

#[derive(Debug, Clone)]
enum Step {
    Wait {
        hours: i64,
    },
    /// In the portal, at once or at the cycle's end, as the portal says.
    Switch {
        large: bool,
    },
    /// By the shop.
    Change {
        large: bool,
        behavior: Index,
    },
    Cancel(bool),
    Pause(Option<Index>),
    Decline(bool),
}

const BEHAVIORS: [&str; 3] = ["always_invoice", "create_prorations", "none"];
const PAUSES: [&str; 3] = ["keep_as_draft", "mark_uncollectible", "void"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..240_i64).prop_map(|hours| Step::Wait { hours }),
        2 => any::<bool>().prop_map(|large| Step::Switch { large }),
        2 => (any::<bool>(), any::<Index>())
            .prop_map(|(large, behavior)| Step::Change { large, behavior }),
        1 => any::<bool>().prop_map(Step::Cancel),
        1 => any::<Option<Index>>().prop_map(Step::Pause),
        1 => any::<bool>().prop_map(Step::Decline),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn each_cycle_of_a_subscription_is_billed_once(steps in vec(step(), 1..80)) {
        let mut shop = Shop::new();
        let prices = [1000, 3000].map(|amount| shop.price("Tier", amount, "month"));
        let subscription = shop.subscribed(&prices[0], "");
        let path = format!("subscriptions/{subscription}");
        let update = "features[subscription_update]";
        let mut offer = format!(
            "{update}[enabled]=true&{update}[default_allowed_updates][0]=price\
             &{update}[proration_behavior]=always_invoice\
             &{update}[schedule_at_period_end][conditions][0][type]=decreasing_item_amount"
        );
        for (place, price) in prices.iter().enumerate() {
            let product = shop.get(&format!("prices/{price}"))["product"].clone();
            let product = product.as_str().unwrap();
            let of = format!("{update}[products][{place}]");
            offer.push_str(&format!("&{of}[product]={product}&{of}[prices][0]={price}"));
        }
        let offer = id(&shop.post("billing_portal/configurations", &offer));
        let offer: Configuration = shop.db.find(&offer).unwrap();
        for step in steps {
            // What is impossible just now is refused.
            match step {
                Step::Wait { hours } => shop.until(shop.db.now.saturating_add(hours.saturating_mul(HOUR))),
                Step::Switch { large } => {
                    let running = shop.subscription(&subscription);
                    drop(running.switch(&mut shop.db, &offer, &prices[usize::from(large)]));
                }
                Step::Change { large, behavior } => {
                    let item = shop.item(&subscription, &prices[usize::from(large)]);
                    let form = format!("{item}&proration_behavior={}", behavior.get(&BEHAVIORS));
                    drop(shop.call("POST", &path, &form));
                }
                Step::Cancel(ends) => {
                    drop(shop.call("POST", &path, &format!("cancel_at_period_end={ends}")));
                }
                Step::Pause(how) => {
                    let form = how.map_or("pause_collection=".into(), |how| {
                        format!("pause_collection[behavior]={}", how.get(&PAUSES))
                    });
                    drop(shop.call("POST", &path, &form));
                }
                Step::Decline(declines) => shop.card_declines(&subscription, declines),
            }
        }
        let of_cycles = |invoice: &Invoice| invoice.reason == BillingReason::SubscriptionCycle;
        let made = shop.db.newest::<Invoice>(of_cycles).into_iter();
        let made: Vec<i64> = made.rev().map(|invoice| invoice.head.created).collect();
        let expected: Vec<i64> = (1..).map(months).take(made.len()).collect();
        prop_assert_eq!(made, expected);
    }
}

//! Refunds and disputes.

use super::*;
use crate::core::{disputes, records::Charge};

fn paid(shop: &mut Shop) -> String {
    let session = shop.once(500, "");
    let intent = shop.act(&session, Action::Pay).unwrap().intent.unwrap();
    shop.told();
    intent
}

#[test]
fn a_part_and_then_the_rest_goes_back() {
    let mut shop = Shop::new();
    let intent = paid(&mut shop);
    let refund = shop.post("refunds", &format!("payment_intent={intent}&amount=200"));
    assert_eq!(
        (refund["amount"].as_i64(), refund["status"].as_str()),
        (Some(200), Some("succeeded"))
    );
    let too_much = shop.call(
        "POST",
        "refunds",
        &format!("payment_intent={intent}&amount=301"),
    );
    assert_eq!(too_much.unwrap_err().param.as_deref(), Some("amount"));
    shop.post(
        "refunds",
        &format!("charge={}", refund["charge"].as_str().unwrap()),
    );
    assert_eq!(shop.told(), ["charge.refunded", "charge.refunded"]);
    let charge = shop.get(&format!("charges/{}", refund["charge"].as_str().unwrap()));
    assert_eq!(
        (
            charge["amount_refunded"].as_i64(),
            charge["refunded"].as_bool()
        ),
        (Some(500), Some(true))
    );
    let again = shop.call("POST", "refunds", &format!("payment_intent={intent}"));
    assert_eq!(again.unwrap_err().code, Some("charge_already_refunded"));
    let list = shop
        .call(
            "GET",
            "refunds",
            &format!("payment_intent={intent}&limit=1"),
        )
        .unwrap();
    assert_eq!(
        (
            list["has_more"].as_bool(),
            list["data"][0]["amount"].as_i64()
        ),
        (Some(true), Some(300))
    );
}

#[test]
fn a_dispute_is_opened_once_and_decided_once() {
    let mut shop = Shop::new();
    for (won, kinds) in [
        (
            true,
            vec!["charge.dispute.closed", "charge.dispute.funds_reinstated"],
        ),
        (false, vec!["charge.dispute.closed"]),
    ] {
        let intent = paid(&mut shop);
        let charge = |shop: &Shop| -> Charge {
            let mut all = shop.books.all::<Charge>();
            all.find(|charge| charge.intent == intent).unwrap().clone()
        };
        let found = charge(&shop);
        assert!(disputes::close(&mut shop.desk(), &found, won).is_err());
        disputes::open(&mut shop.desk(), found).unwrap();
        assert_eq!(
            shop.told(),
            ["charge.dispute.created", "charge.dispute.funds_withdrawn"]
        );
        let found = charge(&shop);
        assert!(disputes::open(&mut shop.desk(), found.clone()).is_err());
        let refused = shop.call("POST", "refunds", &format!("payment_intent={intent}"));
        assert_eq!(refused.unwrap_err().code, Some("charge_disputed"));
        disputes::close(&mut shop.desk(), &found, won).unwrap();
        disputes::close(&mut shop.desk(), &found, won).unwrap();
        assert!(disputes::close(&mut shop.desk(), &found, !won).is_err());
        assert_eq!(shop.told(), kinds);
    }
}

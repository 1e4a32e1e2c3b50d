//! Refunds and disputes.

use super::*;
use crate::core::script;

impl Shop {
    /// Calls a script route.
    fn script(&mut self, path: &str, query: &str) -> Result<Value, Refusal> {
        let params = Params::new(url::form_urlencoded::parse(query.as_bytes()).into_owned())?;
        script::call(&mut self.db, "POST", path, &params)
    }

    fn charge_of(&mut self, intent: &str) -> Value {
        self.get(&format!("payment_intents/{intent}"))["latest_charge"]
            .as_str()
            .map(|charge| charge.to_owned())
            .map(|charge| self.get(&format!("charges/{charge}")))
            .unwrap()
    }
}

fn paid(shop: &mut Shop) -> String {
    let session = shop.once(500, "");
    let intent = shop.act(&session, Action::Pay).unwrap().intent.unwrap();
    shop.sent_kinds();
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
    let once = ["refund.created", "charge.refunded"];
    assert_eq!(shop.sent_kinds(), [once, once].concat());
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
fn a_refund_on_its_way_arrives_or_fails_and_a_failed_one_gives_back() {
    let mut shop = Shop::new();
    for (word, status, back, kinds) in [
        (
            "succeed",
            "succeeded",
            500,
            vec!["refund.updated", "charge.refund.updated"],
        ),
        (
            "fail",
            "failed",
            0,
            vec!["refund.updated", "charge.refund.updated", "refund.failed"],
        ),
        (
            "cancel",
            "canceled",
            0,
            vec!["refund.updated", "charge.refund.updated"],
        ),
    ] {
        let intent = paid(&mut shop);
        shop.script(&format!("charges/{intent}"), "refunds=pending")
            .unwrap();
        let refund = shop.post("refunds", &format!("payment_intent={intent}&metadata[a]=b"));
        assert_eq!(refund["status"], "pending");
        assert_eq!(
            shop.charge_of(&intent)["refunded"],
            true,
            "as long as it may arrive"
        );
        assert_eq!(shop.sent_kinds(), ["refund.created", "charge.refunded"]);
        let path = format!("refunds/{}", id(&refund));
        for _ in 0..2 {
            let after = shop.script(&format!("{path}/{word}"), "").unwrap();
            assert_eq!(after["status"], status);
        }
        assert_eq!(shop.sent_kinds(), kinds, "once");
        assert_eq!(shop.charge_of(&intent)["amount_refunded"], back);
        let failed = shop.get(&path)["failure_reason"].as_str() == Some("unknown");
        assert_eq!(failed, word == "fail");
        assert!(shop.script(&format!("{path}/succeed"), "").is_ok() == (word == "succeed"));
    }
}

#[test]
fn a_refund_that_seemed_to_arrive_may_fail_and_be_made_again() {
    let mut shop = Shop::new();
    let intent = paid(&mut shop);
    let refund = shop.post("refunds", &format!("payment_intent={intent}&amount=300"));
    let path = format!("refunds/{}/fail", id(&refund));
    let failed = shop
        .script(&path, "failure_reason=lost_or_stolen_card")
        .unwrap();
    assert_eq!(failed["failure_reason"], "lost_or_stolen_card");
    let charge = shop.charge_of(&intent);
    assert_eq!(
        (&charge["amount_refunded"], &charge["refunded"]),
        (&0.into(), &false.into())
    );
    shop.post("refunds", &format!("payment_intent={intent}"));
    assert_eq!(shop.charge_of(&intent)["amount_refunded"], 500);
    let charge = id(&shop.charge_of(&intent));
    let query = "expand[]=refunds&expand[]=customer";
    let unfolded = shop
        .call("GET", &format!("charges/{charge}"), query)
        .unwrap();
    assert_eq!(unfolded["refunds"]["data"].as_array().unwrap().len(), 2);
    assert_eq!(unfolded["customer"]["object"], "customer");
    let wrong = shop.call("GET", &format!("charges/{charge}"), "expand[]=amount.x");
    assert!(wrong.unwrap_err().message.contains("cannot be expanded"));
}

#[test]
fn a_dispute_that_is_won_stays_so_and_shows_what_moved() {
    let mut shop = Shop::new();
    for (word, kinds, moved) in [
        (
            "win",
            vec!["charge.dispute.closed", "charge.dispute.funds_reinstated"],
            vec![-500, 500],
        ),
        ("lose", vec!["charge.dispute.closed"], vec![-500]),
    ] {
        let intent = paid(&mut shop);
        let form = format!("payment_intent={intent}");
        let dispute = shop.script("disputes", &form).unwrap();
        assert_eq!(dispute["status"], "needs_response");
        assert_eq!(
            shop.sent_kinds(),
            ["charge.dispute.created", "charge.dispute.funds_withdrawn"]
        );
        assert!(
            shop.script("disputes", &form).is_err(),
            "nothing is left of it"
        );
        let refused = shop.call("POST", "refunds", &form);
        assert_eq!(refused.unwrap_err().code, Some("charge_disputed"));
        let path = format!("disputes/{}", id(&dispute));
        shop.post(&path, "evidence[uncategorized_text]=it+was+there");
        assert_eq!(shop.get(&path)["status"], "under_review");
        assert_eq!(shop.sent_kinds(), ["charge.dispute.updated"]);
        for _ in 0..2 {
            shop.script(&format!("{path}/{word}"), "").unwrap();
        }
        if word == "win" {
            assert!(shop.script(&format!("{path}/lose"), "").is_err());
        }
        assert_eq!(shop.sent_kinds(), kinds);
        let view = shop.get(&path);
        let movements = view["balance_transactions"].as_array().unwrap().iter();
        let amounts: Vec<i64> = movements
            .map(|one| one["amount"].as_i64().unwrap())
            .collect();
        assert_eq!(amounts, moved);
        if word == "lose" {
            // A bank may reverse its decision.
            shop.script(&format!("{path}/win"), "").unwrap();
            assert_eq!(shop.get(&path)["status"], "won");
            let kinds = ["charge.dispute.closed", "charge.dispute.funds_reinstated"];
            assert_eq!(shop.sent_kinds(), kinds);
            assert!(shop.script(&format!("{path}/lose"), "").is_err());
        }
    }
}

#[test]
fn several_disputes_of_one_payment_take_at_most_the_whole() {
    let mut shop = Shop::new();
    let intent = paid(&mut shop);
    shop.post("refunds", &format!("payment_intent={intent}&amount=100"));
    let form = format!("payment_intent={intent}");
    let first = shop
        .script("disputes", &format!("{form}&amount=150"))
        .unwrap();
    shop.script(&format!("disputes/{}/lose", id(&first)), "")
        .unwrap();
    let too_much = shop.script("disputes", &format!("{form}&amount=251"));
    assert_eq!(too_much.unwrap_err().param.as_deref(), Some("amount"));
    let second = shop.script("disputes", &form).unwrap();
    assert_eq!(second["amount"], 250, "what is left");
    let list = shop.call("GET", "disputes", &form).unwrap();
    let found: Vec<String> = list["data"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(found, [id(&second), id(&first)]);
    let other = shop.call("GET", "disputes", "charge=ch_other").unwrap();
    assert_eq!(other["data"].as_array().unwrap().len(), 0);
}

#[test]
fn an_inquiry_takes_nothing_until_it_becomes_a_dispute() {
    let mut shop = Shop::new();
    let intent = paid(&mut shop);
    let form = format!("payment_intent={intent}&inquiry=true");
    let dispute = shop.script("disputes", &form).unwrap();
    assert_eq!(dispute["status"], "warning_needs_response");
    assert_eq!(dispute["is_charge_refundable"], true);
    assert_eq!(dispute["balance_transactions"].as_array().unwrap().len(), 0);
    assert_eq!(shop.sent_kinds(), ["charge.dispute.created"]);
    let path = format!("disputes/{}", id(&dispute));
    let demand = shop.script(&format!("{path}/escalate"), "").unwrap();
    assert_eq!(demand["status"], "needs_response");
    assert_eq!(demand["balance_transactions"][0]["amount"], -500);
    assert_eq!(
        shop.sent_kinds(),
        ["charge.dispute.updated", "charge.dispute.funds_withdrawn"]
    );
    assert_eq!(shop.post(&format!("{path}/close"), "")["status"], "lost");

    let intent = paid(&mut shop);
    let form = format!("payment_intent={intent}&inquiry=true");
    let dispute = shop.script("disputes", &form).unwrap();
    shop.post("refunds", &format!("payment_intent={intent}"));
    let path = format!("disputes/{}/", id(&dispute));
    assert!(
        shop.script(&format!("{path}escalate"), "").is_err(),
        "it went back"
    );
    let closed = shop.script(&format!("{path}win"), "").unwrap();
    assert_eq!(closed["status"], "warning_closed");
}

#[test]
fn an_invoice_is_paid_by_several_payments_which_are_listed_and_unfolded() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.card_declines(&subscription, true);
    shop.until(months(1) + HOUR);
    shop.card_declines(&subscription, false);
    let invoice = shop.invoice_of(&subscription).head.id;
    let path = format!("invoices/{invoice}");
    let part = shop
        .script(&format!("{path}/pay_part"), "amount=900")
        .unwrap();
    assert_eq!(
        (&part["status"], &part["amount_paid"]),
        (&"open".into(), &900.into())
    );
    let all = shop.script(&format!("{path}/pay_part"), "amount=1000");
    assert_eq!(all.unwrap_err().param.as_deref(), Some("amount"));
    let paid = shop.post(&format!("{path}/pay"), "");
    assert_eq!(
        (
            &paid["status"],
            &paid["amount_paid"],
            &paid["amount_remaining"]
        ),
        (&"paid".into(), &1900.into(), &0.into())
    );
    let query = "expand[]=payments.data.payment.payment_intent.latest_charge";
    let view = shop.call("GET", &path, query).unwrap();
    let payments = view["payments"]["data"].as_array().unwrap();
    let amounts: Vec<&Value> = payments.iter().map(|one| &one["amount_paid"]).collect();
    assert_eq!(amounts, [900, 1000]);
    for payment in payments {
        let charge = &payment["payment"]["payment_intent"]["latest_charge"];
        assert_eq!(charge["amount"], payment["amount_paid"]);
        assert_eq!(charge["created"], months(1) + HOUR);
    }
    let query = format!("created[gte]={}&limit=1", months(1));
    let page = shop.call("GET", "charges", &query).unwrap();
    assert_eq!(
        (page["data"].as_array().unwrap().len(), &page["has_more"]),
        (1, &true.into())
    );
}

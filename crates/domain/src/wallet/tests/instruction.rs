//! What a caller has the provider do: requested once, counted until the payment shows it, undone by a refusal.

use super::{
    key,
    shop::{CLUB, DAY, pack, paying, sub, tier, unlock},
    teller::{Done, Teller},
};
use crate::{
    Rejection,
    history::{Record, RecordKey},
    id::{OrderSerial, ProductId, ProjectId, PublicSubscriptionId},
    text::PaymentId,
    wallet::{
        Instruction, InstructionStage, NamedSubscription, OrderStatus, RefundPart,
        SubscriptionStatus,
        cancel::Cancel,
        refund::{Refund, Refundable},
        resume::Resume,
    },
};

const ASKED: Result<Done<Instruction>, Rejection> = Ok(Done::Applied);

fn refund(order: u128, cents: Option<i64>, name: &str) -> Refund {
    Refund {
        order: OrderSerial(order),
        amount_cents: cents,
        key: key(name),
        payments: None,
    }
}

/// A refund of an order whose bill was paid in parts, of which this much is left.
fn refund_of_parts(cents: Option<i64>, name: &str, parts: &[i64]) -> Refund {
    let parts = parts.iter().zip(1..);
    let payments = parts.map(|(&cents, number)| Refundable {
        payment: part(number),
        cents,
    });
    Refund {
        payments: Some(payments.collect()),
        ..refund(1, cents, name)
    }
}

fn part(number: u32) -> PaymentId {
    PaymentId::new(format!("pi_part_{number}")).unwrap()
}

fn left(refundable_cents: i64) -> Result<Done<Instruction>, Rejection> {
    Err(Rejection::AlreadyRefunded { refundable_cents })
}

/// 100 credits bought for 10.00 as order 1.
fn bought() -> Teller {
    let mut teller = Teller::new();
    teller.buy(1, pack());
    teller
}

fn close(teller: &mut Teller, name: &str, stage: InstructionStage) -> bool {
    teller.close(RecordKey::Refund(name), stage)
}

#[test]
fn a_refund_is_asked_for_until_it_is_done_and_not_again() {
    let mut teller = bought();
    assert_eq!(teller.ask_refund(refund(1, Some(400), "k")), ASKED);
    let version = teller.wallet.version;
    assert_eq!(teller.gold(), 100, "nothing went back yet");
    assert_eq!(
        teller.ask_refund(refund(1, Some(400), "k")),
        ASKED,
        "nobody knows"
    );
    assert_eq!(teller.wallet.version, version, "it is logged once");
    assert!(close(&mut teller, "k", InstructionStage::Done));
    let done = Instruction::Refund {
        order: OrderSerial(1),
        requested: Some(400),
        cents: 400,
        parts: vec![RefundPart {
            payment: teller.placed_order(1).payment.clone().unwrap(),
            cents: 400,
        }],
        round: 0,
    };
    let replay = teller.ask_refund(refund(1, Some(400), "k"));
    assert_eq!(replay, Ok(Done::Replayed(done)));
    assert!(
        !close(&mut teller, "k", InstructionStage::REFUSED),
        "it is done"
    );
    assert_eq!(teller.placed_order(1).refundable_cents(), 600);
    teller.refund(1, 400);
    assert_eq!(
        (teller.gold(), teller.placed_order(1).pending_refunds),
        (60, None)
    );
    assert_eq!(teller.placed_order(1).refundable_cents(), 600);
}

#[test]
fn a_key_is_of_one_order_and_one_amount() {
    let mut teller = bought();
    teller.buy(2, pack());
    teller.ask_refund(refund(1, Some(400), "k")).unwrap();
    for other in [
        refund(1, Some(401), "k"),
        refund(1, None, "k"),
        refund(2, Some(400), "k"),
    ] {
        assert_eq!(teller.ask_refund(other), Err(Rejection::KeyReused));
    }
    let unknown = refund(9, Some(400), "k");
    assert_eq!(teller.ask_refund(unknown), Err(Rejection::OrderNotFound));
    assert_eq!(teller.ask_refund(refund(1, Some(400), "other")), ASKED);
}

#[test]
fn what_is_asked_for_counts_until_it_is_seen() {
    let mut teller = bought();
    teller.ask_refund(refund(1, Some(400), "a")).unwrap();
    assert_eq!(teller.ask_refund(refund(1, Some(601), "b")), left(600));
    assert_eq!(teller.ask_refund(refund(1, Some(600), "b")), ASKED);
    assert_eq!(teller.ask_refund(refund(1, None, "c")), left(0));
    // The payment shows one of them, then both: nothing counts twice.
    teller.refund(1, 400);
    assert_eq!(teller.placed_order(1).refundable_cents(), 0);
    teller.refund(1, 1000);
    assert_eq!(teller.placed_order(1).refundable_cents(), 0);
    assert_eq!(teller.placed_order(1).status(), OrderStatus::Refunded);
    // One of them failed in the end.
    teller.refund(1, 400);
    assert_eq!(teller.placed_order(1).refundable_cents(), 600);
}

#[test]
fn a_refusal_frees_what_it_counted_and_uses_up_no_key() {
    let mut teller = bought();
    teller.ask_refund(refund(1, Some(400), "a")).unwrap();
    teller.ask_refund(refund(1, Some(300), "b")).unwrap();
    assert!(close(&mut teller, "a", InstructionStage::REFUSED));
    assert!(!close(&mut teller, "a", InstructionStage::REFUSED), "once");
    assert_eq!(teller.placed_order(1).refundable_cents(), 700);
    assert_eq!(teller.ask_refund(refund(1, Some(700), "a")), ASKED);
    assert_eq!(teller.placed_order(1).refundable_cents(), 0);
    assert!(close(&mut teller, "a", InstructionStage::REFUSED));
    assert!(close(&mut teller, "b", InstructionStage::REFUSED));
    assert_eq!(teller.placed_order(1).pending_refunds, None);
    let stages = teller.records.iter().filter_map(Record::instructed);
    assert_eq!(stages.count(), 6, "each step is in the history");
}

#[test]
fn without_an_amount_it_is_all_that_is_left() {
    let mut teller = bought();
    teller.refund(1, 250);
    assert_eq!(teller.ask_refund(refund(1, None, "k")), ASKED);
    let asked = teller.last_instructed(RecordKey::Refund("k")).unwrap();
    let Instruction::Refund { cents, .. } = asked.instruction else {
        panic!("{asked:?}")
    };
    assert_eq!(cents, 750);
}

#[test]
fn what_is_disputed_is_not_there_to_be_given_back() {
    let mut teller = bought();
    teller.reverse(1, 100, 300);
    assert_eq!(teller.ask_refund(refund(1, Some(601), "k")), left(600));
    teller.reverse(1, 100, 0);
    assert_eq!(teller.ask_refund(refund(1, Some(900), "k")), ASKED);
}

#[test]
fn of_what_is_not_paid_nothing_is_left() {
    let mut teller = Teller::new();
    assert_eq!(
        teller.ask_refund(refund(1, None, "k")),
        Err(Rejection::OrderNotFound)
    );
    teller.order(1, pack()).unwrap();
    assert_eq!(teller.ask_refund(refund(1, None, "k")), left(0));
    assert_eq!(teller.ask_refund(refund(1, Some(1), "k")), left(0));
    teller.pass_seconds(2 * DAY);
    assert_eq!(teller.ask_refund(refund(1, None, "k")), left(0), "expired");
    teller.order(2, unlock("pro")).unwrap();
    teller.pay(2, 0).unwrap();
    assert_eq!(teller.ask_refund(refund(2, None, "k")), left(0), "free");
    assert_eq!(teller.ask_refund(refund(2, Some(0), "k")), left(0));
    assert_eq!(teller.ask_refund(refund(2, Some(-1), "k")), left(0));
}

#[test]
fn what_is_not_seen_an_hour_later_did_not_happen() {
    let mut teller = bought();
    teller.ask_refund(refund(1, Some(400), "a")).unwrap();
    teller.pass_seconds(3599);
    teller.refund(1, 100);
    assert_eq!(teller.placed_order(1).refundable_cents(), 600);
    teller.pass_seconds(1);
    teller.refund(1, 100);
    assert_eq!(teller.placed_order(1).refundable_cents(), 900);
    assert_eq!(
        teller.ask_refund(refund(1, Some(400), "a")),
        ASKED,
        "who asked may still ask"
    );
}

fn cancel(product: ProductId, at_period_end: bool, name: &str) -> Cancel {
    Cancel {
        named: NamedSubscription::Of(product),
        at_period_end,
        key: key(name),
    }
}

fn resume(product: ProductId, name: &str) -> Resume {
    Resume {
        named: NamedSubscription::Of(product),
        key: key(name),
    }
}

#[test]
fn a_subscription_is_canceled_and_resumed_by_its_product() {
    let mut teller = Teller::new();
    let unknown = Err(Rejection::SubscriptionNotFound);
    assert_eq!(teller.cancel(cancel(CLUB, true, "c")), unknown);
    assert_eq!(teller.resume(resume(CLUB, "r")), unknown);
    teller.subscribe(1, 1, tier("basic", 100));
    assert_eq!(teller.cancel(cancel(ProductId(99), true, "c")), unknown);
    assert_eq!(teller.cancel(cancel(CLUB, true, "c")), ASKED);
    assert_eq!(
        teller.cancel(cancel(CLUB, true, "c")),
        ASKED,
        "nobody knows"
    );
    let reused = Err(Rejection::KeyReused);
    assert_eq!(teller.cancel(cancel(CLUB, false, "c")), reused);
    assert_eq!(teller.cancel(cancel(ProductId(99), true, "c")), reused);
    assert!(teller.close(RecordKey::Cancel("c"), InstructionStage::Done));
    assert!(matches!(
        teller.cancel(cancel(CLUB, true, "c")),
        Ok(Done::Replayed(_))
    ));
    // The same key names another operation.
    assert_eq!(teller.resume(resume(CLUB, "c")), ASKED);
    assert_eq!(teller.resume(resume(ProductId(99), "c")), reused);
    assert!(teller.close(RecordKey::Resume("c"), InstructionStage::REFUSED));
    assert_eq!(teller.resume(resume(CLUB, "c")), ASKED);
}

/// Subscriptions to one product are told apart by what callers call them; their own ids are the provider's.
#[test]
fn of_several_to_one_product_each_is_named_by_its_id() {
    let mut teller = Teller::new();
    for number in [1, 2] {
        teller.order(number, tier("basic", 100)).unwrap();
    }
    for number in [1, 2] {
        let mut pay = paying(number, 900);
        pay.billing = Some(teller.billing(number));
        teller.pay_with(pay).unwrap();
    }
    let known: Vec<_> = teller.wallet.subscriptions().collect();
    let ids = [0, 1].map(|at: usize| teller.wallet.public_id(known[at]));
    assert_ne!(ids[0], ids[1]);
    let doubled = |teller: &Teller| teller.wallet.doubled_subscriptions().len();
    assert_eq!(doubled(&teller), 2);
    let by_id = |at: usize, product| NamedSubscription::Id(ids[at], product);
    let asked = |teller: &mut Teller, named, name: &str| {
        let at_period_end = true;
        let key = key(name);
        teller.cancel(Cancel {
            named,
            at_period_end,
            key,
        })
    };
    let ambiguous = Err(Rejection::SubscriptionAmbiguous);
    for name in ["a", "b"] {
        assert_eq!(teller.cancel(cancel(CLUB, true, name)), ambiguous);
        assert_eq!(teller.resume(resume(CLUB, name)), ambiguous);
    }
    let unknown = Err(Rejection::SubscriptionNotFound);
    assert_eq!(
        asked(&mut teller, by_id(0, Some(ProductId(99))), "c"),
        unknown
    );
    let never = NamedSubscription::Id(PublicSubscriptionId(1), None);
    assert_eq!(asked(&mut teller, never, "c"), unknown);
    assert_eq!(asked(&mut teller, by_id(0, Some(CLUB)), "c"), ASKED);
    // A key names one subscription, in one way.
    let reused = Err(Rejection::KeyReused);
    assert_eq!(asked(&mut teller, by_id(1, Some(CLUB)), "c"), reused);
    assert!(teller.close(RecordKey::Cancel("c"), InstructionStage::Done));
    let canceled = |answer: Result<Done<Instruction>, Rejection>| match answer {
        Ok(Done::Replayed(Instruction::Cancel { subscription, .. })) => subscription,
        other => panic!("{other:?}"),
    };
    let again = asked(&mut teller, by_id(0, Some(CLUB)), "c");
    assert_eq!(canceled(again), sub(1));
    // What ends with its period does not go on: the product names the other one.
    let ends = |teller: &mut Teller, number| {
        let mut report = teller.report(number);
        report.cancel_at_period_end = true;
        assert!(teller.update(report));
    };
    ends(&mut teller, 1);
    assert_eq!(doubled(&teller), 0);
    assert_eq!(teller.cancel(cancel(CLUB, true, "d")), ASKED);
    assert!(teller.close(RecordKey::Cancel("d"), InstructionStage::Done));
    assert_eq!(canceled(teller.cancel(cancel(CLUB, true, "d"))), sub(2));
    ends(&mut teller, 2);
    assert_eq!(
        teller.cancel(cancel(CLUB, true, "e")),
        ambiguous,
        "none goes on"
    );
    teller.set_status(1, SubscriptionStatus::Canceled);
    assert_eq!(
        asked(&mut teller, by_id(0, None), "f"),
        unknown,
        "it is over"
    );
    assert_eq!(teller.resume(resume(CLUB, "f")), ASKED, "the only one");
}

/// Callers keep these ids.
#[test]
fn what_callers_call_a_subscription_never_changes() {
    let id = PublicSubscriptionId::of(ProjectId(7), &sub(1)).to_string();
    assert_eq!(id, "sub_69a5qwhs66nteg8x7yqr7pq1kg");
    let elsewhere = PublicSubscriptionId::of(ProjectId(8), &sub(1)).to_string();
    assert_ne!(id, elsewhere);
}

#[test]
fn a_cancellation_that_is_done_is_known_when_the_subscription_is_gone() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, tier("basic", 100));
    assert_eq!(teller.cancel(cancel(CLUB, false, "c")), ASKED);
    assert!(teller.close(RecordKey::Cancel("c"), InstructionStage::Done));
    let end = teller
        .wallet
        .subscription(&sub(1))
        .unwrap()
        .current_period_end;
    teller.set_status(1, SubscriptionStatus::Canceled);
    let gone = teller.cancel(cancel(CLUB, false, "other"));
    assert_eq!(gone, Err(Rejection::SubscriptionNotFound));
    let again = teller.cancel(cancel(CLUB, false, "c"));
    let Ok(Done::Replayed(Instruction::Cancel { subscription, .. })) = again else {
        panic!("{again:?}")
    };
    let over = teller.records.iter().filter_map(Record::subscription_over);
    let over: Vec<_> = over.filter(|over| over.id == subscription).collect();
    let last = over[0].last.as_ref().unwrap();
    assert_eq!((last.product, last.current_period_end), (CLUB, end));
    assert_eq!(last.label.as_deref(), Some("basic"));
}

/// What each part gives back, by number and cents.
fn parts_asked(teller: &Teller, name: &str) -> (Vec<(u32, i64)>, u32) {
    let asked = teller.last_instructed(RecordKey::Refund(name)).unwrap();
    let Instruction::Refund { parts, round, .. } = &asked.instruction else {
        panic!("{asked:?}")
    };
    let number = |payment: &PaymentId| (1..9).find(|&number| part(number) == *payment);
    let parts = parts
        .iter()
        .map(|it| (number(&it.payment).unwrap(), it.cents));
    (parts.collect(), *round)
}

#[test]
fn each_payment_of_a_bill_gives_back_its_part() {
    for (cents, left, expected) in [
        (None, &[600, 400][..], &[(1, 600), (2, 400)][..]),
        (Some(1000), &[600, 400], &[(1, 600), (2, 400)]),
        (Some(601), &[600, 400], &[(1, 600), (2, 1)]),
        // One refund is done or not: one payment where one has all of it.
        (Some(500), &[600, 400], &[(1, 500)]),
        (Some(500), &[400, 600], &[(2, 500)]),
        (Some(300), &[0, 400], &[(2, 300)]),
        // All that is left is what the provider has left.
        (None, &[0, 300], &[(2, 300)]),
        (None, &[100, 0, 200], &[(1, 100), (3, 200)]),
        // An invoice's payments may be for more than this order.
        (None, &[800, 800], &[(1, 800), (2, 200)]),
    ] {
        let mut teller = bought();
        assert_eq!(
            teller.ask_refund(refund_of_parts(cents, "k", left)),
            ASKED,
            "{left:?}"
        );
        assert_eq!(
            parts_asked(&teller, "k"),
            (expected.to_vec(), 0),
            "{left:?}"
        );
    }
    let mut teller = bought();
    let much = refund_of_parts(Some(301), "k", &[100, 200]);
    assert_eq!(teller.ask_refund(much), left(300));
    assert_eq!(
        teller.ask_refund(refund_of_parts(None, "k", &[0, 0])),
        left(0)
    );
}

#[test]
fn what_one_part_gave_stays_given_where_another_is_refused() {
    let mut teller = bought();
    let all = refund_of_parts(None, "k", &[600, 400]);
    assert_eq!(teller.ask_refund(all), ASKED);
    let stage = InstructionStage::Refused { given_cents: 600 };
    assert!(close(&mut teller, "k", stage));
    // Before the payments show it, and afterwards.
    assert_eq!(teller.placed_order(1).refundable_cents(), 400);
    teller.refund(1, 600);
    assert_eq!(teller.placed_order(1).refundable_cents(), 400);
    assert_eq!(teller.placed_order(1).pending_refunds, None);
    // Its key is free for the rest, under other names than those of the parts that were given.
    assert_eq!(
        teller.ask_refund(refund_of_parts(None, "k", &[0, 400])),
        ASKED
    );
    assert_eq!(parts_asked(&teller, "k"), (vec![(2, 400)], 1));
    assert!(close(&mut teller, "k", InstructionStage::REFUSED));
    assert_eq!(
        teller.ask_refund(refund_of_parts(None, "k", &[0, 400])),
        ASKED
    );
    assert_eq!(
        parts_asked(&teller, "k").1,
        1,
        "a refusal of all needs no new name"
    );
    assert!(close(&mut teller, "k", InstructionStage::Done));
    teller.refund(1, 1000);
    assert_eq!(teller.placed_order(1).status(), OrderStatus::Refunded);
}

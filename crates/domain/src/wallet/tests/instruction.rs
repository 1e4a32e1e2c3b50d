//! What a caller has the provider do: requested once, counted until the payment shows it, undone by a refusal.

use super::{
    driver::{Done, Driver},
    key,
    shop::{CLUB, DAY, pack, paying, sub, tier, unlock},
};
use crate::{
    Rejection,
    history::{Record, RecordKey},
    id::{OrderSerial, ProductId, ProjectId, PublicSubscriptionId},
    text::PaymentId,
    wallet::{
        Instruction, InstructionStage, NamedSubscription, OrderStatus, RefundPart,
        SubscriptionAction, SubscriptionInstruction, SubscriptionStatus,
        refund::{Refund, Refundable},
    },
};

const REQUESTED: Result<Done<Instruction>, Rejection> = Ok(Done::Applied);

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
fn bought() -> Driver {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver
}

fn close(driver: &mut Driver, name: &str, stage: InstructionStage) -> bool {
    driver.close(RecordKey::Refund(name), stage)
}

#[test]
fn a_refund_is_asked_for_until_it_is_done_and_not_again() {
    let mut driver = bought();
    assert_eq!(driver.ask_refund(refund(1, Some(400), "k")), REQUESTED);
    let version = driver.wallet.version;
    assert_eq!(driver.gold(), 100, "nothing went back yet");
    assert_eq!(
        driver.ask_refund(refund(1, Some(400), "k")),
        REQUESTED,
        "nobody knows"
    );
    assert_eq!(driver.wallet.version, version, "it is logged once");
    assert!(close(&mut driver, "k", InstructionStage::Done));
    let done = Instruction::Refund {
        order: OrderSerial(1),
        requested: Some(400),
        cents: 400,
        parts: vec![RefundPart {
            payment: driver.placed_order(1).payment.clone().unwrap(),
            cents: 400,
        }],
        round: 0,
    };
    let replay = driver.ask_refund(refund(1, Some(400), "k"));
    assert_eq!(replay, Ok(Done::Replayed(done)));
    assert!(
        !close(&mut driver, "k", InstructionStage::REFUSED),
        "it is done"
    );
    assert_eq!(driver.placed_order(1).refundable_cents(), 600);
    driver.refund(1, 400);
    assert_eq!(
        (driver.gold(), driver.placed_order(1).pending_refunds),
        (60, None)
    );
    assert_eq!(driver.placed_order(1).refundable_cents(), 600);
}

#[test]
fn a_key_is_of_one_order_and_one_amount() {
    let mut driver = bought();
    driver.buy(2, pack());
    driver.ask_refund(refund(1, Some(400), "k")).unwrap();
    for other in [
        refund(1, Some(401), "k"),
        refund(1, None, "k"),
        refund(2, Some(400), "k"),
    ] {
        assert_eq!(driver.ask_refund(other), Err(Rejection::KeyReused));
    }
    let unknown = refund(9, Some(400), "k");
    assert_eq!(driver.ask_refund(unknown), Err(Rejection::OrderNotFound));
    assert_eq!(driver.ask_refund(refund(1, Some(400), "other")), REQUESTED);
}

#[test]
fn what_is_asked_for_counts_until_it_is_seen() {
    let mut driver = bought();
    driver.ask_refund(refund(1, Some(400), "a")).unwrap();
    assert_eq!(driver.ask_refund(refund(1, Some(601), "b")), left(600));
    assert_eq!(driver.ask_refund(refund(1, Some(600), "b")), REQUESTED);
    assert_eq!(driver.ask_refund(refund(1, None, "c")), left(0));
    // The payment shows one of them, then both: nothing counts twice.
    driver.refund(1, 400);
    assert_eq!(driver.placed_order(1).refundable_cents(), 0);
    driver.refund(1, 1000);
    assert_eq!(driver.placed_order(1).refundable_cents(), 0);
    assert_eq!(driver.placed_order(1).status(), OrderStatus::Refunded);
    // One of them failed in the end.
    driver.refund(1, 400);
    assert_eq!(driver.placed_order(1).refundable_cents(), 600);
}

#[test]
fn a_refusal_frees_what_it_counted_and_uses_up_no_key() {
    let mut driver = bought();
    driver.ask_refund(refund(1, Some(400), "a")).unwrap();
    driver.ask_refund(refund(1, Some(300), "b")).unwrap();
    assert!(close(&mut driver, "a", InstructionStage::REFUSED));
    assert!(!close(&mut driver, "a", InstructionStage::REFUSED), "once");
    assert_eq!(driver.placed_order(1).refundable_cents(), 700);
    assert_eq!(driver.ask_refund(refund(1, Some(700), "a")), REQUESTED);
    assert_eq!(driver.placed_order(1).refundable_cents(), 0);
    assert!(close(&mut driver, "a", InstructionStage::REFUSED));
    assert!(close(&mut driver, "b", InstructionStage::REFUSED));
    assert_eq!(driver.placed_order(1).pending_refunds, None);
    let stages = driver.records.iter().filter_map(Record::instructed);
    assert_eq!(stages.count(), 6, "each step is in the history");
}

#[test]
fn without_an_amount_it_is_all_that_is_left() {
    let mut driver = bought();
    driver.refund(1, 250);
    assert_eq!(driver.ask_refund(refund(1, None, "k")), REQUESTED);
    let requested = driver.last_instructed(RecordKey::Refund("k")).unwrap();
    let Instruction::Refund { cents, .. } = requested.instruction else {
        panic!("{requested:?}")
    };
    assert_eq!(cents, 750);
}

#[test]
fn what_is_disputed_is_not_there_to_be_given_back() {
    let mut driver = bought();
    driver.reverse(1, 100, 300);
    assert_eq!(driver.ask_refund(refund(1, Some(601), "k")), left(600));
    driver.reverse(1, 100, 0);
    assert_eq!(driver.ask_refund(refund(1, Some(900), "k")), REQUESTED);
}

#[test]
fn of_what_is_not_paid_nothing_is_left() {
    let mut driver = Driver::new();
    assert_eq!(
        driver.ask_refund(refund(1, None, "k")),
        Err(Rejection::OrderNotFound)
    );
    driver.order(1, pack()).unwrap();
    assert_eq!(driver.ask_refund(refund(1, None, "k")), left(0));
    assert_eq!(driver.ask_refund(refund(1, Some(1), "k")), left(0));
    driver.pass_seconds(2 * DAY);
    assert_eq!(driver.ask_refund(refund(1, None, "k")), left(0), "expired");
    driver.order(2, unlock("pro")).unwrap();
    driver.pay(2, 0).unwrap();
    assert_eq!(driver.ask_refund(refund(2, None, "k")), left(0), "free");
    assert_eq!(driver.ask_refund(refund(2, Some(0), "k")), left(0));
    assert_eq!(driver.ask_refund(refund(2, Some(-1), "k")), left(0));
}

#[test]
fn what_is_not_seen_an_hour_later_did_not_happen() {
    let mut driver = bought();
    driver.ask_refund(refund(1, Some(400), "a")).unwrap();
    driver.pass_seconds(3599);
    driver.refund(1, 100);
    assert_eq!(driver.placed_order(1).refundable_cents(), 600);
    driver.pass_seconds(1);
    driver.refund(1, 100);
    assert_eq!(driver.placed_order(1).refundable_cents(), 900);
    assert_eq!(
        driver.ask_refund(refund(1, Some(400), "a")),
        REQUESTED,
        "the caller may still ask"
    );
}

fn cancel(product: ProductId, at_period_end: bool, name: &str) -> SubscriptionInstruction {
    SubscriptionInstruction {
        named: NamedSubscription::Of(product),
        action: SubscriptionAction::Cancel { at_period_end },
        key: key(name),
    }
}

fn resume(product: ProductId, name: &str) -> SubscriptionInstruction {
    SubscriptionInstruction {
        action: SubscriptionAction::Resume,
        ..cancel(product, false, name)
    }
}

#[test]
fn a_subscription_is_canceled_and_resumed_by_its_product() {
    let mut driver = Driver::new();
    let unknown = Err(Rejection::SubscriptionNotFound);
    assert_eq!(driver.ask_instruction(cancel(CLUB, true, "c")), unknown);
    assert_eq!(driver.ask_instruction(resume(CLUB, "r")), unknown);
    driver.subscribe(1, 1, tier("basic", 100));
    assert_eq!(
        driver.ask_instruction(cancel(ProductId(99), true, "c")),
        unknown
    );
    assert_eq!(driver.ask_instruction(cancel(CLUB, true, "c")), REQUESTED);
    assert_eq!(
        driver.ask_instruction(cancel(CLUB, true, "c")),
        REQUESTED,
        "nobody knows"
    );
    let reused = Err(Rejection::KeyReused);
    assert_eq!(driver.ask_instruction(cancel(CLUB, false, "c")), reused);
    assert_eq!(
        driver.ask_instruction(cancel(ProductId(99), true, "c")),
        reused
    );
    assert!(driver.close(RecordKey::Cancel("c"), InstructionStage::Done));
    assert!(matches!(
        driver.ask_instruction(cancel(CLUB, true, "c")),
        Ok(Done::Replayed(_))
    ));
    // The same key names another operation.
    assert_eq!(driver.ask_instruction(resume(CLUB, "c")), REQUESTED);
    assert_eq!(driver.ask_instruction(resume(ProductId(99), "c")), reused);
    assert!(driver.close(RecordKey::Resume("c"), InstructionStage::REFUSED));
    assert_eq!(driver.ask_instruction(resume(CLUB, "c")), REQUESTED);
}

/// Subscriptions to one product are named by their public ids; the others are the provider's.
#[test]
fn of_several_to_one_product_each_is_named_by_its_id() {
    let mut driver = Driver::new();
    for number in [1, 2] {
        driver.order(number, tier("basic", 100)).unwrap();
    }
    for number in [1, 2] {
        let mut pay = paying(number, 900);
        pay.billing = Some(driver.billing(number));
        driver.pay_with(pay).unwrap();
    }
    let existing: Vec<_> = driver.wallet.subscriptions().collect();
    let ids = [0, 1].map(|at: usize| driver.wallet.public_id(existing[at]));
    assert_ne!(ids[0], ids[1]);
    let doubled = |driver: &Driver| driver.wallet.doubled_subscriptions().len();
    assert_eq!(doubled(&driver), 2);
    let by_id = |at: usize, product| NamedSubscription::Id(ids[at], product);
    let requested = |driver: &mut Driver, named, name: &str| {
        driver.ask_instruction(SubscriptionInstruction {
            named,
            ..cancel(CLUB, true, name)
        })
    };
    let ambiguous = Err(Rejection::SubscriptionAmbiguous);
    for name in ["a", "b"] {
        assert_eq!(driver.ask_instruction(cancel(CLUB, true, name)), ambiguous);
        assert_eq!(driver.ask_instruction(resume(CLUB, name)), ambiguous);
    }
    let unknown = Err(Rejection::SubscriptionNotFound);
    assert_eq!(
        requested(&mut driver, by_id(0, Some(ProductId(99))), "c"),
        unknown
    );
    let never = NamedSubscription::Id(PublicSubscriptionId(1), None);
    assert_eq!(requested(&mut driver, never, "c"), unknown);
    assert_eq!(requested(&mut driver, by_id(0, Some(CLUB)), "c"), REQUESTED);
    // A key names one subscription, in one way.
    let reused = Err(Rejection::KeyReused);
    assert_eq!(requested(&mut driver, by_id(1, Some(CLUB)), "c"), reused);
    assert!(driver.close(RecordKey::Cancel("c"), InstructionStage::Done));
    let canceled = |answer: Result<Done<Instruction>, Rejection>| match answer {
        Ok(Done::Replayed(Instruction::Cancel { subscription, .. })) => subscription,
        other => panic!("{other:?}"),
    };
    let again = requested(&mut driver, by_id(0, Some(CLUB)), "c");
    assert_eq!(canceled(again), sub(1));
    // What ends with its period does not go on: the product names the other one.
    let ends = |driver: &mut Driver, number| {
        let mut report = driver.report(number);
        report.cancel_at_period_end = true;
        assert!(driver.update(report));
    };
    ends(&mut driver, 1);
    assert_eq!(doubled(&driver), 0);
    assert_eq!(driver.ask_instruction(cancel(CLUB, true, "d")), REQUESTED);
    assert!(driver.close(RecordKey::Cancel("d"), InstructionStage::Done));
    assert_eq!(
        canceled(driver.ask_instruction(cancel(CLUB, true, "d"))),
        sub(2)
    );
    ends(&mut driver, 2);
    assert_eq!(
        driver.ask_instruction(cancel(CLUB, true, "e")),
        ambiguous,
        "none goes on"
    );
    driver.set_status(1, SubscriptionStatus::Canceled);
    assert_eq!(
        requested(&mut driver, by_id(0, None), "f"),
        unknown,
        "it is over"
    );
    assert_eq!(
        driver.ask_instruction(resume(CLUB, "f")),
        REQUESTED,
        "the only one"
    );
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
    let mut driver = Driver::new();
    driver.subscribe(1, 1, tier("basic", 100));
    assert_eq!(driver.ask_instruction(cancel(CLUB, false, "c")), REQUESTED);
    assert!(driver.close(RecordKey::Cancel("c"), InstructionStage::Done));
    let end = driver
        .wallet
        .subscription(&sub(1))
        .unwrap()
        .current_period_end;
    driver.set_status(1, SubscriptionStatus::Canceled);
    let refused = driver.ask_instruction(cancel(CLUB, false, "other"));
    assert_eq!(refused, Err(Rejection::SubscriptionNotFound));
    let again = driver.ask_instruction(cancel(CLUB, false, "c"));
    let Ok(Done::Replayed(Instruction::Cancel { subscription, .. })) = again else {
        panic!("{again:?}")
    };
    let over = driver.records.iter().filter_map(Record::subscription_over);
    let over: Vec<_> = over.filter(|over| over.id == subscription).collect();
    let last = over[0].last.as_ref().unwrap();
    assert_eq!((last.product, last.current_period_end), (CLUB, end));
    assert_eq!(last.label.as_deref(), Some("basic"));
}

/// What each part gives back, by number and cents.
fn parts_asked(driver: &Driver, name: &str) -> (Vec<(u32, i64)>, u32) {
    let requested = driver.last_instructed(RecordKey::Refund(name)).unwrap();
    let Instruction::Refund { parts, round, .. } = &requested.instruction else {
        panic!("{requested:?}")
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
        let mut driver = bought();
        assert_eq!(
            driver.ask_refund(refund_of_parts(cents, "k", left)),
            REQUESTED,
            "{left:?}"
        );
        assert_eq!(
            parts_asked(&driver, "k"),
            (expected.to_vec(), 0),
            "{left:?}"
        );
    }
    let mut driver = bought();
    let much = refund_of_parts(Some(301), "k", &[100, 200]);
    assert_eq!(driver.ask_refund(much), left(300));
    assert_eq!(
        driver.ask_refund(refund_of_parts(None, "k", &[0, 0])),
        left(0)
    );
}

#[test]
fn what_one_part_gave_stays_given_where_another_is_refused() {
    let mut driver = bought();
    let all = refund_of_parts(None, "k", &[600, 400]);
    assert_eq!(driver.ask_refund(all), REQUESTED);
    let stage = InstructionStage::Refused { given_cents: 600 };
    assert!(close(&mut driver, "k", stage));
    // Before the payments show it, and afterwards.
    assert_eq!(driver.placed_order(1).refundable_cents(), 400);
    driver.refund(1, 600);
    assert_eq!(driver.placed_order(1).refundable_cents(), 400);
    assert_eq!(driver.placed_order(1).pending_refunds, None);
    // Its key is free for the rest, under other names than those of the parts that were given.
    assert_eq!(
        driver.ask_refund(refund_of_parts(None, "k", &[0, 400])),
        REQUESTED
    );
    assert_eq!(parts_asked(&driver, "k"), (vec![(2, 400)], 1));
    assert!(close(&mut driver, "k", InstructionStage::REFUSED));
    assert_eq!(
        driver.ask_refund(refund_of_parts(None, "k", &[0, 400])),
        REQUESTED
    );
    assert_eq!(
        parts_asked(&driver, "k").1,
        1,
        "a refusal of all needs no new name"
    );
    assert!(close(&mut driver, "k", InstructionStage::Done));
    driver.refund(1, 1000);
    assert_eq!(driver.placed_order(1).status(), OrderStatus::Refunded);
}

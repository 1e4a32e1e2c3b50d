//! Cards on file, through the adapter that charges them at Stripe.

use domain::{
    terms::Terms,
    text::{CardId, CustomerId, ExternalUserId, PaymentId},
    top_up::{DeclineKind, SavedCard},
    wallet::{Currency, ProviderKind},
};
use payments_port::{
    CardCharge, CardOutcome, CardSetupRequest, Error, Movement, ObjectIds, ObjectRef, Origin,
    Owners, PaidOrder, PaymentTarget, Provider as _, ProviderList, Report, Span,
};
use stripe::{PriceCache, Stripe};

use super::*;

/// A program that remembers nothing: the metadata decide.
struct Nothing;

#[async_trait]
impl ObjectIds for Nothing {
    fn find(&self, _: ProjectId, _: [u8; 16]) -> Option<String> {
        None
    }

    async fn remember(&self, _: ProjectId, _: [u8; 16], _: String) -> payments_port::Result<()> {
        Ok(())
    }

    async fn forget_all(&self, _: ProjectId) -> payments_port::Result<()> {
        Ok(())
    }
}

impl Owners for Nothing {
    fn order_of(&self, _: &ObjectRef) -> Result<Option<OrderId>, Error> {
        Ok(None)
    }

    fn terms(&self, _: PriceId) -> Option<Terms> {
        None
    }
}

fn order(number: u64) -> OrderId {
    OrderId {
        serial: OrderSerial(number.into()),
        wallet: WalletKey([7; 16]),
    }
}

fn ann() -> ExternalUserId {
    ExternalUserId::new("ann").unwrap()
}

fn reference(number: u64) -> OrderReference {
    OrderReference {
        project: PROJECT,
        order: order(number),
        price: PriceId(3),
        user: Some(ann()),
        quantity: domain::Quantity::ONE,
    }
}

fn charge_by(card: &SavedCard, number: u64) -> CardCharge {
    CardCharge {
        reference: reference(number),
        customer: card.customer.clone(),
        card: card.id.clone(),
        amount_cents: 1000,
        currency: Currency::new("EUR").unwrap(),
        description: "1,000 credits".into(),
        operation: Operation::new(format!("top_up/{}", order(number))).unwrap(),
        since: Timestamp(START),
    }
}

impl Stage {
    fn provider(&self) -> Stripe {
        let cache = Arc::new(PriceCache::new(Arc::new(Nothing)));
        let secret = SigningSecret::new(SECRET).unwrap();
        let kind = (ProviderKind::Sandbox, Some(false));
        Stripe::new(PROJECT, self.client(), vec![secret], kind, cache)
    }

    async fn fetch(&self, subject: ObjectRef) -> Vec<Report> {
        self.provider().fetch(&subject, &Nothing).await.unwrap()
    }

    async fn fetch_payment(&self, payment: &PaymentId) -> Vec<Report> {
        self.fetch(ObjectRef::Payment(payment.clone())).await
    }

    /// Saves a card on a page for that, as a user's first or for an existing customer.
    async fn saves(&self, number: &str, customer: Option<CustomerId>) -> SavedCard {
        let email = Email::new("ann@example.com").unwrap();
        let request = CardSetupRequest {
            project: PROJECT,
            user: &ann(),
            customer,
            email: Some(&email),
            return_url: "https://shop.example/account",
            locale: Some("de-AT"),
        };
        let page = self.provider().open_card_setup(&request).await.unwrap();
        let subject = ObjectRef::Checkout(page.id);
        assert_eq!(self.fetch(subject.clone()).await, [], "nothing was entered");
        let card = format!(r#"{{"card":"{number}"}}"#);
        let (status, said) = self.act(&page.url, "pay", &card).await;
        assert_eq!(status, 200, "{said}");
        if said["status"] == "open" {
            self.act(&page.url, "authenticate", "").await;
        }
        let reports = self.fetch(subject).await;
        let [Report::CardSaved(saved)] = reports.as_slice() else {
            panic!("{reports:?}");
        };
        assert_eq!(saved.user, ann());
        saved.card.clone()
    }

    async fn charges(&self, card: &SavedCard, number: u64) -> CardOutcome {
        let charge = charge_by(card, number);
        self.provider().charge_card(&charge).await.unwrap()
    }

    /// How many payments the customer has.
    async fn payments(&self, card: &SavedCard) -> usize {
        let list = format!("payment_intents?customer={}", card.customer);
        self.get(&list).await["data"].as_array().unwrap().len()
    }

    fn pass(&self, millis: i64) {
        self.set_clock(self.host.now.load(Ordering::SeqCst) + millis);
    }
}

fn paid(outcome: CardOutcome) -> PaidOrder {
    match outcome {
        CardOutcome::Paid(paid) => *paid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_card_is_saved_on_a_page_and_charged_once_without_its_owner() {
    let stage = Stage::new().await;
    let card = stage.saves("4242 4242 4242 4242", None).await;
    assert_eq!((card.brand.as_str(), card.last4.as_str()), ("visa", "4242"));
    assert_eq!(card.saved_at, Timestamp(START));
    let first = paid(stage.charges(&card, 1).await);
    assert_eq!((first.order, first.price), (order(1), Some(PriceId(3))));
    assert_eq!(
        (first.user.clone(), first.payment.amount_cents),
        (Some(ann()), 1000)
    );
    assert_eq!(first.payment.customer, Some(card.customer.clone()));
    assert_eq!(first.payment.email, Email::new("ann@example.com").ok());
    assert!(first.payment.receipt.receipt_url.is_some());
    assert_eq!(paid(stage.charges(&card, 1).await), first);
    // Stripe forgets the key after a day; the payment's name stays.
    stage.pass(2 * DAY);
    stage.run().await;
    assert_eq!(paid(stage.charges(&card, 1).await), first);
    assert_eq!(stage.payments(&card).await, 1);
    let second = paid(stage.charges(&card, 2).await);
    assert_ne!(second.payment.payment, first.payment.payment);
    // Another card of the same user is the same customer's.
    let other = stage
        .saves("4242424242424242", Some(card.customer.clone()))
        .await;
    assert_eq!(other.customer, card.customer);
    assert_ne!(other.id, card.id);
    // The report of the payment's event, and the daily list, name the order, too.
    let payment = first.payment.payment.clone().unwrap();
    let reports = stage.fetch_payment(&payment).await;
    let [Report::Paid(again), Report::Reversed(nothing)] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    assert_eq!((**again).clone(), first);
    assert_eq!(nothing.target, PaymentTarget::Order(order(1)));
    let provider = stage.provider();
    let (from, until) = (Timestamp(START - DAY), Timestamp(START + DAY));
    let listed = provider
        .list(ProviderList::Charges, from, until, None)
        .await
        .unwrap();
    let [charge] = listed.items.as_slice() else {
        panic!("{listed:?}");
    };
    assert_eq!(
        (charge.charge.order, &charge.movement),
        (Some(order(1)), &Movement::Taken)
    );
}

#[tokio::test]
async fn a_decline_says_whether_to_try_again() {
    use DeclineKind::{ActionRequired, Final, Retryable};
    let stage = Stage::new().await;
    // Stripe's numbers: docs.stripe.com/testing. Those that begin with 424200 are the sandbox's own.
    for (number, code, kind) in [
        ("4000000000000341", "generic_decline", Retryable),
        ("4000000000009995", "insufficient_funds", Retryable),
        ("4000000000006975", "card_velocity_exceeded", Retryable),
        ("4000000000000119", "processing_error", Retryable),
        ("4242000000003012", "do_not_honor", Final),
        ("4000000000009987", "lost_card", Final),
        ("4000000000009979", "stolen_card", Final),
        ("4000000000000069", "expired_card", Final),
        ("4242000000003020", "invalid_account", Final),
        ("4100000000000019", "fraudulent", Final),
        (
            "4000002760003184",
            "authentication_required",
            ActionRequired,
        ),
    ] {
        let card = stage.saves(number, None).await;
        let outcome = stage.charges(&card, 1).await;
        let CardOutcome::Declined(decline, Some(payment)) = &outcome else {
            panic!("{number}: {outcome:?}");
        };
        assert_eq!(
            (decline.code.as_str(), decline.kind),
            (code, kind),
            "{number}"
        );
        assert_eq!(stage.charges(&card, 1).await, outcome, "kept for a day");
        stage.pass(2 * DAY);
        stage.run().await;
        assert_eq!(stage.charges(&card, 1).await, outcome, "found in the list");
        assert_eq!(stage.payments(&card).await, 1);
        let report = Report::Declined(order(1), decline.clone());
        assert_eq!(stage.fetch_payment(payment).await, [report]);
        let (from, until) = (Timestamp(START), Timestamp(START + 100 * DAY));
        let provider = stage.provider();
        let charges = provider.list(ProviderList::Charges, from, until, None);
        assert_eq!(
            charges.await.unwrap().items,
            [],
            "{number}: nothing was taken"
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_is_found_and_never_charged_twice() {
    let stage = Stage::new().await;
    let provider = stage.provider();
    let card = stage.saves("4242424242424242", None).await;
    // It was done, and a proxy says that it was not: the repeat gets the answer.
    stage
        .script(
            "faults",
            "kind=lost&seconds=0&path=payment_intents&method=POST",
        )
        .await;
    paid(stage.charges(&card, 1).await);
    let busy = "kind=key_in_use&status=409&path=payment_intents&method=POST";
    stage.script("faults", busy).await;
    paid(stage.charges(&card, 2).await);
    // No repeat gets an answer.
    let lost = "kind=lost&seconds=0&times=3&path=payment_intents&method=POST";
    stage.script("faults", lost).await;
    let charge = charge_by(&card, 3);
    let unknown = provider.charge_card(&charge).await.unwrap_err();
    assert!(!unknown.nothing_was_done(), "{unknown:?}");
    let found = provider
        .find_card_charge(order(3), &card.customer, &charge.operation, charge.since)
        .await;
    let found = paid(found.unwrap().unwrap());
    assert_eq!(paid(stage.charges(&card, 3).await), found);
    // Broken before anything was done. Stripe keeps that answer for a day, so it stays unknown by its name.
    let broken = "kind=error&path=payment_intents&method=POST";
    stage.script("faults", broken).await;
    let charge = charge_by(&card, 4);
    let other = CardCharge {
        description: "renamed".into(),
        ..charge.clone()
    };
    for attempt in [&charge, &charge, &other] {
        let unknown = provider.charge_card(attempt).await.unwrap_err();
        assert!(!unknown.nothing_was_done(), "{unknown:?}");
    }
    let found = provider
        .find_card_charge(order(4), &card.customer, &charge.operation, charge.since)
        .await;
    assert_eq!(found.unwrap(), None);
    assert_eq!(stage.payments(&card).await, 3);
    stage
        .script(
            "faults",
            "kind=rate_limit&times=8&path=payment_intents&method=GET",
        )
        .await;
    let limited = provider
        .charge_card(&charge_by(&card, 5))
        .await
        .unwrap_err();
    assert!(matches!(limited, Error::Unavailable { .. }), "{limited:?}");
}

#[tokio::test]
async fn a_slow_bank_answers_by_the_clock() {
    let stage = Stage::new().await;
    for (number, pays) in [("4242000000003038", true), ("4242000000003046", false)] {
        let card = stage.saves(number, None).await;
        let outcome = stage.charges(&card, 1).await;
        let CardOutcome::Processing(payment) = &outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(stage.charges(&card, 1).await, outcome);
        assert_eq!(
            stage.fetch_payment(payment).await,
            [Report::Processing(order(1))]
        );
        let refused = stage.provider().cancel_card_charge(payment).await;
        assert!(refused.unwrap_err().is_refusal());
        let begun = stage.host.now.load(Ordering::SeqCst);
        let due = stage.sandbox.next_due(PROJECT).await.unwrap();
        assert_eq!(due, Some(Timestamp(begun + 3 * DAY)));
        stage.pass(3 * DAY);
        stage.run().await;
        let reports = stage.fetch_payment(payment).await;
        let is_paid = matches!(reports.first(), Some(Report::Paid(_)));
        let is_declined = matches!(reports.first(), Some(Report::Declined(..)));
        assert_eq!((is_paid, is_declined), (pays, !pays), "{reports:?}");
    }
    // Scripts may answer for the bank, and let a card become another.
    let card = stage.saves("4242424242424242", None).await;
    let customer = format!("customers/{}", card.customer);
    stage.script(&customer, "card=4242000000003038").await;
    let CardOutcome::Processing(payment) = stage.charges(&card, 2).await else {
        panic!("a card that waits")
    };
    assert_eq!(
        stage
            .script(&format!("payment_intents/{payment}/fail"), "")
            .await
            .0,
        200
    );
    assert_eq!(
        stage
            .script(&format!("payment_intents/{payment}/fail"), "")
            .await
            .0,
        400
    );
    assert!(matches!(
        stage.fetch_payment(&payment).await.as_slice(),
        [Report::Declined(..)]
    ));
    stage.script(&customer, "card=4242424242424242").await;
    paid(stage.charges(&card, 3).await);
    stage.script(&customer, "declines=true").await;
    assert!(matches!(
        stage.charges(&card, 4).await,
        CardOutcome::Declined(..)
    ));
    stage.script(&customer, "declines=false").await;
    // Bank debits: docs.stripe.com/payments/bank-debits.
    stage
        .script("fault-profile", "debits_fail_after_seconds=3600")
        .await;
    assert!(matches!(
        stage.charges(&card, 5).await,
        CardOutcome::Processing(_)
    ));
    stage.pass(3_600_000);
    stage.run().await;
    assert!(matches!(
        stage.charges(&card, 5).await,
        CardOutcome::Declined(..)
    ));
}

#[tokio::test]
async fn a_payment_that_waits_for_its_buyer_is_closed_and_a_card_is_forgotten() {
    let stage = Stage::new().await;
    let provider = stage.provider();
    let card = stage.saves("4000002760003184", None).await;
    let CardOutcome::Declined(decline, Some(payment)) = stage.charges(&card, 1).await else {
        panic!("the bank asks")
    };
    for _ in ["once", "again"] {
        provider.cancel_card_charge(&payment).await.unwrap();
    }
    let closed = Report::Declined(order(1), decline);
    assert_eq!(stage.fetch_payment(&payment).await, [closed]);
    let works = stage
        .saves("4242424242424242", Some(card.customer.clone()))
        .await;
    let paid = paid(stage.charges(&works, 2).await)
        .payment
        .payment
        .unwrap();
    let refused = provider.cancel_card_charge(&paid).await;
    assert!(refused.unwrap_err().is_refusal());
    for _ in ["once", "again"] {
        provider.forget_card(&works.id).await.unwrap();
    }
    provider
        .forget_card(&CardId::new("pm_of_nobody").unwrap())
        .await
        .unwrap();
    // Stripe refuses it: the customer does not have it, and it may not be used again.
    let outcome = stage.charges(&works, 3).await;
    let CardOutcome::Declined(decline, None) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(decline.kind, DeclineKind::Final);
    let unknown = SavedCard {
        id: CardId::new("pm_of_nobody").unwrap(),
        ..works.clone()
    };
    assert!(matches!(
        stage.charges(&unknown, 4).await,
        CardOutcome::Declined(_, None)
    ));
    // What is wrong with the request is not the card's fault.
    let small = CardCharge {
        amount_cents: 1,
        ..charge_by(&stage.saves("4242424242424242", None).await, 5)
    };
    let refused = provider.charge_card(&small).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(_)) && refused.nothing_was_done());
}

#[tokio::test]
async fn a_checkout_saves_its_card() {
    let stage = Stage::new().await;
    let (product, price) = (product("Credits"), new_price(3, 500));
    let price = Price {
        interval: Interval::OneTime,
        ..price
    };
    let checkout = async |number: u64, customer: Option<CustomerId>, save_card: bool| {
        let request = CheckoutRequest {
            reference: reference(number),
            product: &product,
            price: &price,
            customer,
            email: None,
            discount: &Discount::None,
            success_url: "https://shop.example/ok",
            cancel_url: "https://shop.example/no",
            locale: None,
            save_card,
            asks: CheckoutSettings::NONE,
        };
        stage.provider().open_checkout(&request).await.unwrap()
    };
    let card_of = async |page: payments_port::CheckoutPage| {
        let reports = stage.fetch(ObjectRef::Checkout(page.id)).await;
        match reports.as_slice() {
            [Report::Paid(paid)] => paid.saved_card.clone(),
            other => panic!("{other:?}"),
        }
    };
    let page = checkout(1, None, true).await;
    for (card, status) in [
        ("4000000000009995", 402),
        ("4000000000000341", 402),
        ("1234", 400),
        ("4242424242424242", 200),
    ] {
        let json = format!(r#"{{"email":"ann@example.com","card":"{card}"}}"#);
        assert_eq!(stage.act(&page.url, "pay", &json).await.0, status, "{card}");
    }
    let card = card_of(page).await.unwrap();
    paid(stage.charges(&card, 2).await);
    let page = checkout(3, Some(card.customer.clone()), true).await;
    let (_, said) = stage
        .act(&page.url, "pay", r#"{"card":"4000002760003184"}"#)
        .await;
    assert_eq!(said["status"], "open", "its bank asks first");
    stage.act(&page.url, "authenticate", "").await;
    let other = card_of(page).await.unwrap();
    assert_eq!(
        (other.customer, other.last4.as_str()),
        (card.customer.clone(), "3184")
    );
    let page = checkout(4, Some(card.customer), false).await;
    stage.act(&page.url, "pay", "").await;
    assert_eq!(card_of(page).await, None, "nobody asked for it");
}

#[tokio::test]
async fn what_became_of_it_is_in_the_list_of_events_and_so_is_a_dispute() {
    let stage = Stage::new().await;
    let provider = stage.provider();
    let card = stage.saves("4242424242424242", None).await;
    let payment = paid(stage.charges(&card, 1).await).payment.payment.unwrap();
    let customer = format!("customers/{}", card.customer);
    stage.script(&customer, "card=4000000000009995").await;
    let CardOutcome::Declined(_, Some(declined)) = stage.charges(&card, 2).await else {
        panic!("no funds")
    };
    let span = Span {
        since: Timestamp(START),
        until: None,
    };
    let events = provider.events(span, None).await.unwrap().items;
    let of = |kind: &str| {
        let mut events = events.iter().filter(|event| event.kind == kind);
        let event = events.next().unwrap();
        (event.about.clone(), event.origin.clone())
    };
    for (kind, payment) in [
        ("payment_intent.succeeded", &payment),
        ("payment_intent.payment_failed", &declined),
    ] {
        assert_eq!(
            of(kind),
            (ObjectRef::Payment(payment.clone()), Origin::Ours)
        );
    }
    // A checkout's payment is reported by its session alone.
    let session = stage.session(credits(), Promotion::None).await;
    stage.act(&session.url.unwrap(), "pay", "").await;
    let events = provider.events(span, None).await.unwrap().items;
    let paid = events
        .iter()
        .filter(|event| event.kind == "payment_intent.succeeded");
    assert_eq!(paid.count(), 1);
    for (form, refunded, disputed) in [("amount=300", 300, 0), ("", 300, 700)] {
        let form = format!("payment_intent={payment}&{form}");
        match refunded == 300 && disputed == 0 {
            true => drop(stage.send("refunds", &form).await),
            false => drop(stage.script("disputes", form.trim_end_matches('&')).await),
        }
        let reports = stage.fetch_payment(&payment).await;
        let [Report::Paid(_), Report::Reversed(reversed)] = reports.as_slice() else {
            panic!("{reports:?}");
        };
        let reversal = reversed.reversal;
        assert_eq!(
            (reversal.refunded_cents, reversal.disputed_cents),
            (refunded, disputed)
        );
        assert_eq!(reversed.target, PaymentTarget::Order(order(1)));
    }
    assert_eq!(
        stage
            .send("refunds", &format!("payment_intent={declined}"))
            .await
            .0,
        400
    );
}

#[tokio::test]
async fn a_key_without_the_permissions_charges_nothing_and_says_so() {
    let stage = Stage::new().await;
    let card = stage.saves("4242424242424242", None).await;
    for (permission, charges) in [
        ("rak_payment_intent_write", false),
        ("rak_charge_read", true),
        ("rak_payment_method_read", true),
    ] {
        let form = format!("denied[0]={permission}");
        stage.script("fault-profile", &form).await;
        let provider = stage.provider();
        let outcome = provider
            .charge_card(&charge_by(&card, u64::from(charges) + 1))
            .await;
        match charges {
            true => drop(paid(outcome.unwrap())),
            false => assert!(
                matches!(outcome, Err(Error::Permission { .. })),
                "{outcome:?}"
            ),
        }
    }
    stage.script("fault-profile", "denied=").await;
    assert_eq!(stage.payments(&card).await, 1);
}

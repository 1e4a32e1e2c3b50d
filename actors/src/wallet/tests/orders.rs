//! Orders that create wallets.

use domain::{
    Rejection,
    catalog::{Interval, KeyKind},
    id::{OrderId, PriceId},
    project_event::{EventData, OrderEvent},
    terms::Terms,
    text::{CustomerId, InvoiceId, PaymentId, SubscriptionId},
    wallet::{
        OrderKind, OrderStatus,
        pay::{PaidCycle, Pay, Payment},
        place_order::PlaceOrder,
        purchase::Purchase,
    },
};
use futures_util::FutureExt as _;

use super::{PRODUCT, START, Service};
use crate::Address;

pub(super) fn terms() -> Terms {
    Terms {
        price: PriceId(1),
        product: PRODUCT,
        fills: PRODUCT,
        credits: 100,
        expire_after_days: None,
        rollover: false,
        trial_days: None,
        trial_credits: 0,
        repeatable: false,
        features: [].into(),
        interval: Interval::OneTime,
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
    }
}

/// An order that fills a wallet of its own.
pub(super) async fn placed(service: &Service) -> OrderId {
    let (handle, scope) = (&service.handle, &service.scope);
    let (order, _) = handle
        .draft_order(scope, None, &terms(), domain::Quantity::ONE)
        .await
        .unwrap();
    let place = PlaceOrder {
        order: order.serial,
        terms: terms(),
        checkout: None,
        email: None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
        locale: None,
        names_code: false,
    };
    let placed = handle.place_order(scope, order, None, place);
    placed.await.unwrap();
    order
}

pub(super) fn paid(service: &Service, order: OrderId) -> Pay {
    Pay {
        order: order.serial,
        kind: OrderKind::Checkout,
        code: service.handle.mint_code(&service.scope),
        missing_order: None,
        payment: Payment {
            amount_cents: 500,
            payment: None,
            invoice: None,
            customer: None,
            email: None,
            receipt: domain::wallet::Receipt::default(),
        },
        billing: None,
    }
}

#[tokio::test]
async fn a_minted_code_opens_its_wallet_as_soon_as_the_order_shows_it() {
    let service = Service::new().await;
    let order = placed(&service).await;
    service.journal.hold_checkpoints();
    service.journal.hold();
    let (handle, scope) = (&service.handle, &service.scope);
    let mut pay = Box::pin(handle.pay(scope, order.wallet, None, paid(&service, order)));
    assert!(pay.as_mut().now_or_never().is_none());
    let mut read = Box::pin(handle.order(scope, order));
    assert!(read.as_mut().now_or_never().is_none());
    service.journal.release();
    // The report of the payment has not been answered yet.
    let code = read.await.unwrap().code.unwrap();
    let view = handle.read(scope, &Address::Code(code)).await.unwrap();
    assert_eq!(view.balances.first().map(|it| it.balance), Some(100));
    assert_eq!(pay.await, Ok(true));
}

#[tokio::test]
async fn an_order_under_a_replaced_code_is_not_placed() {
    let service = Service::new().await;
    let (handle, scope) = (&service.handle, &service.scope);
    let (code, _) = handle.create_code(scope).await.unwrap();
    let old = Address::Code(code.clone());
    let place = |order: OrderId| PlaceOrder {
        order: order.serial,
        terms: terms(),
        checkout: None,
        email: None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
        locale: None,
        names_code: true,
    };
    let wanted = terms();
    let draft = || handle.draft_order(scope, Some(&old), &wanted, domain::Quantity::ONE);
    let (first, second) = (draft().await.unwrap().0, draft().await.unwrap().0);
    let placed = handle.place_order(scope, first, Some(&old), place(first));
    placed.await.unwrap();
    let answer = handle.order(scope, first).await.unwrap();
    assert_eq!(
        (answer.code.as_ref(), answer.is_original_code),
        (Some(&code), true)
    );

    let new = handle
        .rotate(scope, &code, None, KeyKind::Secret)
        .await
        .unwrap()
        .code;
    let late = handle.place_order(scope, second, Some(&old), place(second));
    assert_eq!(late.await, Err(Rejection::WalletNotFound.into()));
    let unknown = handle.order(scope, second).await;
    assert_eq!(unknown, Err(Rejection::OrderNotFound.into()));
    let answer = handle.order(scope, first).await.unwrap();
    assert_eq!(
        (answer.code.as_ref(), answer.is_original_code),
        (Some(&new), false)
    );
}

#[tokio::test]
async fn an_order_is_found_by_its_payment_before_it_is_reported() {
    let service = Service::new().await;
    let order = placed(&service).await;
    let (handle, scope) = (&service.handle, &service.scope);
    let payment = PaymentId::new("pi_1").unwrap();
    let subscription = SubscriptionId::new("sub_1").unwrap();
    let invoice = InvoiceId::new("in_1").unwrap();
    let customer = CustomerId::new("cus_1").unwrap();
    let mut paid = paid(&service, order);
    paid.payment.payment = Some(payment.clone());
    paid.payment.customer = Some(customer.clone());
    paid.billing = Some(PaidCycle {
        subscription: subscription.clone(),
        invoice: Some(invoice.clone()),
        cycle_start: START,
        current_period_end: START.plus_seconds(2_592_000),
        trial: false,
        after_end: false,
        paused: false,
        reported_at: START,
    });
    assert_eq!(handle.order_of(scope, &payment), Ok(None));
    service.journal.hold_checkpoints();
    service.journal.hold();
    let mut pay = Box::pin(handle.pay(scope, order.wallet, None, paid));
    assert!(pay.as_mut().now_or_never().is_none());
    assert_eq!(handle.order_of(scope, &payment), Ok(Some(order)));
    service.journal.release();
    assert_eq!(pay.await, Ok(true));
    assert_eq!(handle.order_of(scope, &invoice), Ok(Some(order)));
    let begun = handle.order_of(scope, &subscription);
    assert_eq!(begun, Ok(Some(order)));
    let bought = handle.orders_of_customer(scope, &customer, 2);
    assert_eq!(bought, Ok(vec![order]));
}

/// A payment is applied however large its project events are.
#[tokio::test]
async fn the_largest_order_is_fulfilled_and_reported_at_once() {
    let service = Service::new().await;
    let (handle, scope) = (&service.handle, &service.scope);
    let pairs = (0..20).map(|n| (format!("{n:040}").into(), "v".repeat(500).into()));
    let long = |prefix: &str| format!("{prefix}{}", "x".repeat(250 - prefix.len()));
    let page = || domain::text::PageUrl::new(format!("https://p.example/{}", "x".repeat(900)));
    let features = (0..100).map(|n| domain::text::Feature::new(format!("{n:030}")).unwrap());
    let terms = Terms {
        interval: Interval::Month,
        features: features.collect(),
        ..terms()
    };
    let draft = handle.draft_order(scope, None, &terms, domain::Quantity::ONE);
    let (order, _) = draft.await.unwrap();
    let place = PlaceOrder {
        order: order.serial,
        terms,
        checkout: Some(domain::text::CheckoutId::new(long("cs_")).unwrap()),
        email: None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::new(pairs.collect()).unwrap(),
        locale: None,
        names_code: false,
    };
    handle.place_order(scope, order, None, place).await.unwrap();
    // All of it is refunded before the payment is reported.
    let reversal = domain::wallet::Reversal {
        refunded_cents: 500,
        disputed_cents: 0,
        dispute: None,
        as_of: START,
    };
    let back = Purchase::Reverse(order.serial, reversal);
    assert!(handle.report(scope, order.wallet, back).await.unwrap());
    let invoice = InvoiceId::new(long("in_")).unwrap();
    let paid = Pay {
        payment: Payment {
            payment: Some(PaymentId::new(long("pi_")).unwrap()),
            customer: Some(CustomerId::new(long("cus_")).unwrap()),
            email: Some(
                domain::text::Email::new(format!("a@{}.example", "x".repeat(300))).unwrap(),
            ),
            receipt: domain::wallet::Receipt {
                receipt_url: Some(page().unwrap()),
                invoice_url: Some(page().unwrap()),
                ..domain::wallet::Receipt::default()
            },
            ..paid(&service, order).payment
        },
        billing: Some(PaidCycle {
            subscription: SubscriptionId::new(long("sub_")).unwrap(),
            invoice: Some(invoice),
            cycle_start: START,
            current_period_end: START.plus_seconds(30 * 24 * 3600),
            trial: false,
            paused: false,
            after_end: false,
            reported_at: START,
        }),
        ..paid(&service, order)
    };
    assert!(handle.pay(scope, order.wallet, None, paid).await.unwrap());
    let events = handle.events_from(scope, 0, 10).await.unwrap();
    let orders: Vec<_> = events
        .iter()
        .filter_map(|events| match &events.project_event.data {
            EventData::Order(data, facts) => Some((*data, facts.order.metadata.iter().count())),
            _ => None,
        })
        .collect();
    assert_eq!(orders, [(OrderEvent::Paid, 20), (OrderEvent::Refunded, 20)]);
    let service = service.restarted().await;
    let order = service.handle.order(&service.scope, order).await.unwrap();
    assert_eq!(order.order.status(), OrderStatus::Refunded);
}

//! Lists of very many orders, and of wallets.

use domain::{
    text::Email,
    wallet::{
        OrderStatus,
        place_order::PlaceOrder,
        purchase::{OrderReport, Purchase},
    },
};
use futures_util::{StreamExt as _, stream};
use persistence::{OrderFilter, OrderState, WalletOrder};

use super::{Service, orders::terms};

const MANY: i64 = 20_000;
const FEW: usize = 20;

/// Orders of wallets of their own; each thousandth costs less, and its buyer is known. The last one failed.
async fn service() -> Service {
    let service = Service::new().await;
    let (handle, scope) = (&service.handle, &service.scope);
    let place = async |number: i64| {
        let mut terms = terms();
        let is_rare = number % 1000 == 0;
        terms.amount_cents = if is_rare { 1 } else { 500 };
        let one = domain::Quantity::ONE;
        let (order, _) = handle.draft_order(scope, None, &terms, one).await.unwrap();
        let email = is_rare.then(|| Email::new("Ann@mail.example").unwrap());
        let place = PlaceOrder {
            order: order.serial,
            terms,
            checkout: None,
            email,
            quantity: one,
            metadata: domain::metadata::Metadata::default(),
            locale: None,
            names_code: false,
        };
        handle.place_order(scope, order, None, place).await.unwrap();
        order
    };
    let all = stream::iter(0..MANY).map(place).buffered(64);
    let all: Vec<_> = all.collect().await;
    let last = all.last().unwrap();
    let failed = Purchase::Report(last.serial, OrderReport::Failed);
    handle.report(scope, last.wallet, failed).await.unwrap();
    service
}

#[tokio::test]
async fn a_filter_that_lets_few_of_many_orders_through_is_one_full_page() {
    let service = service().await;
    let (handle, scope) = (&service.handle, &service.scope);
    let all = OrderFilter::default;
    let email = Some(Email::new("ann@MAIL.example").unwrap());
    let failed = Some(OrderState::Is(OrderStatus::Failed));
    for (filter, count) in [
        (
            OrderFilter {
                max_cents: Some(1),
                ..all()
            },
            FEW,
        ),
        (
            OrderFilter {
                email: email.clone(),
                ..all()
            },
            FEW,
        ),
        (
            OrderFilter {
                state: failed,
                ..all()
            },
            1,
        ),
        (
            OrderFilter {
                state: failed,
                email,
                ..all()
            },
            0,
        ),
        (
            OrderFilter {
                min_cents: Some(501),
                ..all()
            },
            0,
        ),
    ] {
        let products = vec![terms().product];
        let (page, totals) = handle
            .orders_and_totals(scope, products, filter.clone(), None, 25)
            .await
            .unwrap();
        assert_eq!((page.orders.len(), page.next), (count, None), "{filter:?}");
        assert_eq!(totals.count, count as u64);
    }
    let (page, totals) = handle
        .orders_and_totals(scope, vec![terms().product], all(), None, 25)
        .await
        .unwrap();
    assert_eq!((page.orders.len(), totals.count), (25, 20_000));
    let euros = &totals.currencies["EUR"];
    assert_eq!(euros.amount_cents, 500 * MANY - 499 * 20);
    assert_eq!(euros.paid_cents, 0);
    // Nobody owns a wallet whose order is not paid: it is in no list.
    let order = WalletOrder::LastUsed;
    let page = handle.wallets(scope, order, None, 25).await.unwrap();
    assert!(page.wallets.is_empty());
}

/// More wallets than are sorted exactly come in pages all the same, each once.
#[tokio::test]
async fn wallets_of_one_day_come_in_pages_however_many_they_are() {
    let service = Service::new().await;
    for number in 0..1_300 {
        service.credit(&format!("user-{number}"), 40).await.unwrap();
    }
    service.credit("rich", 5_000).await.unwrap();
    let (handle, scope) = (&service.handle, &service.scope);
    for order in [WalletOrder::LastUsed, WalletOrder::Balance(super::PRODUCT)] {
        let mut seen = std::collections::BTreeSet::new();
        let (mut after, mut first) = (None, None);
        loop {
            let page = handle.wallets(scope, order, after, 100).await.unwrap();
            assert!(page.next.is_none() || page.wallets.len() == 100);
            for wallet in page.wallets {
                first.get_or_insert_with(|| wallet.view.external_user.clone());
                assert!(seen.insert(wallet.view.key), "each is there once");
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen.len(), 1_301);
        if order != WalletOrder::LastUsed {
            assert_eq!(first.flatten().unwrap().as_str(), "rich");
        }
    }
}

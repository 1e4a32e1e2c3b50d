//! Orders by the provider's identifiers of the objects that they came with. This decides whose a payment or a
//! subscription is, whatever was written on it at the provider since.

use domain::{
    id::{OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId},
    wallet::{Change, Event, OrderKind, event::OrderPaid},
};

use super::{
    orders::hash,
    spec::{LookUpSpec, Put, joined, nothing_moves},
};

/// Key: hash of project and identifier, wallet. Value: serial. A customer may have several wallets, and what somebody
/// wrote on a subscription may have led to two.
pub(super) const PROVIDER_IDS: LookUpSpec = LookUpSpec {
    name: "called",
    key: 32,
    value: 16,
    changes,
    moves: nothing_moves,
};

/// The provider's identifier of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderId<'a> {
    /// A checkout session: the order that was placed with it.
    Checkout(&'a CheckoutId),
    /// A payment: the order that it paid.
    Payment(&'a PaymentId),
    /// An invoice: the order that it bills.
    Invoice(&'a InvoiceId),
    /// A subscription: the checkout that began it; if none did or none is known, the last order that it paid.
    Subscription(&'a SubscriptionId),
    /// A customer: the last order that they paid.
    Customer(&'a CustomerId),
}

fn changes(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    let mut put = |name: [u8; 16], order: OrderSerial| {
        put(
            joined(&[&name, &wallet.0]),
            Some(joined(&[&order.0.to_be_bytes()])),
        );
    };
    match &event.change {
        Change::OrderPlaced(order) => {
            if let Some(checkout) = &order.checkout {
                put(
                    ProviderId::Checkout(checkout).hash(order.project),
                    order.order,
                );
            }
        }
        Change::OrderPaid(paid) => names(paid, &mut |name| put(name, paid.order)),
        _ => {}
    }
}

fn names(paid: &OrderPaid, put: &mut dyn FnMut([u8; 16])) {
    let OrderPaid {
        project,
        kind,
        payment,
        invoice,
        subscription,
        customer,
        ..
    } = paid;
    let names = [
        payment.as_ref().map(ProviderId::Payment),
        invoice.as_ref().map(ProviderId::Invoice),
        customer.as_ref().map(ProviderId::Customer),
    ];
    for name in names.into_iter().flatten() {
        put(name.hash(*project));
    }
    if let Some(subscription) = subscription {
        put(match kind {
            OrderKind::Checkout => ProviderId::Subscription(subscription).hash(*project),
            OrderKind::Renewal | OrderKind::Switch => billed(*project, subscription),
        });
    }
}

impl ProviderId<'_> {
    pub(crate) fn hash(self, project: ProjectId) -> [u8; 16] {
        let (label, name): (&[u8], &str) = match self {
            Self::Checkout(name) => (b"checkout", name.as_str()),
            Self::Payment(name) => (b"payment", name.as_str()),
            Self::Invoice(name) => (b"invoice", name.as_str()),
            Self::Subscription(name) => (b"subscription", name.as_str()),
            Self::Customer(name) => (b"customer", name.as_str()),
        };
        hash(label, project, name)
    }
}

/// A subscription's later orders, apart from the one that began it.
pub(crate) fn billed(project: ProjectId, subscription: &SubscriptionId) -> [u8; 16] {
    hash(b"billed", project, subscription.as_str())
}

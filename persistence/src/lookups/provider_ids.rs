//! Orders by the provider's identifiers of the objects that they came with. This decides whose a payment or a
//! subscription is, also where something else was written on it at the provider since.

use domain::{
    id::{OrderSerial, ProjectId, PublicSubscriptionId, WalletKey},
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
    /// A subscription by what callers call it: the same.
    PublicSubscription(PublicSubscriptionId),
    /// A customer: the last order that they paid.
    Customer(&'a CustomerId),
}

macro_rules! of_reference {
    ($($name:ident: $id:ty),*) => {$(
        impl<'a> From<&'a $id> for ProviderId<'a> {
            fn from(id: &'a $id) -> Self {
                Self::$name(id)
            }
        }
    )*};
}
of_reference!(Checkout: CheckoutId, Payment: PaymentId, Invoice: InvoiceId, Subscription: SubscriptionId);

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
        let public = PublicSubscriptionId::of(*project, subscription);
        for name in [
            ProviderId::Subscription(subscription),
            ProviderId::PublicSubscription(public),
        ] {
            let name = match kind {
                OrderKind::Checkout => Some(name.hash(*project)),
                OrderKind::Renewal | OrderKind::Switch => name.billed(*project),
            };
            if let Some(name) = name {
                put(name);
            }
        }
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
            Self::PublicSubscription(name) => {
                return hash(b"public subscription", project, &name.to_string());
            }
        };
        hash(label, project, name)
    }

    /// A subscription's later orders, apart from the one that began it; `None`: it is no subscription.
    pub(crate) fn billed(self, project: ProjectId) -> Option<[u8; 16]> {
        match self {
            Self::Subscription(name) => Some(hash(b"billed", project, name.as_str())),
            Self::PublicSubscription(name) => {
                Some(hash(b"public billed", project, &name.to_string()))
            }
            Self::Checkout(_) | Self::Payment(_) | Self::Invoice(_) | Self::Customer(_) => None,
        }
    }
}

//! Orders by the provider's identifiers of the objects that they came with. This decides whose a payment or a
//! subscription is, also where something else was written on it at the provider since.

use domain::{
    id::{ProjectId, PublicSubscriptionId},
    text::{CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId},
};

use super::keys::hash;

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

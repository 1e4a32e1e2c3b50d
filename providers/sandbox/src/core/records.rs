//! What is kept of each object: what cannot be worked out from the others. How it looks to callers
//! is next door, in `views`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    books::{Books, Kept},
    calendar::Interval,
    params::Metadata,
    views::View,
};

mod billing;
mod catalog;
mod endpoints;
mod payments;
mod sessions;

pub(crate) use billing::{
    Cardless, Invoice, InvoiceLine, InvoicePayment, InvoiceStatus, Meanwhile, Pause, Phase, Reason,
    Retry, Schedule, ScheduleStatus, Standing, Subscription, TermDiscount, Trial, Until,
};
pub(crate) use catalog::{Coupon, Customer, Duration, Off, Price, Product, PromotionCode};
pub(crate) use endpoints::{Endpoint, Target};
pub(crate) use payments::{
    Charge, Dispute, DisputeStatus, Intent, IntentStatus, Movement, Refund, RefundStatus,
};
pub(crate) use sessions::{
    Challenge, Configuration, Later, Line, Mode, PaymentStatus, PortalSession, Session, Status,
    Tiers, TrialOffer, Wishes,
};

/// What all objects begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) id: String,
    /// In the order of making.
    pub(crate) n: u64,
    /// In seconds, by the project's clock.
    pub(crate) created: i64,
}

/// Something that happened, and how far the telling is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) head: Head,
    pub(crate) kind: String,
    /// The object as it was then.
    pub(crate) object: Told,
    /// Whether it still has to be delivered.
    pub(crate) outgoing: bool,
    /// Copies that arrived.
    pub(crate) delivered: u32,
    /// Deliveries that failed.
    pub(crate) failures: u32,
    /// After a failure: not before this second.
    pub(crate) retry_at: Option<i64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) request: Request,
    /// Registered endpoints that were not reached yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) targets: Vec<Target>,
}

/// Leaves out of a note what its first readers did not know and what it has as usual.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The request that something was done by; of neither where it happened by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: Option<String>,
    pub(crate) key: Option<String>,
}

/// An object as it was when something happened to it: its note, which is a third of what callers see,
/// or that where an older sandbox wrote it. One text, since there may be many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told(String);

impl Told {
    pub(crate) fn new(note: &Note) -> Self {
        // Texts and numbers alone: this cannot fail.
        Self(serde_json::to_string(note).unwrap_or_default())
    }

    /// As callers see it.
    pub(crate) fn view(&self, books: &Books) -> Value {
        match serde_json::from_str::<Note>(&self.0) {
            Ok(note) => note.view(books),
            Err(_) => serde_json::from_str(&self.0).unwrap_or_default(),
        }
    }
}

impl Serialize for Told {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Value::deserialize(deserializer)?.to_string()))
    }
}

/// Stripe keeps events for so long.
pub(crate) const EVENT_SECONDS: i64 = 30 * 24 * 3600;
/// And operation keys for so long.
const OPERATION_SECONDS: i64 = 24 * 3600;

/// An operation that was done under a key of the caller's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) head: Head,
    /// Of method, path and parameters.
    pub(crate) digest: String,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

macro_rules! kinds {
    ($($kind:ident $table:ident $name:literal $({ $($more:item)* })?,)*) => {
        /// An object as it is stored.
        #[derive(Serialize, Deserialize)]
        #[serde(tag = "note", rename_all = "snake_case")]
        pub(crate) enum Note {
            $($kind($kind),)*
        }

        /// All objects by their identifiers.
        #[derive(Default)]
        pub(crate) struct Tables {
            $($table: BTreeMap<String, $kind>,)*
        }

        impl Tables {
            /// The object of this identifier, whatever it is, as callers see it.
            pub(super) fn view(&self, id: &str, books: &Books) -> Option<Value> {
                $(if let Some(object) = self.$table.get(id) {
                    return Some(object.view(books));
                })*
                None
            }
        }

        impl Note {
            /// How many kinds of objects there are.
            #[cfg(test)]
            pub(crate) const KINDS: usize = [$($name),*].len();

            pub(crate) fn head(&self) -> &Head {
                match self {
                    $(Self::$kind(object) => &object.head,)*
                }
            }

            /// As callers see it.
            pub(crate) fn view(&self, books: &Books) -> Value {
                match self {
                    $(Self::$kind(object) => object.view(books),)*
                }
            }

            pub(super) fn restore(self, books: &mut Books) {
                match self {
                    $(Self::$kind(object) => books.keep(object),)*
                }
            }
        }

        $(impl Kept for $kind {
            const NAME: &'static str = $name;

            fn head(&self) -> &Head {
                &self.head
            }

            fn table(tables: &Tables) -> &BTreeMap<String, Self> {
                &tables.$table
            }

            fn table_mut(tables: &mut Tables) -> &mut BTreeMap<String, Self> {
                &mut tables.$table
            }

            fn note(self) -> Note {
                Note::$kind(self)
            }

            $($($more)*)?
        })*
    };
}

kinds! {
    Product products "product",
    Price prices "price",
    Coupon coupons "coupon",
    PromotionCode promotion_codes "promotion code",
    Customer customers "customer",
    Session sessions "checkout.session" {
        fn due(&self) -> Option<i64> {
            (self.status == Status::Open).then_some(self.expires_at)
        }
    },
    Intent intents "payment_intent",
    Charge charges "charge",
    Refund refunds "refund",
    Dispute disputes "dispute",
    Subscription subscriptions "subscription" {
        fn due(&self) -> Option<i64> {
            self.next_step()
        }
    },
    Schedule schedules "subscription_schedule",
    Invoice invoices "invoice" {
        fn due(&self) -> Option<i64> {
            let draft = self.status == InvoiceStatus::Draft;
            self.finalizes_at.filter(|_| draft)
        }
    },
    InvoicePayment invoice_payments "invoice_payment",
    Configuration configurations "configuration",
    PortalSession portal_sessions "billing_portal.session" {
        fn forget_at(&self) -> Option<i64> {
            Some(self.closes_at())
        }
    },
    Event events "event" {
        const IS_EVENT: bool = true;
        fn is_outgoing(&self) -> bool {
            self.is_pending()
        }
        fn forget_at(&self) -> Option<i64> {
            (!self.is_pending()).then(|| self.head.created.saturating_add(EVENT_SECONDS))
        }
    },
    Endpoint endpoints "webhook_endpoint",
    Operation operations "operation" {
        fn forget_at(&self) -> Option<i64> {
            Some(self.head.created.saturating_add(OPERATION_SECONDS))
        }
    },
}

//! The objects in Stripe's shape: they are stored as callers see them, without Stripe's fixed fields (`blank.json`).
//! Fields not named there are internal and never shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    database::{Database, StoredObject},
    shape,
};

mod billing;
mod catalog;
mod events;
mod invoices;
mod payments;
mod portal;
mod schedules;
mod sessions;

pub(crate) use {
    billing::*, catalog::*, events::*, invoices::*, payments::*, portal::*, schedules::*,
    sessions::*,
};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) id: String,
    /// Number in the order of creation.
    pub(crate) n: u64,
    /// Creation time in seconds, by the project's clock.
    pub(crate) created: i64,
}

pub(crate) trait Object {
    /// When it is due for something, in seconds.
    fn due(&self) -> Option<i64> {
        None
    }
    /// When it may be forgotten, in seconds.
    fn forget_at(&self) -> Option<i64> {
        None
    }
    /// Whether it is an undelivered event.
    fn is_outgoing(&self) -> bool {
        false
    }
    /// Visible fields besides the stored ones. A null keeps the stored or default value.
    fn shown(&self, _books: &Database) -> Value {
        json!({})
    }
}

macro_rules! kinds {
    ($($kind:ident $table:ident $name:literal,)*) => {
        #[derive(Serialize, Deserialize)]
        #[serde(tag = "object")]
        pub(crate) enum Note {
            $(#[serde(rename = $name)] $kind($kind),)*
        }

        #[derive(Default)]
        pub(crate) struct Tables {
            $($table: BTreeMap<String, $kind>,)*
        }

        impl Tables {
            pub(super) fn view(&self, id: &str, db: &Database) -> Option<Value> {
                let none: Option<Value> = None;
                none$(.or_else(|| Some(self.$table.get(id)?.view(db))))*
            }

            #[cfg(feature = "test-util")]
            pub(super) fn note(&self, id: &str) -> Option<Note> {
                $(if let Some(object) = self.$table.get(id) {
                    return Some(object.clone().note());
                })*
                None
            }
        }

        impl Note {
            #[cfg(test)]
            pub(crate) const KINDS: usize = [$($name),*].len();

            pub(crate) fn head(&self) -> &Head {
                match self {
                    $(Self::$kind(object) => &object.head,)*
                }
            }

            pub(crate) fn view(&self, db: &Database) -> Value {
                match self {
                    $(Self::$kind(object) => object.view(db),)*
                }
            }

            pub(crate) fn text(&self) -> String {
                // Texts and numbers always become JSON.
                let mut value = serde_json::to_value(self).unwrap_or_default();
                shape::without_nulls(&mut value);
                value.to_string()
            }

            pub(crate) fn restore(self, db: &mut Database) {
                match self {
                    $(Self::$kind(object) => db.insert(object),)*
                }
            }
        }

        $(impl StoredObject for $kind {
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
        })*
    };
}

kinds! {
    Product products "product",
    Price prices "price",
    Coupon coupons "coupon",
    PromotionCode promotion_codes "promotion_code",
    Customer customers "customer",
    Session sessions "checkout.session",
    PaymentIntent intents "payment_intent",
    PaymentMethod payment_methods "payment_method",
    SetupIntent setup_intents "setup_intent",
    Charge charges "charge",
    Refund refunds "refund",
    Dispute disputes "dispute",
    Subscription subscriptions "subscription",
    Schedule schedules "subscription_schedule",
    InvoiceItem invoice_items "invoiceitem",
    Invoice invoices "invoice",
    InvoicePayment invoice_payments "invoice_payment",
    Configuration configurations "billing_portal.configuration",
    PortalSession portal_sessions "billing_portal.session",
    Event events "event",
    Endpoint endpoints "webhook_endpoint",
    Operation operations "_operation",
}

//! The objects, in Stripe's own shape: what is kept of one is what callers see, without what Stripe's
//! objects have beside it (`blank.json`). What has no name there is what the bank knows beyond that, and
//! never shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    books::{Books, Kept},
    shape,
};

/// Words of Stripe's.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) enum $name {
            $($(#[$inner])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// As Stripe says it.
            pub(crate) const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

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

/// What all objects begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) id: String,
    /// In the order of making.
    pub(crate) n: u64,
    /// In seconds, by the project's clock.
    pub(crate) created: i64,
}

macro_rules! kinds {
    ($($kind:ident $table:ident $name:literal $({ $($more:item)* })?,)*) => {
        /// An object as it is stored.
        #[derive(Serialize, Deserialize)]
        #[serde(tag = "object")]
        pub(crate) enum Note {
            $(#[serde(rename = $name)] $kind($kind),)*
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

            /// As it is kept.
            pub(crate) fn text(&self) -> String {
                // Texts and numbers alone: this cannot fail.
                let mut value = serde_json::to_value(self).unwrap_or_default();
                shape::without_nulls(&mut value);
                value.to_string()
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
    Product products "product" {
        fn show(&self, view: &mut Value, _: &Books) {
            shape::set(view, json!({ "updated": self.head.created }));
        }
    },
    Price prices "price" {
        fn show(&self, view: &mut Value, _: &Books) {
            self.shown(view);
        }
    },
    Coupon coupons "coupon" {
        fn show(&self, view: &mut Value, _: &Books) {
            self.shown(view);
        }
    },
    PromotionCode promotion_codes "promotion_code" {
        fn show(&self, view: &mut Value, _: &Books) {
            self.shown(view);
        }
    },
    Customer customers "customer",
    Session sessions "checkout.session" {
        fn due(&self) -> Option<i64> {
            (self.status == Status::Open).then_some(self.expires_at)
        }
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Intent intents "payment_intent" {
        fn show(&self, view: &mut Value, _: &Books) {
            self.shown(view);
        }
    },
    Charge charges "charge" {
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Refund refunds "refund" {
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Dispute disputes "dispute" {
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Subscription subscriptions "subscription" {
        fn due(&self) -> Option<i64> {
            self.next_step()
        }
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Schedule schedules "subscription_schedule" {
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    InvoiceItem invoice_items "invoiceitem" {
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Invoice invoices "invoice" {
        fn due(&self) -> Option<i64> {
            let draft = self.status == InvoiceStatus::Draft;
            self.finalizes_at.filter(|_| draft)
        }
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    InvoicePayment invoice_payments "invoice_payment" {
        fn show(&self, view: &mut Value, _: &Books) {
            self.shown(view);
        }
    },
    Configuration configurations "billing_portal.configuration" {
        fn show(&self, view: &mut Value, _: &Books) {
            self.shown(view);
        }
    },
    PortalSession portal_sessions "billing_portal.session" {
        fn forget_at(&self) -> Option<i64> {
            Some(self.closes_at())
        }
        fn show(&self, view: &mut Value, books: &Books) {
            shape::set(view, json!({ "url": portal_url(books, &self.head.id) }));
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
        fn show(&self, view: &mut Value, books: &Books) {
            self.shown(view, books);
        }
    },
    Endpoint endpoints "webhook_endpoint" {
        fn show(&self, view: &mut Value, _: &Books) {
            let status = if self.enabled { "enabled" } else { "disabled" };
            shape::set(view, json!({ "status": status }));
        }
    },
    Operation operations "_operation" {
        fn forget_at(&self) -> Option<i64> {
            Some(self.head.created.saturating_add(OPERATION_SECONDS))
        }
    },
}

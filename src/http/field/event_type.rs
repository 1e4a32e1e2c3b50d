//! Kinds of events, and lists of them.

use std::{fmt, str::FromStr};

use domain::notice::{News, OrderNews};
use domain::wallet::event::SubscriptionNews;
use utoipa::openapi::ObjectBuilder;

use super::text::{FromText, Text};

/// Some kinds of events, with commas between them.
pub(crate) type EventTypesText = Text<EventTypes>;

/// One kind of event.
pub(crate) type EventTypeText = Text<EventType>;

/// A kind of event, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventType(&'static str);

/// Kinds of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventTypes(pub(crate) Vec<EventType>);

/// All kinds, in the order of the documentation.
pub(crate) const EVENT_TYPES: [&str; 16] = [
    "order.paid",
    "order.failed",
    "order.expired",
    "order.refunded",
    "order.disputed",
    "order.dispute_closed",
    "subscription.started",
    "subscription.renewed",
    "subscription.updated",
    "subscription.past_due",
    "subscription.canceled",
    "wallet.created",
    "wallet.credited",
    "wallet.balance_low",
    "wallet.depleted",
    "features.changed",
];

impl EventType {
    /// Of something to tell.
    pub(crate) const fn of(news: &News) -> Self {
        Self(match news {
            News::Order(OrderNews::Paid, _) => "order.paid",
            News::Order(OrderNews::Failed, _) => "order.failed",
            News::Order(OrderNews::Expired, _) => "order.expired",
            News::Order(OrderNews::Refunded, _) => "order.refunded",
            News::Order(OrderNews::Disputed, _) => "order.disputed",
            News::Order(OrderNews::DisputeClosed, _) => "order.dispute_closed",
            News::Subscription(SubscriptionNews::Started, _) => "subscription.started",
            News::Subscription(SubscriptionNews::Renewed, _) => "subscription.renewed",
            News::Subscription(SubscriptionNews::Updated, _) => "subscription.updated",
            News::Subscription(SubscriptionNews::PastDue, _) => "subscription.past_due",
            News::Subscription(SubscriptionNews::Canceled, _) => "subscription.canceled",
            News::WalletCreated => "wallet.created",
            News::Credited { .. } => "wallet.credited",
            News::BalanceLow { .. } => "wallet.balance_low",
            News::Depleted { .. } => "wallet.depleted",
            News::Features { .. } => "features.changed",
        })
    }

    /// As it is written; `None`: there is no such kind.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let known = EVENT_TYPES.into_iter().find(|known| *known == name);
        known.map(Self)
    }

    /// As it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl FromStr for EventType {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::named(name).ok_or("this release knows no such kind of event")
    }
}

impl FromText for EventType {
    const NAME: &'static str = "EventType";
    const WANTED: &'static str = "a kind of event";

    fn from_text(text: &str) -> Option<Self> {
        Self::named(text)
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string.enum_values(Some(EVENT_TYPES))
    }
}

impl FromText for EventTypes {
    const NAME: &'static str = "EventTypes";
    const WANTED: &'static str = "kinds of events with commas between them";

    fn from_text(text: &str) -> Option<Self> {
        let types = text.split(',').map(|name| EventType::named(name.trim()));
        types.collect::<Option<_>>().map(Self)
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .description(Some("Kinds of events, with commas between them."))
            .examples(["order.paid,wallet.balance_low"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_known_kinds_are_read_and_others_refused() {
        let read = |text| EventTypes::from_text(text).map(|types| types.0.len());
        assert_eq!(read("order.paid"), Some(1));
        assert_eq!(read("order.paid, wallet.depleted"), Some(2));
        for bad in ["", "order", "order.paid,", "order.payed", "*"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}

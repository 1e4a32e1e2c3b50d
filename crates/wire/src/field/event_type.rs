//! Types of events, and lists of them.

use domain::project_event::{EventData, OrderEvent};
use domain::top_up::Suspension;
use domain::wallet::event::SubscriptionEvent;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::text::{Text, texts};

/// A list of types as callers send it.
pub type EventTypesText = Text<EventTypes>;

/// An event's type as callers send it.
pub type EventTypeText = Text<EventType>;

/// A type of event, by its name on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EventType(&'static str);

/// Types of events, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTypes(pub Vec<EventType>);

/// All types of events, in the order of the documentation.
pub const EVENT_TYPES: [&str; 26] = [
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
    "wallet.owing",
    "wallet.repaid",
    "wallet.frozen",
    "wallet.thawed",
    "limit.alert",
    "limit.reached",
    "features.changed",
    "top_up.succeeded",
    "top_up.failed",
    "top_up.suspended",
    "top_up.action_required",
];

impl EventType {
    /// The type of the event for a project event.
    pub const fn of(data: &EventData) -> Self {
        Self(match data {
            EventData::Order(OrderEvent::Paid, _) => "order.paid",
            EventData::Order(OrderEvent::Failed, _) => "order.failed",
            EventData::Order(OrderEvent::Expired, _) => "order.expired",
            EventData::Order(OrderEvent::Refunded, _) => "order.refunded",
            EventData::Order(OrderEvent::Disputed, _) => "order.disputed",
            EventData::Order(OrderEvent::DisputeClosed, _) => "order.dispute_closed",
            EventData::Subscription(SubscriptionEvent::Started, _) => "subscription.started",
            EventData::Subscription(SubscriptionEvent::Renewed, _) => "subscription.renewed",
            EventData::Subscription(SubscriptionEvent::Updated, _) => "subscription.updated",
            EventData::Subscription(SubscriptionEvent::PastDue, _) => "subscription.past_due",
            EventData::Subscription(SubscriptionEvent::Canceled, _) => "subscription.canceled",
            EventData::WalletCreated => "wallet.created",
            EventData::Credited { .. } => "wallet.credited",
            EventData::BalanceLow { .. } => "wallet.balance_low",
            EventData::Depleted { .. } => "wallet.depleted",
            EventData::Owing { .. } => "wallet.owing",
            EventData::Repaid { .. } => "wallet.repaid",
            EventData::Frozen { .. } => "wallet.frozen",
            EventData::Unfrozen => "wallet.thawed",
            EventData::Limit(alert) if alert.percent.is_some() => "limit.alert",
            EventData::Limit(_) => "limit.reached",
            EventData::TopUpSucceeded(_) => "top_up.succeeded",
            EventData::TopUpFailed { .. } => "top_up.failed",
            EventData::TopUpSuspended(Suspension::ActionRequired(_)) => "top_up.action_required",
            EventData::TopUpSuspended(_) => "top_up.suspended",
            EventData::Features { .. } => "features.changed",
        })
    }

    /// Reads a name; `None` if there is no such type.
    pub fn named(name: &str) -> Option<Self> {
        let kind = EVENT_TYPES.into_iter().find(|kind| *kind == name);
        kind.map(Self)
    }

    /// The type's name as it is sent.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name)
            .ok_or_else(|| D::Error::custom("this release knows no such kind of event"))
    }
}

texts! {
    EventType = "EventType", "a kind of event",
        |text| Self::named(text),
        |string| string.enum_values(Some(EVENT_TYPES));
    EventTypes = "EventTypes", "kinds of events with commas between them",
        |text| {
            let types = text.split(',').map(|name| EventType::named(name.trim()));
            types.collect::<Option<_>>().map(Self)
        },
        |string| string
            .description(Some("Kinds of events, with commas between them."))
            .examples(["order.paid,wallet.balance_low"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

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

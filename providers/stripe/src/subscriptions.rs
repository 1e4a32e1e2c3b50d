//! Subscriptions: what is billed each cycle.

use domain::Quantity;
use jiff::{Span, Timestamp, tz::TimeZone};
use serde::Deserialize;

use super::{
    form::Form,
    id::{CustomerId, InvoiceId, ScheduleId, SubscriptionId},
    metadata::Metadata,
    object::{Expandable, Page, object, quantity, words},
    prices::StoredPrice,
};

/// A subscription, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Subscription {
    /// Its identifier.
    pub id: SubscriptionId,
    /// Who pays.
    pub customer: Expandable<CustomerId>,
    /// How it is.
    pub status: SubscriptionStatus,
    /// Set where it was cancelled for the period's end the classic way.
    #[serde(default)]
    cancel_at_period_end: bool,
    /// When it is to end, in seconds since the Unix epoch. Subscriptions with flexible billing are
    /// cancelled for the period's end by this alone.
    cancel_at: Option<i64>,
    /// When it began, likewise.
    #[serde(default)]
    pub created: i64,
    /// When it ended, in seconds since the Unix epoch.
    pub ended_at: Option<i64>,
    /// When its trial ends or ended, if it had one, in seconds since the Unix epoch.
    pub trial_end: Option<i64>,
    /// Set where collecting is paused: whatever is billed meanwhile is not charged.
    pause_collection: Option<PauseCollection>,
    /// What decides about its next tiers, where something does: its end can be changed there only.
    pub schedule: Option<ScheduleId>,
    /// The newest invoice.
    pub latest_invoice: Option<Expandable<InvoiceId>>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
    /// Lower case.
    pub currency: Option<String>,
    #[serde(default)]
    items: Page<SubscriptionItem>,
    /// What cycles are counted from, in seconds since the Unix epoch.
    billing_cycle_anchor: Option<i64>,
}

object!(SubscriptionId => Subscription, "subscriptions", ["latest_invoice.payments"]);

/// That it is there is all that counts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct PauseCollection {}

/// One of the prices that it is billed by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SubscriptionItem {
    /// The price.
    pub price: StoredPrice,
    quantity: Option<u32>,
    /// When its running period began, in seconds since the Unix epoch.
    pub current_period_start: Option<i64>,
    /// When that ends. Items may be billed by other intervals than ours.
    pub current_period_end: Option<i64>,
}

impl SubscriptionItem {
    /// How many of it.
    pub(super) fn quantity(&self) -> Quantity {
        quantity(self.quantity)
    }
}

impl Subscription {
    /// What it is billed by: ours have one, a merchant may add others.
    #[must_use]
    pub fn items(&self) -> &[SubscriptionItem] {
        &self.items.data
    }

    /// When the cycle began of which this item is billed and that ends then, in seconds since the Unix epoch:
    /// as it says of the one that is running, else by the calendar.
    pub(super) fn start_of(&self, item: Option<&SubscriptionItem>, end: i64) -> i64 {
        let running = item.filter(|item| item.current_period_end == Some(end));
        let start = running.and_then(|item| item.current_period_start);
        let months = match item.is_some_and(|item| item.price.is_yearly()) {
            true => 12,
            false => 1,
        };
        let anchor = self.billing_cycle_anchor.unwrap_or(end);
        start
            .or_else(|| months_before(end, months, anchor))
            .unwrap_or(end)
    }

    /// Whether nothing is collected for it for the time being.
    pub(super) const fn is_paused(&self) -> bool {
        self.pause_collection.is_some()
    }

    /// Whether it ends with the period that ends then instead of being renewed, in either way of saying so.
    pub(super) fn is_ending(&self, period_end: Option<i64>) -> bool {
        let by_date = match (self.cancel_at, period_end) {
            (Some(at), Some(end)) => at <= end,
            (at, None) => at.is_some(),
            (None, Some(_)) => false,
        };
        self.cancel_at_period_end || by_date
    }
}

/// So many months before the end of a cycle, on the day of the month that cycles are counted from, or on the
/// last one where a month has none such.
fn months_before(end: i64, months: i64, anchor: i64) -> Option<i64> {
    let utc = |seconds| {
        Some(
            Timestamp::from_second(seconds)
                .ok()?
                .to_zoned(TimeZone::UTC),
        )
    };
    let start = utc(end)?.checked_sub(Span::new().months(months)).ok()?;
    let day = utc(anchor)?.day().min(start.days_in_month());
    let start = start.with().day(day).build().ok()?;
    Some(start.timestamp().as_second())
}

words! {
    /// How a subscription is.
    SubscriptionStatus {
        /// The first payment did not come within a day. Final.
        IncompleteExpired,
        /// Not billed yet.
        Trialing,
        /// Paid.
        Active,
        /// A renewal is not paid, and is being tried again.
        PastDue,
        /// Ended. Final.
        Canceled,
        /// A renewal is not paid, and is no longer tried.
        Unpaid,
        /// Not billed for the time being.
        Paused,
    }
}

/// What lets a subscription go on: takes back that it ends, in the way in which that was said, and that nothing
/// is collected for it. An empty text unsets a field.
pub(super) fn going_on(now: &Subscription) -> Form {
    let by_date = now.cancel_at.filter(|_| !now.cancel_at_period_end);
    Form::new()
        .with_some(
            "cancel_at_period_end",
            now.cancel_at_period_end.then_some(false),
        )
        .with_some("cancel_at", by_date.map(|_| ""))
        .with_some("pause_collection", now.is_paused().then_some(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Subscription {
        serde_json::from_str(&format!(
            r#"{{"id":"sub_1","object":"subscription","customer":"cus_1",{fields}}}"#
        ))
        .unwrap()
    }

    const ITEMS: &str = r#""items":{"object":"list","data":[{"id":"si_1",
        "current_period_start":100,"current_period_end":200,
        "price":{"id":"price_1","product":"prod_1","metadata":{}}}]}"#;

    #[test]
    fn the_period_and_the_price_are_read_from_the_item() {
        let subscription = read(&format!(
            r#""status":"active","cancel_at_period_end":false,"cancel_at":null,{ITEMS}"#
        ));
        let item = subscription.items().first();
        assert_eq!(item.unwrap().current_period_end, Some(200));
        assert_eq!(item.unwrap().price.id.as_str(), "price_1");
        assert_eq!(subscription.status, SubscriptionStatus::Active);
        assert!(!subscription.is_ending(Some(200)));
    }

    #[test]
    fn a_cycle_that_is_over_began_as_the_calendar_says() {
        let at = |text: &str| {
            let text = format!("{text}T10:00:00Z");
            text.parse::<Timestamp>().unwrap().as_second()
        };
        for (interval, anchor, end, start) in [
            ("month", "2026-11-18", "2027-03-18", "2027-02-18"),
            ("month", "2026-11-18", "2027-02-18", "2027-01-18"),
            ("month", "2027-01-31", "2027-02-28", "2027-01-31"),
            ("month", "2027-01-31", "2027-04-30", "2027-03-31"),
            ("month", "2027-01-30", "2027-03-30", "2027-02-28"),
            ("year", "2024-02-29", "2028-02-29", "2027-02-28"),
            ("year", "2024-02-29", "2025-02-28", "2024-02-29"),
        ] {
            let subscription = read(&format!(
                r#""status":"active","billing_cycle_anchor":{},"items":{{"data":[{{
                "price":{{"id":"price_1","product":"prod_1",
                "recurring":{{"interval":"{interval}"}}}}}}]}}"#,
                at(anchor)
            ));
            let item = subscription.items().first();
            assert_eq!(subscription.start_of(item, at(end)), at(start), "{end}");
        }
        let running = read(&format!(r#""status":"active",{ITEMS}"#));
        assert_eq!(running.start_of(running.items().first(), 200), 100);
    }

    #[test]
    fn it_ends_when_told_to_in_either_way() {
        for (fields, ending) in [
            (r#""cancel_at_period_end":true,"cancel_at":200"#, true),
            (r#""cancel_at_period_end":false,"cancel_at":200"#, true),
            (r#""cancel_at_period_end":false,"cancel_at":150"#, true),
            // Somebody set a date some renewals ahead.
            (r#""cancel_at_period_end":false,"cancel_at":900"#, false),
            (r#""cancel_at_period_end":false,"cancel_at":null"#, false),
        ] {
            let subscription = read(&format!(r#""status":"active",{fields},{ITEMS}"#));
            assert_eq!(subscription.is_ending(Some(200)), ending, "{fields}");
        }
    }

    #[test]
    fn what_keeps_it_from_going_on_is_taken_back_in_the_way_in_which_it_was_said() {
        for (fields, form) in [
            ("", vec![]),
            (
                r#","cancel_at_period_end":true,"cancel_at":200"#,
                vec!["cancel_at_period_end=false"],
            ),
            (r#","cancel_at":200"#, vec!["cancel_at="]),
            (
                r#","cancel_at_period_end":true,"pause_collection":{"behavior":"void"}"#,
                vec!["cancel_at_period_end=false", "pause_collection="],
            ),
        ] {
            let now = read(&format!(r#""status":"active"{fields}"#));
            assert_eq!(crate::form::lines(&going_on(&now)), form, "{fields}");
        }
    }

    #[test]
    fn an_unknown_status_is_read() {
        let subscription = read(r#""status":"something_new""#);
        assert_eq!(subscription.status, SubscriptionStatus::Other);
        assert_eq!(subscription.items(), []);
    }
}

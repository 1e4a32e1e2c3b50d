//! Subscriptions: what is billed each cycle.

use domain::Quantity;
use jiff::{Span, Timestamp, tz::TimeZone};
use serde::Deserialize;

use super::{
    form::Form,
    id::{CustomerId, InvoiceId, ItemId, ScheduleId, SubscriptionId},
    invoices::InvoiceLine,
    metadata::Metadata,
    object::{Expandable, Page, object, quantity, words},
    prices::StoredPrice,
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Subscription {
    pub id: SubscriptionId,
    pub customer: Expandable<CustomerId>,
    pub status: SubscriptionStatus,
    /// Set where it was cancelled for the period's end, with classic billing.
    #[serde(default)]
    cancel_at_period_end: bool,
    /// When it ends, in seconds since the Unix epoch: the only cancellation field with flexible billing.
    cancel_at: Option<i64>,
    #[serde(default)]
    pub created: i64,
    pub ended_at: Option<i64>,
    /// When its trial began, if it had one, in seconds since the Unix epoch.
    pub trial_start: Option<i64>,
    /// When its trial ends or ended, if it had one, in seconds since the Unix epoch.
    pub trial_end: Option<i64>,
    /// Set while collection is paused: invoices of that time are not charged.
    pause_collection: Option<PauseCollection>,
    /// The schedule of its next tiers, if any: its end can then only be changed there.
    pub schedule: Option<ScheduleId>,
    pub latest_invoice: Option<Expandable<InvoiceId>>,
    #[serde(default)]
    pub metadata: Metadata,
    pub currency: Option<String>,
    #[serde(default)]
    items: Page<SubscriptionItem>,
    /// The instant that cycles are counted from, in seconds since the Unix epoch.
    billing_cycle_anchor: Option<i64>,
}

object!(SubscriptionId => Subscription, "subscriptions", ["latest_invoice.payments"]);

/// Read only for its presence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct PauseCollection {}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SubscriptionItem {
    pub id: Option<ItemId>,
    pub price: StoredPrice,
    quantity: Option<u32>,
    #[serde(default)]
    pub created: i64,
    /// When its running period began, in seconds since the Unix epoch.
    pub current_period_start: Option<i64>,
    /// When that ends. Items may have other intervals than ours.
    pub current_period_end: Option<i64>,
}

impl SubscriptionItem {
    pub(super) fn quantity(&self) -> Quantity {
        quantity(self.quantity)
    }
}

impl Subscription {
    /// The items that it is billed by: Scrip creates one, a merchant may add others.
    pub fn items(&self) -> &[SubscriptionItem] {
        &self.items.data
    }

    /// When the item's cycle that ends at `end` began, in seconds since the Unix epoch: as the item says of the
    /// running cycle, else by the calendar.
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

    /// Whether a line is for its trial, or for a trial that postponed the next cycle: it costs nothing and begins
    /// within the trial.
    pub(super) fn is_trial(&self, line: &InvoiceLine) -> bool {
        let Some(ends) = self
            .trial_end
            .filter(|_| line.is_cycle() && line.amount == 0)
        else {
            return false;
        };
        match self.trial_start {
            Some(starts) => (starts..ends).contains(&line.period.start),
            None => line.period.end <= ends,
        }
    }

    /// Whether collection of its payments is paused.
    pub(super) const fn is_paused(&self) -> bool {
        self.pause_collection.is_some()
    }

    /// Whether it ends at `period_end` instead of being renewed, by either field.
    pub(super) fn is_ending(&self, period_end: Option<i64>) -> bool {
        let by_date = match (self.cancel_at, period_end) {
            (Some(at), Some(end)) => at <= end,
            (at, None) => at.is_some(),
            (None, Some(_)) => false,
        };
        self.cancel_at_period_end || by_date
    }
}

/// An instant `months` before the end of a cycle, on the anchor's day or the last day of a shorter month.
fn months_before(end: i64, months: i64, anchor: i64) -> Option<i64> {
    let utc = |seconds| {
        Some(
            Timestamp::from_second(seconds)
                .ok()?
                .to_zoned(TimeZone::UTC),
        )
    };
    let start = utc(end)?.checked_sub(Span::new().months(months)).ok()?;
    // An end off the anchor was set before the anchor moved, as by a trial.
    let (end, anchor) = (utc(end)?, utc(anchor)?);
    let day = match end.day() == anchor.day().min(end.days_in_month()) {
        true => anchor.day(),
        false => end.day(),
    };
    let day = day.min(start.days_in_month());
    let start = start.with().day(day).build().ok()?;
    Some(start.timestamp().as_second())
}

words! {
    SubscriptionStatus {
        /// The first payment did not come within a day. Final.
        IncompleteExpired,
        /// In its trial, not billed yet.
        Trialing,
        /// Running, and its invoices are paid.
        Active,
        /// A renewal is not paid, and is being tried again.
        PastDue,
        /// It has ended. Final.
        Canceled,
        /// A renewal is not paid, and is no longer tried.
        Unpaid,
        /// Not billed: its trial ended without a card.
        Paused,
    }
}

/// The form that continues a subscription: withdraws its cancellation, in the field that has it, and the pause of its
/// collection. An empty text unsets a field.
pub(super) fn resume_form(now: &Subscription) -> Form {
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
    fn it_ends_by_either_cancellation_field() {
        for (fields, ending) in [
            (r#""cancel_at_period_end":true,"cancel_at":200"#, true),
            (r#""cancel_at_period_end":false,"cancel_at":200"#, true),
            (r#""cancel_at_period_end":false,"cancel_at":150"#, true),
            // A cancellation some renewals ahead.
            (r#""cancel_at_period_end":false,"cancel_at":900"#, false),
            (r#""cancel_at_period_end":false,"cancel_at":null"#, false),
        ] {
            let subscription = read(&format!(r#""status":"active",{fields},{ITEMS}"#));
            assert_eq!(subscription.is_ending(Some(200)), ending, "{fields}");
        }
    }

    #[test]
    fn resuming_clears_the_field_that_was_set() {
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
            assert_eq!(crate::form::lines(&resume_form(&now)), form, "{fields}");
        }
    }

    #[test]
    fn an_unknown_status_is_read() {
        let subscription = read(r#""status":"something_new""#);
        assert_eq!(subscription.status, SubscriptionStatus::Other);
        assert_eq!(subscription.items(), []);
    }
}

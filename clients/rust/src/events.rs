//! Events, and usage.

use crate::{call::Call, client::Scrip, error::Error, pages::Page};
use api_types::{Bucket, event::Event};
use jiff::Timestamp;
use serde::Deserialize;

/// The length of the intervals in which usage is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interval {
    /// An hour; kept for 90 days.
    Hour,
    /// A day in UTC; kept for three years.
    Day,
    /// A month in UTC; kept for ever.
    Month,
}

/// Which usage to read.
#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// The product; required where a project has several.
    pub product_id: Option<String>,
    /// The user whose wallet's usage to read, instead of the project's.
    pub external_user_id: Option<String>,
    /// The begin, rounded down to the interval.
    pub from: Option<Timestamp>,
    /// The end, not included, rounded down to the interval.
    pub to: Option<Timestamp>,
    /// The interval; the server chooses one by default.
    pub interval: Option<Interval>,
    /// Whether to divide usage by `meta.feature`.
    pub by_feature: bool,
}

impl Scrip {
    /// Up to 100 events after an event, of these types or of all, oldest first; and the id to continue after.
    /// Events are kept for 30 days. Needs a secret key.
    ///
    /// ```no_run
    /// # async fn example(scrip: scrip_wallet::Scrip) -> Result<(), scrip_wallet::Error> {
    /// let mut after = None; // or what was saved last time
    /// loop {
    ///     let (events, next) = scrip.events(after.as_deref(), &["order.paid"]).await?;
    ///     for event in &events {
    ///         println!("{} {}", event.id, event.kind);
    ///     }
    ///     after = next;
    ///     if events.is_empty() {
    ///         tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    ///     }
    /// }
    /// # }
    /// ```
    /// # Errors
    /// `secret_key_required`, `event_not_found` where `after` is not an event's id, and the errors of any call.
    pub async fn events(
        &self,
        after: Option<&str>,
        types: &[&str],
    ) -> Result<(Vec<Event>, Option<String>), Error> {
        let call = Call::get(["events"])
            .query("after", after)
            .query("types", (!types.is_empty()).then(|| types.join(",")))
            .query("limit", Some(100));
        let page: Page<Event> = self.call(call).await?;
        // Without a cursor, the last event is where to go on: else the same ones would come again for ever.
        let last = page.items.last().map(|event| event.id.clone());
        Ok((page.items, page.next.or(last)))
    }

    /// Usage by interval, empty intervals included, at most 1,000 of them. Needs a secret key.
    /// # Errors
    /// `secret_key_required`, `product_not_found`, `invalid_request`, and the errors of any call.
    pub async fn usage(&self, query: UsageQuery) -> Result<Vec<Bucket>, Error> {
        #[derive(Deserialize)]
        struct Usage {
            buckets: Vec<Bucket>,
        }
        let interval = query.interval.map(|interval| match interval {
            Interval::Hour => "hour",
            Interval::Day => "day",
            Interval::Month => "month",
        });
        let call = Call::get(["usage"])
            .query("productId", query.product_id)
            .query("externalUserId", query.external_user_id)
            .query("from", query.from)
            .query("to", query.to)
            .query("interval", interval)
            .query("groupBy", query.by_feature.then_some("feature"));
        let usage: Usage = self.call(call).await?;
        Ok(usage.buckets)
    }
}

//! What happened, and what was used.

use crate::{
    call::Call,
    client::Scrip,
    error::Error,
    pages::Page,
    types::{Bucket, Event},
};
use jiff::Timestamp;
use serde::Deserialize;

/// How finely usage is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interval {
    /// Kept for 90 days.
    Hour,
    /// Kept for three years.
    Day,
    /// Kept for ever.
    Month,
}

/// Which usage is asked for.
#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// Of one product; needed where a project has several.
    pub product_id: Option<String>,
    /// The first instant, cut to the interval.
    pub from: Option<Timestamp>,
    /// The first instant that is not asked for, likewise.
    pub to: Option<Timestamp>,
    /// How finely; the server's choice by default.
    pub interval: Option<Interval>,
    /// Whether to tell apart what the credits were used for, by `meta.feature`.
    pub by_feature: bool,
}

impl Scrip {
    /// What happened after an event, the oldest first, up to 100 of them, of these kinds or of all; and
    /// what to go on from. The last 30 days are kept. Needs a secret key.
    ///
    /// ```no_run
    /// # async fn example(scrip: scrip_client::Scrip) -> Result<(), scrip_client::Error> {
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
    ///
    /// # Errors
    ///
    /// `secret_key_required`, `event_not_found` where it is no event's id, and what any call may answer.
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
        Ok((page.items, page.next))
    }

    /// What was granted and used, empty stretches included, at most 1,000 of them. Needs a secret key.
    ///
    /// # Errors
    ///
    /// `secret_key_required`, `product_not_found`, `invalid_request`, and what any call may answer.
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
            .query("from", query.from)
            .query("to", query.to)
            .query("interval", interval)
            .query("groupBy", query.by_feature.then_some("feature"));
        let usage: Usage = self.call(call).await?;
        Ok(usage.buckets)
    }
}

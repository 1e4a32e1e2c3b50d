//! Events, as webhooks bring them and as the account's own list keeps them for 30 days. They come late,
//! twice and in any order, in the API version of the merchant's endpoint, and about everything in the
//! merchant's account, most of which is none of ours. Of each only the name of what it is about is read:
//! how that stands is asked for.

use domain::{
    text::{CheckoutId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
};
use port::{Subject, Told};
use serde::Deserialize;

use super::{client::Client, error::Error, form::Form, id::EventId};

/// What is acted on. Stripe takes at most twenty in a query.
pub const KINDS: [&str; 20] = [
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "invoice.paid",
    "invoice.payment_failed",
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "customer.subscription.paused",
    "customer.subscription.resumed",
    "charge.refunded",
    "charge.refund.updated",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "charge.dispute.closed",
];

/// The most that a page has.
const PAGE: u8 = 100;

/// An event, as far as it is read.
#[derive(Debug, Clone, Deserialize)]
pub struct Notice {
    /// The same each time that it is delivered.
    pub id: EventId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened, in seconds since the Unix epoch. Several may share one.
    #[serde(default)]
    created: serde_json::Value,
    /// Whether real money is meant.
    #[serde(default)]
    livemode: serde_json::Value,
    #[serde(default)]
    data: Data,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Data {
    /// Of another kind of event anything may be there.
    #[serde(default)]
    object: serde_json::Value,
}

/// A page of the list.
#[derive(Debug, Clone, Deserialize)]
pub struct Notices {
    /// The newest first.
    pub data: Vec<Notice>,
    /// Whether there are older ones.
    #[serde(default)]
    pub has_more: bool,
}

impl Notice {
    /// Reads the body of a webhook. Unknown fields and unknown types are fine.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn parse(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body).map_err(|error| format!("the event cannot be read: {error}"))
    }

    /// Whether real money is meant; `None`: it does not say.
    #[must_use]
    pub fn livemode(&self) -> Option<bool> {
        self.livemode.as_bool()
    }

    /// When it happened; without a date at the beginning of time.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        Timestamp(self.created.as_i64().unwrap_or(0).saturating_mul(1000))
    }

    /// What it says, where that is acted on.
    ///
    /// # Errors
    ///
    /// It is acted on, and does not name what it is about.
    pub fn told(&self) -> Result<Option<Told>, String> {
        if !KINDS.contains(&self.kind.as_str()) {
            return Ok(None);
        }
        let object = &self.data.object;
        let (id, intent) = (object.get("id"), object.get("payment_intent"));
        let kind = self.kind.as_str();
        let about = if kind.starts_with("checkout.session.") {
            CheckoutId::new(text(id)).map(Subject::Checkout)
        } else if kind.starts_with("invoice.") {
            InvoiceId::new(text(id)).map(Subject::Invoice)
        } else if kind.starts_with("customer.subscription.") {
            SubscriptionId::new(text(id)).map(Subject::Subscription)
        } else if intent.is_none_or(serde_json::Value::is_null) {
            // Money of no payment intent is none of ours.
            return Ok(None);
        } else {
            PaymentId::new(text(intent)).map(Subject::Payment)
        };
        let about = about.map_err(|_| format!("a {kind} does not name what it is about"))?;
        Ok(Some(Told {
            id: self.id.as_str().to_owned(),
            kind: kind.to_owned(),
            at: self.at(),
            about,
        }))
    }
}

fn text(value: Option<&serde_json::Value>) -> &str {
    let text = value.and_then(serde_json::Value::as_str);
    text.unwrap_or_default()
}

impl Client {
    /// What happened since a second, the newest first; what is older than `after` on the next pages.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn events(&self, since: i64, after: Option<&str>) -> Result<Notices, Error> {
        self.get(&["events"], &form(since, after)).await
    }
}

fn form(since: i64, after: Option<&str>) -> Form {
    let mut form = Form::new().with("created[gte]", since).with("limit", PAGE);
    for (i, kind) in KINDS.iter().enumerate() {
        form = form.with(format!("types[{i}]"), kind);
    }
    form.with_some("starting_after", after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(kind: &str, object: &str) -> Result<Option<Told>, String> {
        let json = format!(
            r#"{{"id":"evt_1","object":"event","type":"{kind}","created":1795000000,
            "livemode":false,"api_version":"2020-08-27","data":{{"object":{object}}}}}"#
        );
        Notice::parse(json.as_bytes()).unwrap().told()
    }

    #[test]
    fn an_event_says_where_to_look() {
        let about = |kind, object| told(kind, object).unwrap().unwrap().about;
        assert_eq!(
            about("checkout.session.completed", r#"{"id":"cs_1"}"#),
            Subject::Checkout(CheckoutId::new("cs_1").unwrap())
        );
        assert_eq!(
            about("invoice.paid", r#"{"id":"in_1","lines":"of any version"}"#),
            Subject::Invoice(InvoiceId::new("in_1").unwrap())
        );
        assert_eq!(
            about("customer.subscription.paused", r#"{"id":"sub_1"}"#),
            Subject::Subscription(SubscriptionId::new("sub_1").unwrap())
        );
        let payment = Subject::Payment(PaymentId::new("pi_1").unwrap());
        for kind in ["charge.refunded", "refund.failed", "charge.dispute.closed"] {
            let object = r#"{"id":"xx_1","payment_intent":"pi_1"}"#;
            assert_eq!(about(kind, object), payment, "{kind}");
        }
    }

    #[test]
    fn what_is_not_ours_is_left_alone_and_what_names_nothing_is_said() {
        assert_eq!(told("radar.early_fraud_warning.created", "7"), Ok(None));
        assert_eq!(told("price.updated", r#"{"id":{"odd":1}}"#), Ok(None));
        assert_eq!(told("charge.refunded", r#"{"id":"ch_1"}"#), Ok(None));
        assert!(told("invoice.paid", r#"{"id":null}"#).is_err());
    }

    #[test]
    fn the_list_is_asked_for_what_is_acted_on() {
        let pairs = form(7, Some("evt_9"));
        let lines = crate::form::lines(&pairs);
        assert_eq!(lines[0], "created[gte]=7");
        assert_eq!(lines[1], "limit=100");
        assert_eq!(lines.len(), 3 + KINDS.len());
        assert_eq!(lines.last().unwrap(), "starting_after=evt_9");
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(notice) = Notice::parse(&body) {
                drop(notice.told());
            }
        }
    }
}

//! Events, from webhooks and from the account's list, which keeps them for 30 days. They come late, twice and in any
//! order, in the API version of the merchant's endpoint, and are mostly not about Scrip. Only the object's id is taken
//! from an event: its state is fetched.

use domain::{
    id::ProjectId,
    text::{CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId, TextError},
    time::Timestamp,
};
use payments_port::{ObjectRef, Origin, ProviderEvent, Span};
use serde::Deserialize;
use serde_json::Value;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::EventId,
    metadata::{Metadata, OPERATION},
    object::{Page, object},
};

/// The only of these events whose object is the charge, which has its payment's metadata.
const CHARGE_REFUNDED: &str = "charge.refunded";

/// A payment, perhaps of a part, of an invoice.
const INVOICE_PAYMENT_PAID: &str = "invoice_payment.paid";

/// What begins the types of a payment's own events. Only payments by a card on file are looked at: those of checkouts and
/// invoices come with an event about these.
const PAYMENT: &str = "payment_intent.";

/// Event types that Scrip acts on.
pub(super) const KINDS: [&str; 26] = [
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "invoice.paid",
    "invoice.payment_failed",
    "invoice.updated",
    INVOICE_PAYMENT_PAID,
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "customer.subscription.paused",
    "customer.subscription.resumed",
    CHARGE_REFUNDED,
    "charge.refund.updated",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "charge.dispute.closed",
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.processing",
    "payment_intent.canceled",
];

/// Types that the event list is not filtered by: Stripe takes at most twenty. Each of the first comes with another one
/// about the same payment; a payment under way has an outcome, and only Scrip cancels one.
const UNLISTED: [&str; 6] = [
    "charge.refund.updated",
    "refund.failed",
    "charge.dispute.updated",
    "charge.dispute.funds_reinstated",
    "payment_intent.processing",
    "payment_intent.canceled",
];

fn listed() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().filter(|kind| !UNLISTED.contains(kind))
}

/// The kept parts of an event: its object and whose it seems to be, not the object's state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "RawEvent")]
pub struct StripeEvent {
    pub id: EventId,
    kind: String,
    /// When it happened; the Unix epoch where the event has no date.
    at: Timestamp,
    /// Whether it is from live mode, if it says so.
    pub livemode: Option<bool>,
    /// The object to fetch, or why its id cannot be read; `None` if Scrip does not act on the event.
    about: Option<Result<ObjectRef, TextError>>,
    /// Metadata in the event's copy of the object; for an invoice, of its subscription.
    metadata: Option<Metadata>,
    subscription: Option<SubscriptionId>,
    customer: Option<CustomerId>,
}

object!(EventId => StripeEvent, "events", []);

/// An event as Stripe sends it. Fields of unused types may have any value.
#[derive(Deserialize)]
struct RawEvent {
    id: EventId,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    created: Value,
    #[serde(default)]
    livemode: Value,
    #[serde(default)]
    data: Data,
}

#[derive(Default, Deserialize)]
struct Data {
    #[serde(default)]
    object: Value,
}

impl From<RawEvent> for StripeEvent {
    fn from(whole: RawEvent) -> Self {
        let object = &whole.data.object;
        let (mut metadata, mut subscription) = (object.get("metadata"), None);
        if whole.kind.starts_with("invoice.") {
            // An invoice names its subscription under `parent` since API version 2025-03-31, at the top level before.
            let places = [object.get("parent"), Some(object)].into_iter().flatten();
            let mut details = places.filter_map(|place| place.get("subscription_details"));
            let details = details.find(|details| details.is_object());
            metadata = details.and_then(|details| details.get("metadata"));
            subscription = details.and_then(|details| details.get("subscription"));
            subscription = subscription.or_else(|| object.get("subscription"));
        }
        let subscription = subscription.and_then(Value::as_str);
        let customer = object.get("customer").and_then(Value::as_str);
        let seconds = whole.created.as_i64().unwrap_or(0);
        Self {
            about: subject(&whole.kind, object),
            metadata: metadata.and_then(|metadata| Metadata::deserialize(metadata).ok()),
            subscription: subscription.and_then(|id| SubscriptionId::new(id).ok()),
            customer: customer.and_then(|id| CustomerId::new(id).ok()),
            id: whole.id,
            kind: whole.kind,
            at: Timestamp(seconds.saturating_mul(1000)),
            livemode: whole.livemode.as_bool(),
        }
    }
}

fn subject(kind: &str, object: &Value) -> Option<Result<ObjectRef, TextError>> {
    if !KINDS.contains(&kind) {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let id = object.get("id").map(text).unwrap_or_default();
    Some(if kind.starts_with("checkout.session.") {
        CheckoutId::new(id).map(ObjectRef::Checkout)
    } else if kind.starts_with("invoice.") {
        InvoiceId::new(id).map(ObjectRef::Invoice)
    } else if kind == INVOICE_PAYMENT_PAID {
        let invoice = object.get("invoice").map(text).unwrap_or_default();
        InvoiceId::new(invoice).map(ObjectRef::Invoice)
    } else if kind.starts_with("customer.subscription.") {
        SubscriptionId::new(id).map(ObjectRef::Subscription)
    } else if kind.starts_with(PAYMENT) {
        object.get("metadata")?.get(OPERATION)?;
        PaymentId::new(id).map(ObjectRef::Payment)
    } else {
        // Our payments have a payment intent.
        let intent = object.get("payment_intent").filter(|id| !id.is_null())?;
        PaymentId::new(text(intent)).map(ObjectRef::Payment)
    })
}

impl StripeEvent {
    /// Parses the body of a webhook. Unknown fields and types are ignored.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body).map_err(|error| format!("the event cannot be read: {error}"))
    }

    /// The event for the port; `None` if Scrip does not act on it.
    pub(super) fn provider_event(
        &self,
        project: ProjectId,
    ) -> Result<Option<ProviderEvent>, String> {
        let kind = &self.kind;
        let Some(about) = self.about.clone() else {
            return Ok(None);
        };
        let about = about.map_err(|_| format!("the event {kind} does not name its object"))?;
        let metadata = self.metadata.as_ref();
        let is_ours = metadata.map(|metadata| metadata.project == Some(project));
        // Refunds and disputes have their own metadata. A charge has its payment's, except for a subscription, where it
        // names the customer.
        let is_of_payment = matches!(about, ObjectRef::Payment(_));
        let origin = match is_ours {
            Some(true) => Origin::Ours,
            Some(false)
                if !is_of_payment || kind == CHARGE_REFUNDED || kind.starts_with(PAYMENT) =>
            {
                Origin::Unmarked {
                    subscription: self.subscription.clone(),
                    customer: self.customer.clone(),
                }
            }
            _ => Origin::Unsaid,
        };
        Ok(Some(ProviderEvent {
            id: self.id.as_str().to_owned(),
            kind: kind.clone(),
            at: self.at,
            about,
            origin,
        }))
    }
}

impl Client {
    /// A page of the events within a span, newest first, after the event `after`. A page that is unreadable or does not
    /// arrive halves the page size, down to one.
    pub(super) async fn events(
        &self,
        span: Span,
        after: Option<&str>,
    ) -> Result<Page<StripeEvent>, Error> {
        loop {
            let page = self.quota.page();
            let query = form(span, page, after);
            match self.list::<EventId>(&query, &[]).await {
                Ok(events) => {
                    self.quota.larger_pages(page);
                    return Ok(events);
                }
                Err(error) => {
                    if !matches!(error, Error::Refused(_)) {
                        self.quota.smaller_pages(page);
                    }
                    // Only an unreadable page is read again: a timeout has used up this request's time.
                    let garbage = matches!(error, Error::Other(payments_port::Error::Garbage(_)));
                    if page == 1 || !garbage {
                        return Err(error);
                    }
                }
            }
        }
    }
}

fn form(span: Span, page: u8, after: Option<&str>) -> Form {
    let seconds = |at: Timestamp| at.0.div_euclid(1000).max(0);
    Form::new()
        .with("created[gte]", seconds(span.since))
        .with_some("created[lte]", span.until.map(seconds))
        .with("limit", page)
        .with_each("types", &listed().collect::<Vec<_>>())
        .with_some("starting_after", after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROJECT: ProjectId = ProjectId(7);

    fn provider_event(kind: &str, object: &str) -> Result<Option<ProviderEvent>, String> {
        let json = format!(
            r#"{{"id":"evt_1","object":"event","type":"{kind}","created":1795000000,
            "livemode":false,"api_version":"2020-08-27","data":{{"object":{object}}}}}"#
        );
        StripeEvent::parse(json.as_bytes())
            .unwrap()
            .provider_event(PROJECT)
    }

    #[test]
    fn an_event_says_where_to_look() {
        let about = |kind, object| provider_event(kind, object).unwrap().unwrap().about;
        assert_eq!(
            about("checkout.session.completed", r#"{"id":"cs_1"}"#),
            ObjectRef::Checkout(CheckoutId::new("cs_1").unwrap())
        );
        assert_eq!(
            about("invoice.paid", r#"{"id":"in_1","lines":"of any version"}"#),
            ObjectRef::Invoice(InvoiceId::new("in_1").unwrap())
        );
        assert_eq!(
            about(
                "invoice_payment.paid",
                r#"{"id":"inpay_1","invoice":"in_1"}"#
            ),
            ObjectRef::Invoice(InvoiceId::new("in_1").unwrap())
        );
        assert_eq!(
            about("customer.subscription.paused", r#"{"id":"sub_1"}"#),
            ObjectRef::Subscription(SubscriptionId::new("sub_1").unwrap())
        );
        let payment = ObjectRef::Payment(PaymentId::new("pi_1").unwrap());
        for kind in ["charge.refunded", "refund.failed", "charge.dispute.closed"] {
            let object = r#"{"id":"xx_1","payment_intent":"pi_1"}"#;
            assert_eq!(about(kind, object), payment, "{kind}");
        }
    }

    #[test]
    fn a_payment_by_a_card_on_file_is_looked_at_and_no_other_payment() {
        let event = |marks: &str| {
            let object = format!(r#"{{"id":"pi_1","payment_intent":null,"metadata":{marks}}}"#);
            provider_event("payment_intent.payment_failed", &object).unwrap()
        };
        let marks = |project| {
            format!(r#"{{"scrip_project_id":"{project}","scrip_operation":"top_up/ord_1"}}"#)
        };
        let ours = event(&marks(PROJECT)).unwrap();
        let payment = ObjectRef::Payment(PaymentId::new("pi_1").unwrap());
        assert_eq!((ours.about, ours.origin), (payment, Origin::Ours));
        let foreign = event(&marks(ProjectId(8))).unwrap().origin;
        assert!(matches!(foreign, Origin::Unmarked { .. }));
        // A checkout's payment, and another product's.
        let checkout = format!(r#"{{"scrip_project_id":"{PROJECT}","scrip_order_id":"ord_1"}}"#);
        assert_eq!(event(&checkout), None);
        assert_eq!(event("{}"), None);
        assert_eq!(event("null"), None);
    }

    #[test]
    fn foreign_events_are_ignored_and_events_without_an_object_reported() {
        assert_eq!(
            provider_event("radar.early_fraud_warning.created", "7"),
            Ok(None)
        );
        assert_eq!(
            provider_event("price.updated", r#"{"id":{"odd":1}}"#),
            Ok(None)
        );
        assert_eq!(
            provider_event("charge.refunded", r#"{"id":"ch_1"}"#),
            Ok(None)
        );
        assert!(provider_event("invoice.paid", r#"{"id":null}"#).is_err());
    }

    #[test]
    fn whose_it_is_is_read_off_its_copy_where_such_copies_say_it() {
        let origin = |kind, object: &str| provider_event(kind, object).unwrap().unwrap().origin;
        let ours = format!(r#"{{"scrip_project_id":"{PROJECT}"}}"#);
        let other = format!(r#"{{"scrip_project_id":"{}"}}"#, ProjectId(8));
        let unmarked = |subscription, customer| Origin::Unmarked {
            subscription,
            customer,
        };
        let session = |marks: &str| {
            let object = format!(r#"{{"id":"cs_1","payment_intent":"pi_1","metadata":{marks}}}"#);
            origin("checkout.session.completed", &object)
        };
        assert_eq!(session(&ours), Origin::Ours);
        for marks in ["{}", &other, r#"{"crm":"7"}"#] {
            assert_eq!(session(marks), unmarked(None, None), "{marks}");
        }
        let bill = |rest: &str| {
            origin(
                "invoice.paid",
                &format!(r#"{{"id":"in_1","metadata":{{}},{rest}}}"#),
            )
        };
        let of = SubscriptionId::new("sub_1").ok();
        let parent = |marks: &str| {
            bill(&format!(
                r#""parent":{{"subscription_details":{{"subscription":"sub_1","metadata":{marks}}}}}"#
            ))
        };
        assert_eq!(parent(&ours), Origin::Ours);
        assert_eq!(parent("{}"), unmarked(of.clone(), None));
        let beside = r#""subscription":"sub_1","subscription_details":{"metadata":{}}"#;
        assert_eq!(bill(beside), unmarked(of, None));
        // API versions whose invoices do not copy the subscription's metadata.
        assert_eq!(bill(r#""subscription":"sub_1""#), Origin::Unsaid);
        assert_eq!(bill(r#""parent":null"#), Origin::Unsaid);
        let charge = r#"{"id":"ch_1","payment_intent":"pi_1","customer":"cus_1","metadata":{}}"#;
        let customer = CustomerId::new("cus_1").ok();
        assert_eq!(origin("charge.refunded", charge), unmarked(None, customer));
        for kind in ["refund.updated", "charge.dispute.created"] {
            let object = |marks: &str| {
                format!(r#"{{"id":"x_1","payment_intent":"pi_1","metadata":{marks}}}"#)
            };
            assert_eq!(origin(kind, &object("{}")), Origin::Unsaid, "{kind}");
            assert_eq!(origin(kind, &object(&ours)), Origin::Ours, "{kind}");
        }
    }

    #[test]
    fn the_list_is_asked_for_what_is_acted_on() {
        let since = Timestamp(7000);
        let until = Some(Timestamp(9000));
        let pairs = form(Span { since, until }, 50, Some("evt_9"));
        let lines = crate::form::lines(&pairs);
        assert_eq!(lines[0], "created[gte]=7");
        assert_eq!(lines[1], "created[lte]=9");
        assert_eq!(lines[2], "limit=50");
        assert_eq!(lines.len(), 4 + 20, "no more than Stripe takes");
        for kind in ["payment_intent.succeeded", "payment_intent.payment_failed"] {
            assert!(lines.iter().any(|line| line.ends_with(kind)), "{kind}");
        }
        assert_eq!(lines.last().unwrap(), "starting_after=evt_9");
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(
            body in proptest::collection::vec(any::<u8>(), 0..200),
            kind in proptest::sample::select(KINDS.to_vec()),
            id in ".{0,300}",
        ) {
            let is_json = serde_json::from_slice::<Value>(&body).is_ok();
            prop_assert!(is_json || StripeEvent::parse(&body).is_err());
            let metadata = serde_json::json!({"scrip_operation": "top_up/1"});
            let object = serde_json::json!({
                "id": id, "payment_intent": id, "invoice": id, "metadata": metadata,
            });
            match provider_event(kind, &object.to_string()) {
                Ok(event) => {
                    let about = event.unwrap().about;
                    prop_assert_eq!(about.name(), id);
                }
                Err(error) => prop_assert!(error.contains(kind), "{}", error),
            }
        }
    }
}

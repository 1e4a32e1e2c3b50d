//! A webhook's event, once its signature was checked. Events come late, twice and in any order, in
//! the API version of the merchant's endpoint, and about everything in the merchant's account, most
//! of which is none of ours: what is not acted on is [`Payload::Ignored`], never an error.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    charges::Charge, checkout_sessions::Session, disputes::Dispute, id::EventId, invoices::Invoice,
    subscriptions::Subscription,
};

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The same each time that it is delivered.
    pub id: EventId,
    /// Its type, as it was sent.
    pub kind: String,
    /// When it happened, in seconds since the Unix epoch. Several may share one.
    pub created: Option<i64>,
    /// Whether real money is meant.
    pub livemode: Option<bool>,
    /// The version that it is written in.
    pub api_version: Option<String>,
    /// What happened.
    pub payload: Payload,
}

/// What happened, with the object as it was then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// `checkout.session.completed`: the buyer is done; see [`Session::is_paid`].
    CheckoutCompleted(Box<Session>),
    /// `checkout.session.async_payment_succeeded`: the money of a complete session came.
    CheckoutPaymentSucceeded(Box<Session>),
    /// `checkout.session.async_payment_failed`: it will not come.
    CheckoutPaymentFailed(Box<Session>),
    /// `checkout.session.expired`: nothing was bought.
    CheckoutExpired(Box<Session>),
    /// `invoice.paid`: a cycle or a switch is paid, or nothing was to be paid for it.
    InvoicePaid(Box<Invoice>),
    /// `invoice.payment_failed`: it was tried and is not.
    InvoicePaymentFailed(Box<Invoice>),
    /// `customer.subscription.created`
    SubscriptionCreated(Box<Subscription>),
    /// `customer.subscription.updated`: another status, period, price or end.
    SubscriptionUpdated(Box<Subscription>),
    /// `customer.subscription.deleted`: it ended.
    SubscriptionDeleted(Box<Subscription>),
    /// `charge.refunded`: some or all of a charge went back.
    ChargeRefunded(Box<Charge>),
    /// `charge.dispute.created`: an inquiry, or the money is withheld; see
    /// [`DisputeStatus::money`](super::disputes::DisputeStatus::money).
    DisputeCreated(Box<Dispute>),
    /// `charge.dispute.funds_withdrawn`: the money is withheld; how an inquiry that became a dispute
    /// shows.
    DisputeFundsWithdrawn(Box<Dispute>),
    /// `charge.dispute.funds_reinstated`: it is back, which an appeal can bring about after the end.
    DisputeFundsReinstated(Box<Dispute>),
    /// `charge.dispute.closed`: decided.
    DisputeClosed(Box<Dispute>),
    /// Anything else.
    Ignored,
}

/// A body that is no event, or an event of a known type that lacks what its type has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the event cannot be read: {0}")]
pub struct Error(String);

#[derive(Deserialize)]
struct Envelope<'a> {
    id: EventId,
    #[serde(rename = "type")]
    kind: String,
    // Of these nothing is expected before the type is known: another kind of event may have
    // something else there.
    #[serde(borrow)]
    created: Option<&'a RawValue>,
    #[serde(borrow)]
    livemode: Option<&'a RawValue>,
    #[serde(borrow)]
    api_version: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Data<T> {
    object: T,
}

impl Event {
    /// Reads the body of a webhook. Unknown fields and unknown types are fine.
    ///
    /// # Errors
    ///
    /// See [`Error`]; it names the field.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let Envelope {
            id,
            kind,
            created,
            livemode,
            api_version,
            data,
        } = read(body)?;
        let payload = payload(&kind, data.map(RawValue::get).unwrap_or_default())?;
        Ok(Self {
            id,
            kind,
            created: created.and_then(loosely),
            livemode: livemode.and_then(loosely),
            api_version: api_version.and_then(loosely),
            payload,
        })
    }
}

fn payload(kind: &str, data: &str) -> Result<Payload, Error> {
    Ok(match kind {
        "checkout.session.completed" => Payload::CheckoutCompleted(object(data)?),
        "checkout.session.async_payment_succeeded" => {
            Payload::CheckoutPaymentSucceeded(object(data)?)
        }
        "checkout.session.async_payment_failed" => Payload::CheckoutPaymentFailed(object(data)?),
        "checkout.session.expired" => Payload::CheckoutExpired(object(data)?),
        "invoice.paid" => Payload::InvoicePaid(object(data)?),
        "invoice.payment_failed" => Payload::InvoicePaymentFailed(object(data)?),
        "customer.subscription.created" => Payload::SubscriptionCreated(object(data)?),
        "customer.subscription.updated" => Payload::SubscriptionUpdated(object(data)?),
        "customer.subscription.deleted" => Payload::SubscriptionDeleted(object(data)?),
        "charge.refunded" => Payload::ChargeRefunded(object(data)?),
        "charge.dispute.created" => Payload::DisputeCreated(object(data)?),
        "charge.dispute.funds_withdrawn" => Payload::DisputeFundsWithdrawn(object(data)?),
        "charge.dispute.funds_reinstated" => Payload::DisputeFundsReinstated(object(data)?),
        "charge.dispute.closed" => Payload::DisputeClosed(object(data)?),
        _ => Payload::Ignored,
    })
}

fn object<T: DeserializeOwned>(data: &str) -> Result<Box<T>, Error> {
    let Data { object } =
        read(data.as_bytes()).map_err(|Error(inner)| Error(format!("data.{inner}")))?;
    Ok(Box::new(object))
}

fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|e| Error(e.to_string()))?;
    json.end().map_err(|error| Error(error.to_string()))?;
    Ok(value)
}

fn loosely<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

#[cfg(test)]
mod tests;

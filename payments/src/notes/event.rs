//! What a provider told, as it is kept: JSON, since the provider's own words are in it.

use std::borrow::Cow;

use domain::{
    text::{CheckoutId, InvoiceId, PaymentId, SubscriptionId, TextError},
    time::Timestamp,
};
use port::{Origin, Subject, Told};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    /// Milliseconds since the Unix epoch.
    at: i64,
    about: About,
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum About {
    Checkout,
    Subscription,
    Invoice,
    Payment,
}

pub(super) fn write(told: &Told) -> Vec<u8> {
    let (about, name) = match &told.about {
        Subject::Checkout(id) => (About::Checkout, id.as_str()),
        Subject::Subscription(id) => (About::Subscription, id.as_str()),
        Subject::Invoice(id) => (About::Invoice, id.as_str()),
        Subject::Payment(id) => (About::Payment, id.as_str()),
    };
    let stored = Stored {
        id: told.id.as_str().into(),
        kind: told.kind.as_str().into(),
        at: told.at.0,
        about,
        name: name.into(),
    };
    // Texts and a number: nothing in it can fail to be JSON.
    serde_json::to_vec(&stored).unwrap_or_default()
}

/// Or why it is none.
pub(super) fn read(json: &[u8]) -> Result<Told, String> {
    let stored: Stored<'_> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let name = stored.name.as_ref();
    let about = match stored.about {
        About::Checkout => CheckoutId::new(name).map(Subject::Checkout),
        About::Subscription => SubscriptionId::new(name).map(Subject::Subscription),
        About::Invoice => InvoiceId::new(name).map(Subject::Invoice),
        About::Payment => PaymentId::new(name).map(Subject::Payment),
    };
    Ok(Told {
        id: stored.id.into_owned(),
        kind: stored.kind.into_owned(),
        at: Timestamp(stored.at),
        about: about.map_err(|TextError(why)| why)?,
        // Nothing is stored of what is another's.
        origin: Origin::Ours,
    })
}

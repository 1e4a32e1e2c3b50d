//! Payment intents: the way from a session to its charge.

use serde::Deserialize;

use super::{
    charges::Charge,
    client::Client,
    error::Error,
    expand::{Expandable, named},
    form::Form,
    id::{CustomerId, PaymentId},
    metadata::Metadata,
    read::words,
};

/// A payment intent, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PaymentIntent {
    /// Its identifier.
    pub id: PaymentId,
    /// What came in, in the minor unit.
    pub amount_received: i64,
    /// How far it is.
    pub status: Option<IntentStatus>,
    /// The last charge that was tried for it.
    pub latest_charge: Option<Expandable<Charge>>,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
}

named!(PaymentIntent, PaymentId);

words! {
    /// How far a payment intent is.
    IntentStatus {
        /// Nothing was tried, or what was tried failed.
        RequiresPaymentMethod,
        /// To be confirmed.
        RequiresConfirmation,
        /// The buyer has something to do, such as to prove who they are.
        RequiresAction,
        /// The money is on its way.
        Processing,
        /// Authorised, not taken.
        RequiresCapture,
        /// Called off.
        Canceled,
        /// The money is there.
        Succeeded,
    }
}

impl Client {
    /// Reads a payment intent, with its last charge.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn payment_intent(&self, id: &PaymentId) -> Result<PaymentIntent, Error> {
        let path = ["payment_intents", id.as_str()];
        self.get_with(&path, &Form::new(), &["latest_charge"]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ChargeId;

    #[test]
    fn the_charge_is_found() {
        let json = r#"{"id":"pi_1","object":"payment_intent","amount_received":500,
            "latest_charge":"ch_1","customer":"cus_1","metadata":{},"status":"succeeded"}"#;
        let intent: PaymentIntent = serde_json::from_str(json).unwrap();
        let charge = intent.latest_charge.as_ref().map(Expandable::id);
        assert_eq!(charge, ChargeId::new("ch_1").as_ref());
    }
}

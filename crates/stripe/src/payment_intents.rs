//! Payment intents: the way from a session to its charge.

use serde::Deserialize;

use super::{
    id::{ChargeId, PaymentId},
    metadata::Metadata,
    object::{Expandable, object},
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PaymentIntent {
    pub id: PaymentId,
    pub amount_received: i64,
    /// Its status, for example `processing`.
    pub status: Option<String>,
    pub latest_charge: Option<Expandable<ChargeId>>,
    #[serde(default)]
    pub metadata: Metadata,
}

object!(PaymentId => PaymentIntent, "payment_intents", ["latest_charge"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charge_is_found() {
        let json = r#"{"id":"pi_1","object":"payment_intent","amount_received":500,
            "latest_charge":"ch_1","customer":"cus_1","metadata":{},"status":"succeeded"}"#;
        let intent: PaymentIntent = serde_json::from_str(json).unwrap();
        let charge = intent.latest_charge.as_ref().map(Expandable::id);
        assert_eq!(charge, ChargeId::new("ch_1").as_ref().ok());
    }
}

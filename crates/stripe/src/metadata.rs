//! The metadata that Scrip writes on Stripe's objects to recognize them: project, order, price, user.
//!
//! Merchants can edit metadata, so reading it never fails; an invalid value counts as absent.

use std::collections::BTreeMap;

use domain::{
    Quantity,
    id::{OrderId, PriceId, ProjectId},
    text::ExternalUserId,
};
pub use payments_port::OrderReference;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::form::Form;

pub const PROJECT: &str = "scrip_project_id";
pub const ORDER: &str = "scrip_order_id";
pub const PRICE: &str = "scrip_price_id";
/// The key of the external user id, if the wallet is a user's.
pub const USER: &str = "scrip_external_user_id";
/// The key of the quantity, if more than one.
pub const QUANTITY: &str = "scrip_quantity";
/// The key of an operation's name, for example on a refund.
pub const OPERATION: &str = "scrip_operation";

/// Adds a reference as metadata under `prefix`, for example `payment_intent_data[metadata]`.
pub(super) fn put(reference: &OrderReference, form: Form, prefix: &str) -> Form {
    let user = reference.user.as_ref().map(ExternalUserId::as_str);
    let quantity = Some(reference.quantity.get());
    let several = quantity.filter(|quantity| *quantity > 1);
    form.with(format!("{prefix}[{PROJECT}]"), reference.project)
        .with(format!("{prefix}[{ORDER}]"), reference.order)
        .with(format!("{prefix}[{PRICE}]"), reference.price)
        .with_some(format!("{prefix}[{USER}]"), user)
        .with_some(format!("{prefix}[{QUANTITY}]"), several)
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    pub project: Option<ProjectId>,
    pub order: Option<OrderId>,
    pub price: Option<PriceId>,
    pub user: Option<ExternalUserId>,
    pub quantity: Quantity,
    pub operation: Option<String>,
    /// All metadata, the merchant's included.
    pub all: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // `null` means none.
        let all: Option<BTreeMap<String, Value>> = Option::deserialize(from)?;
        let texts = all.unwrap_or_default().into_iter();
        let texts = texts.filter_map(|(key, value)| Some((key, value.as_str()?.to_owned())));
        let all: BTreeMap<String, String> = texts.collect();
        let text = |key: &str| all.get(key).map(String::as_str);
        Ok(Self {
            project: text(PROJECT).and_then(|text| text.parse().ok()),
            order: text(ORDER).and_then(|text| text.parse().ok()),
            price: text(PRICE).and_then(|text| text.parse().ok()),
            user: text(USER).and_then(|text| ExternalUserId::new(text).ok()),
            quantity: text(QUANTITY)
                .and_then(|text| Quantity::new(text.parse().ok()?))
                .unwrap_or_default(),
            operation: text(OPERATION).map(ToOwned::to_owned),
            all,
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{OrderSerial, WalletKey};

    use super::*;

    #[test]
    fn only_what_is_ours_is_read() {
        let read = |json: &str| serde_json::from_str::<Metadata>(json).unwrap();
        let project = ProjectId(1);
        let order = OrderId {
            serial: OrderSerial(2),
            wallet: WalletKey([0; 16]),
        };
        let json =
            format!(r#"{{"{PROJECT}":"{project}","{ORDER}":"{order}","{PRICE}":"else","x":"y"}}"#);
        let metadata = read(&json);
        assert_eq!(metadata.project, Some(project));
        assert_eq!(metadata.order, Some(order));
        assert_eq!((metadata.price, metadata.user), (None, None));
        assert_eq!(metadata.quantity, Quantity::ONE);
        assert_eq!(metadata.operation, None);
        assert_eq!(read("{}"), Metadata::default());
        assert_eq!(read("null"), Metadata::default());
    }
}

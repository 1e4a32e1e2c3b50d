//! What we write on Stripe's objects to know them again: which project's, which order's.
//!
//! Metadata is the merchant's to edit, so reading it never fails; what does not parse is not ours.

use domain::{
    Quantity,
    id::{OrderId, PriceId, ProjectId},
    text::ExternalUserId,
};
pub use port::Reference;
use serde::{Deserialize, Deserializer};

use super::form::Form;

/// The key under which the project is written.
pub const PROJECT: &str = "scrip_project_id";
/// The key under which the order is written.
pub const ORDER: &str = "scrip_order_id";
/// The key under which our price is written.
pub const PRICE: &str = "scrip_price_id";
/// The key under which the user is written whose wallet is filled, where it is a user's.
pub const USER: &str = "scrip_external_user_id";
/// The key under which it is written how many are bought, where it is more than one.
pub const QUANTITY: &str = "scrip_quantity";

/// The key under which an operation is written, such as a refund's.
pub const OPERATION: &str = "scrip_operation";

/// Adds a reference as metadata under `prefix`, such as `payment_intent_data[metadata]`.
pub(super) fn put(reference: &Reference, form: Form, prefix: &str) -> Form {
    let user = reference.user.as_ref().map(ExternalUserId::as_str);
    let quantity = Some(reference.quantity.get());
    let several = quantity.filter(|quantity| *quantity > 1);
    form.with(format!("{prefix}[{PROJECT}]"), reference.project)
        .with(format!("{prefix}[{ORDER}]"), reference.order)
        .with(format!("{prefix}[{PRICE}]"), reference.price)
        .with_some(format!("{prefix}[{USER}]"), user)
        .with_some(format!("{prefix}[{QUANTITY}]"), several)
}

/// What was read back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The project, where one is named.
    pub project: Option<ProjectId>,
    /// The order, where one is named.
    pub order: Option<OrderId>,
    /// Our price, where one is named.
    pub price: Option<PriceId>,
    /// The user, where one is named.
    pub user: Option<ExternalUserId>,
    /// How many, where it says so.
    pub quantity: Quantity,
    /// The operation that made it, where one is named.
    pub operation: Option<String>,
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        struct Texts {
            #[serde(default, rename = "scrip_project_id")]
            project: Option<String>,
            #[serde(default, rename = "scrip_order_id")]
            order: Option<String>,
            #[serde(default, rename = "scrip_price_id")]
            price: Option<String>,
            #[serde(default, rename = "scrip_external_user_id")]
            user: Option<String>,
            #[serde(default, rename = "scrip_quantity")]
            quantity: Option<String>,
            #[serde(default, rename = "scrip_operation")]
            operation: Option<String>,
        }
        // `null` stands for none.
        let texts = Option::<Texts>::deserialize(from)?.unwrap_or_default();
        Ok(Self {
            project: texts.project.and_then(|text| text.parse().ok()),
            order: texts.order.and_then(|text| text.parse().ok()),
            price: texts.price.and_then(|text| text.parse().ok()),
            user: texts.user.and_then(|text| ExternalUserId::new(text).ok()),
            quantity: texts
                .quantity
                .and_then(|text| Quantity::new(text.parse().ok()?))
                .unwrap_or_default(),
            operation: texts.operation,
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
        assert_eq!(
            read(&json),
            Metadata {
                project: Some(project),
                order: Some(order),
                price: None,
                user: None,
                quantity: Quantity::ONE,
                operation: None,
            }
        );
        assert_eq!(read("{}"), Metadata::default());
        assert_eq!(read("null"), Metadata::default());
    }
}

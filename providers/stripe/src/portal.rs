//! The customer portal: where a buyer sees bills, changes the card, switches tiers and cancels.

use serde::Deserialize;

use super::{form::Form, id::ConfigurationId, prices::StoredPrice};

/// Stripe takes so many products to switch between.
pub(super) const MAX_PRODUCTS: usize = 10;

/// What is sent for the portal of a project. Subscriptions can be switched between these prices, at most
/// [`MAX_PRODUCTS`], each of a product of its own; with none they cannot be switched.
pub(super) fn configuration(tiers: &[StoredPrice]) -> Form {
    const UPDATE: &str = "features[subscription_update]";
    let mut form = Form::new()
        .with("features[invoice_history][enabled]", true)
        .with("features[payment_method_update][enabled]", true)
        .with("features[subscription_cancel][enabled]", true)
        .with("features[subscription_cancel][mode]", "at_period_end")
        .with(format!("{UPDATE}[enabled]"), !tiers.is_empty());
    if tiers.is_empty() {
        return form;
    }
    // Up at once and paid at once, since credits follow at once. Down, or to a shorter cycle, when the one
    // that is paid for ends: what was granted for it is not taken back.
    let down = format!("{UPDATE}[schedule_at_period_end][conditions]");
    form = form
        .with(format!("{UPDATE}[default_allowed_updates][0]"), "price")
        .with(format!("{UPDATE}[proration_behavior]"), "always_invoice")
        .with(format!("{down}[0][type]"), "decreasing_item_amount")
        .with(format!("{down}[1][type]"), "shortening_interval");
    for (i, tier) in tiers.iter().enumerate() {
        let key = format!("{UPDATE}[products][{i}]");
        form = form
            .with(format!("{key}[product]"), tier.product.id())
            .with(format!("{key}[prices][0]"), &tier.id);
    }
    form
}

/// A configuration, as far as it is read.
#[derive(Debug, Deserialize)]
pub(super) struct Configuration {
    pub(super) id: ConfigurationId,
}

/// The way in: whoever has it is the customer, for a short time. Not to be logged or kept, so it cannot be
/// printed.
#[derive(Deserialize)]
pub(super) struct PortalSession {
    /// Where to send the customer.
    pub(super) url: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::lines;

    const ALWAYS: [&str; 4] = [
        "features[invoice_history][enabled]=true",
        "features[payment_method_update][enabled]=true",
        "features[subscription_cancel][enabled]=true",
        "features[subscription_cancel][mode]=at_period_end",
    ];

    #[test]
    fn tiers_can_be_switched_up_at_once_and_down_at_the_end() {
        let tier = |price: &str, product: &str| {
            let json = format!(r#"{{"id":"{price}","product":"{product}"}}"#);
            serde_json::from_str(&json).unwrap()
        };
        let tiers = [tier("price_1", "prod_a"), tier("price_3", "prod_b")];
        let mut expected = ALWAYS.to_vec();
        expected.extend([
            "features[subscription_update][enabled]=true",
            "features[subscription_update][default_allowed_updates][0]=price",
            "features[subscription_update][proration_behavior]=always_invoice",
            "features[subscription_update][schedule_at_period_end][conditions][0][type]=decreasing_item_amount",
            "features[subscription_update][schedule_at_period_end][conditions][1][type]=shortening_interval",
            "features[subscription_update][products][0][product]=prod_a",
            "features[subscription_update][products][0][prices][0]=price_1",
            "features[subscription_update][products][1][product]=prod_b",
            "features[subscription_update][products][1][prices][0]=price_3",
        ]);
        assert_eq!(lines(&configuration(&tiers)), expected);
    }

    #[test]
    fn without_tiers_there_is_nothing_to_switch() {
        let mut expected = ALWAYS.to_vec();
        expected.push("features[subscription_update][enabled]=false");
        assert_eq!(lines(&configuration(&[])), expected);
    }
}

//! The customer portal: where a buyer sees bills, changes the card, switches tiers and cancels.

use serde::Deserialize;

use super::{
    form::Form,
    id::{ConfigurationId, CustomerId, StripePriceId, StripeProductId},
};

/// Stripe takes so many products to switch between.
pub const MAX_PRODUCTS: usize = 10;

/// What the portal of a project offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewConfiguration {
    /// Subscriptions can be switched between these; at most [`MAX_PRODUCTS`]. With none they cannot
    /// be switched.
    pub products: Vec<PortalProduct>,
}

/// A product with the prices that can be switched to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalProduct {
    /// Which.
    pub product: StripeProductId,
    /// Its prices, of different intervals.
    pub prices: Vec<StripePriceId>,
}

impl NewConfiguration {
    /// What is sent.
    #[must_use]
    pub fn form(&self) -> Form {
        const UPDATE: &str = "features[subscription_update]";
        let mut form = Form::new()
            .with("features[invoice_history][enabled]", true)
            .with("features[payment_method_update][enabled]", true)
            .with("features[subscription_cancel][enabled]", true)
            .with("features[subscription_cancel][mode]", "at_period_end")
            .with(format!("{UPDATE}[enabled]"), !self.products.is_empty());
        if self.products.is_empty() {
            return form;
        }
        // Up at once and paid at once, since credits follow at once. Down, or to a shorter cycle,
        // when the one that is paid for ends: what was granted for it is not taken back.
        form = form
            .with(format!("{UPDATE}[default_allowed_updates][0]"), "price")
            .with(format!("{UPDATE}[proration_behavior]"), "always_invoice");
        for (i, condition) in ["decreasing_item_amount", "shortening_interval"]
            .into_iter()
            .enumerate()
        {
            let key = format!("{UPDATE}[schedule_at_period_end][conditions][{i}][type]");
            form = form.with(key, condition);
        }
        for (i, PortalProduct { product, prices }) in self.products.iter().enumerate() {
            let key = format!("{UPDATE}[products][{i}]");
            form = form.with(format!("{key}[product]"), product);
            for (j, price) in prices.iter().enumerate() {
                form = form.with(format!("{key}[prices][{j}]"), price);
            }
        }
        form
    }
}

/// A configuration, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Configuration {
    /// Its identifier.
    pub id: ConfigurationId,
}

/// A visit to be made possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPortalSession {
    /// Whose portal.
    pub customer: CustomerId,
    /// What it offers.
    pub configuration: ConfigurationId,
    /// Where the link back leads; none without it.
    pub return_url: Option<String>,
}

impl NewPortalSession {
    /// What is sent.
    #[must_use]
    pub fn form(&self) -> Form {
        Form::new()
            .with("customer", &self.customer)
            .with("configuration", &self.configuration)
            .with_some("return_url", self.return_url.as_ref())
    }
}

/// The way in: whoever has it is the customer, for a short time. Not to be logged or kept.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct PortalSession {
    /// Where to send the customer.
    pub url: String,
}

impl std::fmt::Debug for PortalSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PortalSession(..)")
    }
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

    fn product(product: &str, prices: &[&str]) -> PortalProduct {
        PortalProduct {
            product: StripeProductId::new(product).unwrap(),
            prices: prices
                .iter()
                .filter_map(|&price| StripePriceId::new(price))
                .collect(),
        }
    }

    #[test]
    fn tiers_can_be_switched_up_at_once_and_down_at_the_end() {
        let configuration = NewConfiguration {
            products: vec![
                product("prod_a", &["price_1", "price_2"]),
                product("prod_b", &["price_3"]),
            ],
        };
        let mut expected = ALWAYS.to_vec();
        expected.extend([
            "features[subscription_update][enabled]=true",
            "features[subscription_update][default_allowed_updates][0]=price",
            "features[subscription_update][proration_behavior]=always_invoice",
            "features[subscription_update][schedule_at_period_end][conditions][0][type]=decreasing_item_amount",
            "features[subscription_update][schedule_at_period_end][conditions][1][type]=shortening_interval",
            "features[subscription_update][products][0][product]=prod_a",
            "features[subscription_update][products][0][prices][0]=price_1",
            "features[subscription_update][products][0][prices][1]=price_2",
            "features[subscription_update][products][1][product]=prod_b",
            "features[subscription_update][products][1][prices][0]=price_3",
        ]);
        assert_eq!(lines(&configuration.form()), expected);
    }

    #[test]
    fn without_tiers_there_is_nothing_to_switch() {
        let mut expected = ALWAYS.to_vec();
        expected.push("features[subscription_update][enabled]=false");
        assert_eq!(lines(&NewConfiguration::default().form()), expected);
    }

    #[test]
    fn a_visit_names_customer_configuration_and_way_back() {
        let mut session = NewPortalSession {
            customer: CustomerId::new("cus_1").unwrap(),
            configuration: ConfigurationId::new("bpc_1").unwrap(),
            return_url: Some("https://shop.example/account".into()),
        };
        let full = [
            "customer=cus_1",
            "configuration=bpc_1",
            "return_url=https://shop.example/account",
        ];
        assert_eq!(lines(&session.form()), full);
        session.return_url = None;
        assert_eq!(lines(&session.form()), full[..2]);
    }

    #[test]
    fn the_way_in_is_not_printed() {
        let json =
            r#"{"id":"bps_1","object":"billing_portal.session","url":"https://in.example/x"}"#;
        let session: PortalSession = serde_json::from_str(json).unwrap();
        assert_eq!(session.url, "https://in.example/x");
        assert!(!format!("{session:?}").contains("in.example"));
    }
}

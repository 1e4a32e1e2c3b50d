//! Products, prices, coupons, promotion codes, customers.

use serde_json::{Value, json};

use super::View;
use crate::core::{
    books::Books,
    calendar::Interval,
    records::{Coupon, Customer, Duration, Off, Price, Product, PromotionCode},
};

impl View for Product {
    fn view(&self, _: &Books) -> Value {
        json!({
            "id": self.head.id,
            "object": "product",
            "active": self.active,
            "created": self.head.created,
            "updated": self.head.created,
            "default_price": null,
            "description": self.description,
            "images": [],
            "livemode": false,
            "marketing_features": [],
            "metadata": self.metadata,
            "name": self.name,
            "package_dimensions": null,
            "shippable": null,
            "statement_descriptor": null,
            "tax_code": null,
            "type": "service",
            "unit_label": null,
            "url": null,
        })
    }
}

/// What a price that was made up with its line has in common with a stored one.
pub(super) fn price(
    head: (&str, i64),
    product: &str,
    currency: &str,
    unit_amount: i64,
    interval: Option<Interval>,
) -> Value {
    let recurring = interval.map(|interval| {
        json!({
            "interval": interval.word(),
            "interval_count": 1,
            "meter": null,
            "trial_period_days": null,
            "usage_type": "licensed",
        })
    });
    json!({
        "id": head.0,
        "object": "price",
        "active": false,
        "billing_scheme": "per_unit",
        "created": head.1,
        "currency": currency,
        "custom_unit_amount": null,
        "livemode": false,
        "lookup_key": null,
        "metadata": {},
        "nickname": null,
        "product": product,
        "recurring": recurring,
        "tax_behavior": "unspecified",
        "tiers_mode": null,
        "transform_quantity": null,
        "type": if interval.is_some() { "recurring" } else { "one_time" },
        "unit_amount": unit_amount,
        "unit_amount_decimal": unit_amount.to_string(),
    })
}

impl View for Price {
    fn view(&self, _: &Books) -> Value {
        let head = (self.head.id.as_str(), self.head.created);
        let mut view = price(
            head,
            &self.product,
            &self.currency,
            self.unit_amount,
            self.interval,
        );
        if let Some(fields) = view.as_object_mut() {
            fields.insert("active".into(), json!(self.active));
            fields.insert("lookup_key".into(), json!(self.lookup_key));
            fields.insert("metadata".into(), json!(self.metadata));
            fields.insert("nickname".into(), json!(self.nickname));
        }
        view
    }
}

impl View for Coupon {
    fn view(&self, _: &Books) -> Value {
        let (percent, amount, currency) = match &self.off {
            Off::Percent(hundredths) => (Some(percent(*hundredths)), None, None),
            Off::Amount { amount, currency } => (None, Some(*amount), Some(currency)),
        };
        let (duration, months) = match self.duration {
            Duration::Once => ("once", None),
            Duration::Forever => ("forever", None),
            Duration::Months(months) => ("repeating", Some(months)),
        };
        json!({
            "id": self.head.id,
            "object": "coupon",
            "amount_off": amount,
            "created": self.head.created,
            "currency": currency,
            "duration": duration,
            "duration_in_months": months,
            "livemode": false,
            "max_redemptions": self.max_redemptions,
            "metadata": self.metadata,
            "name": self.name,
            "percent_off": percent,
            "redeem_by": self.redeem_by,
            "times_redeemed": self.times_redeemed,
            "valid": self.is_valid(i64::MIN),
        })
    }
}

/// Hundredths of a percent as the number that Stripe has.
fn percent(hundredths: i64) -> Value {
    let (whole, part) = (hundredths.div_euclid(100), hundredths.rem_euclid(100));
    let text = format!("{whole}.{part:02}");
    serde_json::from_str(if part == 0 {
        text.trim_end_matches(".00")
    } else {
        &text
    })
    .unwrap_or(Value::Null)
}

impl View for PromotionCode {
    fn view(&self, _: &Books) -> Value {
        json!({
            "id": self.head.id,
            "object": "promotion_code",
            "active": self.is_active(i64::MIN),
            "code": self.code,
            "created": self.head.created,
            "customer": self.customer,
            "customer_account": null,
            "expires_at": self.expires_at,
            "livemode": false,
            "max_redemptions": self.max_redemptions,
            "metadata": self.metadata,
            "promotion": { "type": "coupon", "coupon": self.coupon },
            "restrictions": {
                "first_time_transaction": self.first_time,
                "minimum_amount": self.minimum.as_ref().map(|(amount, _)| amount),
                "minimum_amount_currency": self.minimum.as_ref().map(|(_, currency)| currency),
            },
            "times_redeemed": self.times_redeemed,
        })
    }
}

impl View for Customer {
    fn view(&self, _: &Books) -> Value {
        json!({
            "id": self.head.id,
            "object": "customer",
            "address": null,
            "balance": self.balance,
            "created": self.head.created,
            "currency": null,
            "default_source": null,
            "delinquent": false,
            "description": self.description,
            "discount": null,
            "email": self.email,
            "invoice_prefix": null,
            "invoice_settings": {
                "custom_fields": null,
                "default_payment_method": null,
                "footer": null,
                "rendering_options": null,
            },
            "livemode": false,
            "metadata": self.metadata,
            "name": self.name,
            "phone": null,
            "preferred_locales": [],
            "shipping": null,
            "tax_exempt": "none",
            "test_clock": null,
        })
    }
}

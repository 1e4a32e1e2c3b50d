//! Checkout sessions and what is in their baskets.

use serde_json::{Value, json};

use super::{View, catalog, joined};
use crate::core::{
    books::Books,
    records::{Line, Mode, Price, Session, Status},
};

/// Where a buyer pays.
pub(crate) fn checkout_url(books: &Books, id: &str) -> String {
    format!("{}/checkout/{id}", books.base)
}

impl View for Session {
    fn view(&self, books: &Books) -> Value {
        let open = self.status == Status::Open;
        let email = self.email.as_ref().or(self.customer_email.as_ref());
        let discounts = match (&self.code, &self.coupon) {
            (Some(code), _) => json!([{ "promotion_code": code, "coupon": null }]),
            (None, Some(coupon)) => json!([{ "promotion_code": null, "coupon": coupon }]),
            (None, None) => json!([]),
        };
        let (mode, creation) = match self.mode {
            Mode::Payment if self.always_customer => ("payment", Some("always")),
            Mode::Payment => ("payment", Some("if_required")),
            Mode::Subscription => ("subscription", None),
        };
        let first = json!({
            "id": self.head.id,
            "object": "checkout.session",
            "adaptive_pricing": null,
            "after_expiration": null,
            "allow_promotion_codes": self.codes_allowed.then_some(true),
            "amount_subtotal": if self.trial.is_some() { 0 } else { self.subtotal() },
            "amount_total": self.total(),
            "automatic_tax": {
                "enabled": self.wishes.tax,
                "liability": self.wishes.tax.then(|| json!({ "type": "self" })),
                "provider": self.wishes.tax.then_some("stripe"),
                "status": self.wishes.tax.then_some(
                    if open { "requires_location_inputs" } else { "complete" }
                ),
            },
            "billing_address_collection": self.wishes.billing,
            "cancel_url": self.cancel_url,
            "client_reference_id": self.reference,
            "client_secret": null,
            "collected_information": null,
            "consent": self.wishes.terms.then(|| json!({
                "promotions": null,
                "terms_of_service": (self.status == Status::Complete).then_some("accepted"),
            })),
            "consent_collection": self.wishes.terms.then(|| json!({
                "payment_method_reuse_agreement": null, "promotions": null,
                "terms_of_service": "required",
            })),
            "created": self.head.created,
            "currency": self.currency,
            "currency_conversion": null,
            "custom_fields": [],
            "custom_text": {
                "after_submit": null, "shipping_address": null, "submit": null,
                "terms_of_service_acceptance": null,
            },
            "customer": self.customer,
            "customer_account": null,
            "customer_creation": creation,
            "customer_details": email.filter(|_| !open || self.customer_email.is_some()).map(|email| json!({
                "address": null, "business_name": null, "email": email, "individual_name": null,
                "name": null, "phone": null, "tax_exempt": "none", "tax_ids": [],
            })),
            "customer_email": self.customer_email,
            "discounts": discounts,
        });
        let second = json!({
            "expires_at": self.expires_at,
            "invoice": self.invoice,
            "invoice_creation": (self.mode == Mode::Payment).then(|| json!({
                "enabled": self.wishes.invoice,
                "invoice_data": {
                    "account_tax_ids": null, "custom_fields": null, "description": null,
                    "footer": null, "issuer": null, "metadata": {}, "rendering_options": null,
                },
            })),
            "livemode": false,
            "locale": self.wishes.locale,
            "metadata": self.metadata,
            "mode": mode,
            "origin_context": null,
            "payment_intent": self.intent,
            "payment_link": null,
            "payment_method_collection": match &self.trial {
                _ if self.mode == Mode::Payment => "if_required",
                Some(trial) if trial.no_card => "if_required",
                _ => "always",
            },
            "payment_method_configuration_details": null,
            "payment_method_options": {},
            "payment_method_types": ["card"],
            "payment_status": self.payment_status.word(),
            "permissions": null,
            "phone_number_collection": { "enabled": false },
            "presentment_details": null,
            "recovered_from": null,
            "saved_payment_method_options": null,
            "setup_intent": null,
            "shipping_address_collection": null,
            "shipping_cost": null,
            "shipping_options": [],
            "status": self.status.word(),
            "submit_type": null,
            "subscription": self.subscription,
            "success_url": self.success_url,
            "total_details": {
                "amount_discount": self.discount, "amount_shipping": 0, "amount_tax": 0,
            },
            "tax_id_collection": {
                "enabled": self.wishes.tax_ids, "required": "never",
            },
            "ui_mode": "hosted_page",
            "url": open.then(|| checkout_url(books, &self.head.id)),
            "wallet_options": null,
        });
        joined(first, second)
    }
}

/// What is in the basket.
pub(crate) fn line_items(session: &Session, books: &Books) -> Vec<Value> {
    let lines = session.lines.iter();
    lines.map(|line| line_item(line, session, books)).collect()
}

fn line_item(line: &Line, session: &Session, books: &Books) -> Value {
    let price = books.get::<Price>(&line.price).map_or_else(
        || {
            let head = (line.price.as_str(), session.head.created);
            let (amount, interval) = (line.unit_amount, line.interval);
            catalog::price(head, &line.product, &session.currency, amount, interval)
        },
        |price| price.view(books),
    );
    // A discount is on the basket; with one thing in it, on that.
    let discount = if session.lines.len() == 1 {
        session.discount
    } else {
        0
    };
    json!({
        "id": line.id,
        "object": "item",
        "adjustable_quantity": null,
        "amount_discount": discount,
        "amount_subtotal": line.amount(),
        "amount_tax": 0,
        "amount_total": line.amount().saturating_sub(discount),
        "currency": session.currency,
        "description": line.name,
        "metadata": {},
        "price": price,
        "quantity": line.quantity,
    })
}

//! What of a request goes together, and what excludes what.

use super::Form;

/// What of a session excludes what.
pub(super) fn session(form: &Form) -> Result<(), String> {
    let has = |prefix: &str| form.keys().any(|name| name.starts_with(prefix));
    let other: &[&str] = match form.get("mode").map(String::as_str) {
        Some("payment") => &["subscription_data"],
        _ => &[
            "payment_intent_data",
            "customer_creation",
            "invoice_creation",
        ],
    };
    if let Some(name) = other.iter().find(|name| has(name)) {
        return Err(format!("{name} is of another mode"));
    }
    for (one, another) in [
        ("customer", "customer_email"),
        ("customer", "customer_creation"),
        ("allow_promotion_codes", "discounts[0][promotion_code]"),
        ("allow_promotion_codes", "discounts[0][coupon]"),
        ("discounts[0][promotion_code]", "discounts[0][coupon]"),
    ] {
        if form.contains_key(one) && form.contains_key(another) {
            return Err(format!("{one} and {another} exclude each other"));
        }
    }
    if has("line_items[0][price]") == has("line_items[0][price_data]") {
        return Err("a line item has either price or price_data".into());
    }
    known_buyer(form)
}

/// What a buyer who is known enters is kept only where that is said; tax and tax numbers need it kept.
fn known_buyer(form: &Form) -> Result<(), String> {
    let says = |name: &str, word: &str| form.get(name).is_some_and(|said| said == word);
    let known = form.contains_key("customer");
    if !known && form.keys().any(|name| name.starts_with("customer_update")) {
        return Err("customer_update is of no customer".into());
    }
    for (asked, kept) in [
        ("automatic_tax[enabled]", "customer_update[address]"),
        ("tax_id_collection[enabled]", "customer_update[name]"),
    ] {
        if known && says(asked, "true") && !says(kept, "auto") {
            return Err(format!("{asked} of a customer needs {kept}"));
        }
    }
    Ok(())
}

/// A customer may choose between ten products.
pub(super) fn few_products(form: &Form) -> Result<(), String> {
    let products = form.keys().filter(|name| name.ends_with("[product]"));
    match products.count() {
        0..=10 => Ok(()),
        many => Err(format!("{many} products are offered, and not at most 10")),
    }
}

/// A page has at most a hundred.
pub(super) fn page(form: &Form) -> Result<(), String> {
    match form.get("limit").map(|limit| limit.parse()) {
        None | Some(Ok(1..=100)) => Ok(()),
        Some(_) => Err("a page has 1 to 100".into()),
    }
}

pub(super) fn page_of_events(form: &Form) -> Result<(), String> {
    let types = form.keys().filter(|name| name.starts_with("types["));
    if types.count() > 20 {
        return Err("more than 20 types are asked for".into());
    }
    page(form)
}

pub(super) fn invoice_payments(form: &Form) -> Result<(), String> {
    if form.contains_key("payment[payment_intent]") != form.contains_key("payment[type]") {
        return Err("a payment is named with its type".into());
    }
    page(form)
}

/// An end is said in one of two ways.
pub(super) fn ending(form: &Form) -> Result<(), String> {
    match form.contains_key("cancel_at") && form.contains_key("cancel_at_period_end") {
        true => Err("cancel_at and cancel_at_period_end exclude each other".into()),
        false => Ok(()),
    }
}

/// Answers are unfolded four levels deep at most, whatever is asked.
pub(super) fn expanded(form: &Form) -> Result<(), String> {
    let paths = form.iter().filter(|(name, _)| name.starts_with("expand["));
    let deep = |path: &&str| path.split('.').filter(|name| *name != "data").count() > 4;
    match paths.map(|(_, path)| path.as_str()).find(deep) {
        Some(path) => Err(format!("{path} is more than 4 levels deep")),
        None => Ok(()),
    }
}

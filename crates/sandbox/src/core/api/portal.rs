//! The endpoints of portal configurations and portal sessions.

use crate::core::{checkout::address, prelude::*};

const MAX_PRODUCTS: usize = 10;
const MAX_PRICES: usize = 10;
const CONDITIONS: [&str; 2] = ["decreasing_item_amount", "shortening_interval"];

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    Refusal::missing("features").when(params.below("features").is_empty())?;
    let blank = Configuration {
        head: db.head("bpc_"),
        updated: db.now,
        active: true,
        name: None,
        default_return_url: None,
        metadata: Metadata::new(),
        features: json!({}),
    };
    save(db, params, blank)
}

pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut configuration: Configuration = db.find(id)?;
    configuration.active = params.flag("active")?.unwrap_or(configuration.active);
    configuration.updated = db.now;
    save(db, params, configuration)
}

fn save(db: &mut Database, params: &Params, mut configuration: Configuration) -> Result<Value> {
    features(db, params, &mut configuration.features)?;
    params.change_metadata("metadata", &mut configuration.metadata)?;
    params.change("name", 100, &mut configuration.name)?;
    let return_url = address(params, "default_return_url")?;
    configuration.default_return_url = return_url.or(configuration.default_return_url);
    params.bounded("business_profile[headline]", 60)?;
    params.finish()?;
    Ok(db.stored(configuration).view(db))
}

const FEATURES: [&str; 5] = [
    "customer_update",
    "invoice_history",
    "payment_method_update",
    "subscription_cancel",
    "subscription_update",
];
const BEHAVIORS: [&str; 3] = ["always_invoice", "create_prorations", "none"];
/// Features with an enum field, and its values.
const WORDS: [(&str, &str, &[&str]); 3] = [
    (
        "subscription_cancel",
        "mode",
        &["at_period_end", "immediately"],
    ),
    ("subscription_cancel", "proration_behavior", &["none"]),
    ("subscription_update", "proration_behavior", &BEHAVIORS),
];

fn features(db: &Database, params: &Params, to: &mut Value) -> Result<()> {
    const UPDATE: &str = "features[subscription_update]";
    for feature in FEATURES {
        if let Some(enabled) = params.flag(&format!("features[{feature}][enabled]"))? {
            shape::set(to, json!({ feature: { "enabled": enabled } }));
        }
    }
    for (feature, name, words) in WORDS {
        if let Some(word) = params.word(&format!("features[{feature}][{name}]"), words)? {
            shape::set(to, json!({ feature: { name: word } }));
        }
    }
    let updates = params.list(&format!("{UPDATE}[default_allowed_updates]"))?;
    let path = format!("{UPDATE}[schedule_at_period_end][conditions]");
    let mut conditions = Vec::new();
    for name in params.below(&path) {
        let word = params.word(&format!("{path}[{name}][type]"), &CONDITIONS)?;
        conditions.extend(word.map(|word| json!({ "type": word })));
    }
    let tiers = tiers(db, params, &format!("{UPDATE}[products]"))?;
    let waits = (!conditions.is_empty()).then(|| json!({ "conditions": conditions }));
    let update = json!({
        "default_allowed_updates": (!updates.is_empty()).then_some(updates),
        "products": (!tiers.is_empty()).then_some(tiers),
        "schedule_at_period_end": waits,
    });
    shape::set(to, json!({ "subscription_update": {} }));
    shape::set(to, json!({ "subscription_update": update }));
    let field = |name: &str| to.pointer(&format!("/subscription_update/{name}"));
    let whole = field("products").and(field("default_allowed_updates"));
    Refusal::missing(format!("{UPDATE}[products]"))
        .when(field("enabled") == Some(&Value::Bool(true)) && whole.is_none())?;
    Ok(())
}

fn tiers(db: &Database, params: &Params, path: &str) -> Result<Vec<Value>> {
    let mut tiers = Vec::new();
    for name in params.below(path) {
        let product = params.required(&format!("{path}[{name}][product]"))?;
        let prices_path = format!("{path}[{name}][prices]");
        let prices = params.list(&prices_path)?;
        Refusal::missing(&prices_path).when(prices.is_empty() || prices.len() > MAX_PRICES)?;
        for id in &prices {
            let price: Price = db.named(id, &prices_path)?;
            let message = format!("The price {id} does not belong to the product {product}.");
            Refusal::param(&prices_path, message).when(price.product != product)?;
        }
        tiers.push(json!({ "product": product, "prices": prices }));
    }
    let message = format!("You can specify up to {MAX_PRODUCTS} products.");
    Refusal::param(path, message).when(tiers.len() > MAX_PRODUCTS)?;
    Ok(tiers)
}

pub(super) fn visit(db: &mut Database, params: &Params) -> Result<Value> {
    let customer = params.required("customer")?;
    let configuration = params.text("configuration")?;
    let return_url = address(params, "return_url")?;
    params.text("locale")?;
    params.finish()?;
    db.named::<Customer>(&customer, "customer")?;
    let configuration: Configuration = match configuration {
        Some(id) => db.named(&id, "configuration")?,
        None => {
            let active = db.newest::<Configuration>(|one| one.active);
            let message = "No configuration provided and there is none to fall back on.";
            let newest = active.first().copied().cloned();
            newest.ok_or_else(|| Refusal::invalid(message))?
        }
    };
    let message = "This configuration is not active.";
    Refusal::param("configuration", message).when(!configuration.active)?;
    let visit = PortalSession {
        head: db.secret_head("bps_"),
        customer,
        return_url: return_url.or(configuration.default_return_url),
        configuration: configuration.head.id,
    };
    Ok(db.stored(visit).view(db))
}

//! The customer portal: what it offers, and visits to it.

use serde_json::Value;

use super::read;
use crate::core::{
    books::Desk,
    checkout::address,
    params::{Metadata, Params},
    records::{Configuration, Customer, PortalSession, Price, Tiers},
    refusal::Refusal,
    views::View as _,
};

const MAX_PRODUCTS: usize = 10;
const MAX_PRICES: usize = 10;
const CONDITIONS: [&str; 2] = ["decreasing_item_amount", "shortening_interval"];

pub(super) fn create(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    if params.below("features").is_empty() {
        return Err(Refusal::missing("features"));
    }
    let blank = Configuration {
        head: desk.head("bpc_"),
        updated: desk.now,
        active: true,
        name: None,
        default_return_url: None,
        metadata: Metadata::new(),
        invoices: false,
        payment_method: false,
        cancel: false,
        cancel_at_end: true,
        switch: false,
        allowed_updates: Vec::new(),
        proration: "none".into(),
        conditions: Vec::new(),
        tiers: Vec::new(),
    };
    save(desk, params, blank)
}

pub(super) fn update(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let mut configuration: Configuration = desk.books.find(id)?;
    configuration.active = params.flag("active")?.unwrap_or(configuration.active);
    configuration.updated = desk.now;
    save(desk, params, configuration)
}

fn save(
    desk: &mut Desk<'_>,
    params: &Params,
    mut configuration: Configuration,
) -> Result<Value, Refusal> {
    features(desk, params, &mut configuration)?;
    params.change_metadata("metadata", &mut configuration.metadata)?;
    if let Some(name) = params.bounded("name", 100)? {
        configuration.name = Some(name);
    }
    if let Some(url) = address(params, "default_return_url")? {
        configuration.default_return_url = Some(url);
    }
    params.bounded("business_profile[headline]", 60)?;
    params.finish()?;
    desk.books.put(configuration.clone());
    Ok(configuration.view(desk.books))
}

fn features(desk: &Desk<'_>, params: &Params, to: &mut Configuration) -> Result<(), Refusal> {
    let flag = |path: &str, old: bool| Ok::<_, Refusal>(params.flag(path)?.unwrap_or(old));
    const CANCEL: &str = "features[subscription_cancel]";
    const UPDATE: &str = "features[subscription_update]";
    to.invoices = flag("features[invoice_history][enabled]", to.invoices)?;
    to.payment_method = flag(
        "features[payment_method_update][enabled]",
        to.payment_method,
    )?;
    flag("features[customer_update][enabled]", false)?;
    to.cancel = flag(&format!("{CANCEL}[enabled]"), to.cancel)?;
    if let Some(mode) = params.word(
        &format!("{CANCEL}[mode]"),
        &["at_period_end", "immediately"],
    )? {
        to.cancel_at_end = mode == "at_period_end";
    }
    params.word(&format!("{CANCEL}[proration_behavior]"), &["none"])?;
    to.switch = flag(&format!("{UPDATE}[enabled]"), to.switch)?;
    let updates = params.list(&format!("{UPDATE}[default_allowed_updates]"))?;
    if !updates.is_empty() {
        to.allowed_updates = updates;
    }
    let behaviors = ["always_invoice", "create_prorations", "none"];
    if let Some(word) = params.word(&format!("{UPDATE}[proration_behavior]"), &behaviors)? {
        to.proration = word.into();
    }
    let path = format!("{UPDATE}[schedule_at_period_end][conditions]");
    let mut conditions = Vec::new();
    for name in params.below(&path) {
        let word = params.word(&format!("{path}[{name}][type]"), &CONDITIONS)?;
        conditions.extend(word.map(str::to_owned));
    }
    if !conditions.is_empty() {
        to.conditions = conditions;
    }
    let tiers = tiers(desk, params, &format!("{UPDATE}[products]"))?;
    if !tiers.is_empty() {
        to.tiers = tiers;
    }
    if to.switch && (to.tiers.is_empty() || to.allowed_updates.is_empty()) {
        return Err(Refusal::missing(format!("{UPDATE}[products]")));
    }
    Ok(())
}

fn tiers(desk: &Desk<'_>, params: &Params, path: &str) -> Result<Vec<Tiers>, Refusal> {
    let mut tiers = Vec::new();
    for name in params.below(path) {
        let product_path = format!("{path}[{name}][product]");
        let product = params.required(&product_path)?;
        let prices_path = format!("{path}[{name}][prices]");
        let prices = params.list(&prices_path)?;
        if prices.is_empty() || prices.len() > MAX_PRICES {
            return Err(Refusal::missing(prices_path));
        }
        for id in &prices {
            let price: Price = desk
                .books
                .find(id)
                .map_err(|refusal| refusal.of_param(&prices_path))?;
            if price.product != product {
                let message = format!("The price {id} does not belong to the product {product}.");
                return Err(Refusal::param(prices_path, message));
            }
        }
        tiers.push(Tiers { product, prices });
    }
    if tiers.len() > MAX_PRODUCTS {
        let message = format!("You can specify up to {MAX_PRODUCTS} products.");
        return Err(Refusal::param(path, message));
    }
    Ok(tiers)
}

pub(super) fn list(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    const URL: &str = "/v1/billing_portal/configurations";
    let active = params.flag("active")?;
    let default = params.flag("is_default")?;
    read::some::<Configuration>(desk, params, URL, |configuration| {
        active.is_none_or(|active| active == configuration.active) && default != Some(true)
    })
}

pub(super) fn visit(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let customer = params.required("customer")?;
    let configuration = params.text("configuration")?;
    let return_url = address(params, "return_url")?;
    params.text("locale")?;
    params.finish()?;
    desk.books
        .find::<Customer>(&customer)
        .map_err(|refusal| refusal.of_param("customer"))?;
    let configuration: Configuration = match configuration {
        Some(id) => desk
            .books
            .find(&id)
            .map_err(|refusal| refusal.of_param("configuration"))?,
        None => {
            let newest = desk.books.newest::<Configuration>(|found| found.active);
            let first = newest.first().copied().cloned();
            first.ok_or_else(|| {
                Refusal::invalid("No configuration provided and there is none to fall back on.")
            })?
        }
    };
    if !configuration.active {
        let message = "This configuration is not active.";
        return Err(Refusal::param("configuration", message));
    }
    let visit = PortalSession {
        head: desk.secret_head("bps_"),
        customer,
        return_url: return_url.or(configuration.default_return_url),
        configuration: configuration.head.id,
    };
    desk.books.put(visit.clone());
    Ok(visit.view(desk.books))
}

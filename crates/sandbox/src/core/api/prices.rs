//! Products and prices, stored or described inline in another request.

use super::read;
use crate::core::prelude::*;

const MAX_NAME_CHARS: usize = 250;

/// Whether a price includes tax; the sandbox has no tax.
const TAX_BEHAVIORS: [&str; 3] = ["exclusive", "inclusive", "unspecified"];

pub(crate) fn interval(params: &Params, path: &str) -> Result<Option<Interval>> {
    if params.below(path).is_empty() {
        return Ok(None);
    }
    let count_path = format!("{path}[interval_count]");
    let count = params.integer::<i64>(&count_path)?;
    let message = "The sandbox bills each month or each year.";
    Refusal::param(count_path, message).when(count.is_some_and(|count| count != 1))?;
    params.word(&format!("{path}[usage_type]"), &["licensed"])?;
    let path = format!("{path}[interval]");
    need(params.choice(&path)?, &path).map(Some)
}

/// The path of a parameter, within another one if `path` is not empty.
fn within(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}[{name}]"),
    }
}

fn product_at(db: &mut Database, params: &Params, path: &str) -> Result<Product> {
    let at = |name: &str| within(path, name);
    let name = params.bounded(&at("name"), MAX_NAME_CHARS)?;
    let name = need(name, &at("name"))?;
    params.list(&at("images"))?;
    params.text(&at("tax_code"))?;
    Ok(Product {
        name,
        description: params.bounded(&at("description"), 500)?,
        active: params.flag(&at("active"))?.unwrap_or(true),
        metadata: params.metadata(&at("metadata"))?,
        head: db.head("prod_"),
    })
}

/// An inline price and its product, which may be new.
pub(crate) fn inline_price(
    db: &mut Database,
    params: &Params,
    path: &str,
    interval: Option<Interval>,
) -> Result<(Price, Product)> {
    let at = |name: &str| within(path, name);
    let currency = money::currency(&params.required(&at("currency"))?, &at("currency"))?;
    let amount_path = at("unit_amount");
    let unit_amount = need(params.integer(&amount_path)?, &amount_path)?;
    let unit_amount = money::amount(unit_amount, &amount_path)?;
    money::whole_units(unit_amount, &currency, &amount_path)?;
    params.word(&at("tax_behavior"), &TAX_BEHAVIORS)?;
    let (product_path, data_path) = (at("product"), at("product_data"));
    let inline = !params.below(&data_path).is_empty();
    let product = match params.text(&product_path)? {
        Some(_) if inline => {
            return Err(Refusal::exclusive(&product_path, "product, product_data"));
        }
        Some(id) => db.named(&id, &product_path)?,
        None if inline => product_at(db, params, &data_path)?,
        None => return Err(Refusal::missing(product_path)),
    };
    let price = Price {
        head: db.head("price_"),
        product: product.head.id.clone(),
        active: true,
        currency,
        unit_amount,
        interval,
        ..Price::default()
    };
    Ok((price, product))
}

pub(super) fn create_product(db: &mut Database, params: &Params) -> Result<Value> {
    let product = product_at(db, params, "")?;
    params.finish()?;
    db.put_and_emit("product.created", &product);
    Ok(product.view(db))
}

pub(super) fn update_product(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut product: Product = db.find(id)?;
    let name = params.bounded("name", MAX_NAME_CHARS)?;
    product.name = name.unwrap_or(product.name);
    params.change("description", 500, &mut product.description)?;
    product.active = params.flag("active")?.unwrap_or(product.active);
    params.change_metadata("metadata", &mut product.metadata)?;
    params.finish()?;
    db.put_and_emit("product.updated", &product);
    Ok(product.view(db))
}

/// Deletes a product that never had a price; others can only be archived.
pub(super) fn delete_product(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let product: Product = db.find(id)?;
    let message = "This product cannot be deleted because it has one or more user-created prices.";
    Refusal::invalid(message).when(db.all::<Price>().any(|price| price.product == id))?;
    db.emit("product.deleted", &product);
    Ok(read::deleted::<Product>(db, id))
}

/// Updates whether a price is sold and its name; the amount stays.
pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut price: Price = db.find(id)?;
    price.active = params.flag("active")?.unwrap_or(price.active);
    params.change("nickname", 250, &mut price.nickname)?;
    let transfer = params.flag("transfer_lookup_key")? == Some(true);
    if params.is_unset("lookup_key") {
        price.lookup_key = None;
    } else {
        params.change("lookup_key", 200, &mut price.lookup_key)?;
    }
    params.change_metadata("metadata", &mut price.metadata)?;
    params.word("tax_behavior", &TAX_BEHAVIORS)?;
    params.finish()?;
    take_key(db, &price, transfer)?;
    db.put_and_emit("price.updated", &price);
    Ok(price.view(db))
}

/// Ensures that a lookup key names only this price.
fn take_key(db: &mut Database, price: &Price, transfer: bool) -> Result<()> {
    let mut others = db.newest::<Price>(|other| {
        other.lookup_key.is_some()
            && other.lookup_key == price.lookup_key
            && other.head.id != price.head.id
    });
    let Some(mut former) = others.pop().cloned() else {
        return Ok(());
    };
    let message = format!(
        "A price (`{}`) already uses that lookup key. Please set `transfer_lookup_key=true` \
         if you want to transfer it.",
        former.head.id,
    );
    Refusal::param("lookup_key", message).when(!transfer)?;
    former.lookup_key = None;
    db.put(former);
    Ok(())
}

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    let every = interval(params, "recurring")?;
    let (mut price, product) = inline_price(db, params, "", every)?;
    price.metadata = params.metadata("metadata")?;
    price.nickname = params.bounded("nickname", 250)?;
    price.lookup_key = params.bounded("lookup_key", 200)?;
    price.active = params.flag("active")?.unwrap_or(true);
    params.word("billing_scheme", &["per_unit"])?;
    let transfer = params.flag("transfer_lookup_key")? == Some(true);
    params.finish()?;
    take_key(db, &price, transfer)?;
    if db.get::<Product>(&product.head.id).is_none() {
        db.put_and_emit("product.created", &product);
    }
    db.put_and_emit("price.created", &price);
    Ok(price.view(db))
}

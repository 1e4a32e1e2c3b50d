//! What sentences say of prices.

use catalog::ProjectCatalog;
use domain::{catalog::Price, id::PriceId, money::money};

/// A price in words: its identifier, what it costs, and whether it is off sale.
#[must_use]
pub fn price_words(project: &ProjectCatalog, price: PriceId) -> String {
    let Some(known) = project.any_price(&price) else {
        return price.to_string();
    };
    let cost = money(known.amount_cents, &known.currency);
    match is_on_sale(project, known) {
        true => format!("{price} ({cost})"),
        false => format!("{price} ({cost}, not on sale)"),
    }
}

/// Whether it can be bought: its product is offered, too.
#[must_use]
pub fn is_on_sale(project: &ProjectCatalog, price: &Price) -> bool {
    let product = project.product(&price.product);
    price.active && product.is_some_and(|product| product.active)
}

//! Plans which rate cards get their next version.

use std::collections::HashSet;

use api_types::admin;
use domain::rate_card::changes;
use serde_json::{Value, json};

use crate::cli::{
    Failure,
    apply::file,
    rates::card::{Card, line},
};

/// A rate card that is new or changed.
#[derive(Debug, PartialEq)]
pub(in super::super) struct RateCardStep {
    pub(in super::super) slug: String,
    pub(in super::super) is_new: bool,
    /// What changes in it, for the user.
    pub(in super::super) lines: Vec<String>,
    /// The fields to send; `None` in a dry run that would have created the product.
    pub(in super::super) fields: Option<Value>,
}

/// Plans a step for each rate card of the file that `cards`, the server's versions, do not have as it is. `ids` are the
/// products' ids in the file's order.
pub(in super::super) fn steps(
    wanted: &file::File,
    ids: &[Option<String>],
    found: &[admin::Product],
    cards: &[Card],
) -> Result<Vec<RateCardStep>, Failure> {
    let mut named = HashSet::new();
    let mut steps = Vec::new();
    for card in &wanted.rate_cards {
        let slug = card.slug.clone();
        if !named.insert(&card.slug) {
            return Err(Failure(format!("the file has two rate cards \"{slug}\"")));
        }
        let product = product_of(card, &wanted.products, ids, found)?;
        let former = cards.iter().find(|it| it.slug == slug);
        let mut lines = Vec::new();
        if let (Some(former), Some(product)) = (former, &product)
            && former.product_id != *product
        {
            lines.push(format!("~ product {} -> {product}", former.product_id));
        }
        let rates = former.map_or(&[][..], |former| &former.rates);
        let rates = changes(rates, &card.rates);
        lines.extend(rates.iter().map(line));
        if former.is_some() && lines.is_empty() {
            continue;
        }
        let fields = product.map(|product| {
            json!({ "productId": product, "rates": card.rates, "effectiveFrom": card.effective_from() })
        });
        steps.push(RateCardStep {
            slug,
            is_new: former.is_none(),
            lines,
            fields,
        });
    }
    Ok(steps)
}

/// The id of a card's product; `None` in a dry run that would have created it.
fn product_of(
    card: &file::RateCard,
    wanted: &[file::Product],
    ids: &[Option<String>],
    found: &[admin::Product],
) -> Result<Option<String>, Failure> {
    let name = &card.product;
    if let Some(at) = wanted.iter().position(|product| product.name == *name) {
        return Ok(ids.get(at).cloned().flatten());
    }
    let mut named = found.iter().filter(|it| [&it.name, &it.id].contains(&name));
    match (named.next(), named.next()) {
        (Some(product), None) => Ok(Some(product.id.clone())),
        (first, _) => Err(Failure(format!(
            "rate card \"{}\": {} called \"{name}\"",
            card.slug,
            first.map_or("no product is", |_| "several products are")
        ))),
    }
}

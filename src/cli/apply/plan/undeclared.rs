//! Finds what the server has and the file does not.

use api_types::admin;
use domain::money::money;

use super::{file, has_terms, terms};

/// Active products and prices on the server that the file does not declare.
pub(in crate::cli::apply) fn undeclared(
    wanted: &[file::Product],
    ids: &[Option<String>],
    found: &[admin::Product],
) -> Vec<String> {
    let mut left = Vec::new();
    for product in found.iter().filter(|product| product.active) {
        let declared = wanted
            .iter()
            .zip(ids)
            .find(|(_, id)| id.as_ref() == Some(&product.id));
        let Some((declared, _)) = declared else {
            left.push(format!("product \"{}\" ({})", product.name, product.id));
            continue;
        };
        let target = |price: &file::Price| {
            let name = price.credits_product.as_ref()?;
            let at = wanted.iter().position(|product| product.name == *name)?;
            ids.get(at).cloned().flatten()
        };
        let meant = |found: &admin::Price| {
            let same = |price: &file::Price| {
                let terms = terms(price, target(price).as_deref());
                terms.is_ok_and(|terms| has_terms(found, &terms))
            };
            declared.prices.iter().any(same)
        };
        for price in product
            .prices
            .iter()
            .filter(|price| price.active && !meant(price))
        {
            left.push(format!(
                "price {} of \"{}\" ({})",
                money(price.amount_cents, &price.currency),
                product.name,
                price.id
            ));
        }
    }
    left
}

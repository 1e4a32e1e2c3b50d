//! Requests for changes of a project that would evade approvals, as a page shows them: secret keys, prices and free
//! credits.

use catalog::ProjectCatalog;
use identity::{CatalogChange, KeyTerms};
use maud::{Markup, html};
use operator::{is_stale, price_words, stale};

use super::{
    catalog::{path, product_name, written},
    fields::Fields,
    keys,
    money::{grouped, money},
    prices, settings,
    verbatim::verbatim,
};

/// A change on the page, with a link to what it is about.
pub(super) fn title(project: &ProjectCatalog, change: &CatalogChange) -> Markup {
    let of_product = |id| {
        let product = project.product(&id);
        html! { @match product {
            Some(product) => a href=(path(project, product)) { (verbatim(&product.name)) },
            None => (product_name(project, id)),
        } }
    };
    html! { @match change {
        CatalogChange::NewKey(_) => "Create a secret key",
        CatalogChange::Key { key, .. } => { "Change secret key " code { (key) } },
        CatalogChange::NewProduct(new) => { "Create the product " (verbatim(&new.name)) },
        CatalogChange::Product { before, .. } => { "Change the product " (of_product(before.id)) },
        CatalogChange::NewPrice { product, .. } => { "Create a price of " (of_product(*product)) },
        CatalogChange::OfferPrice { product, price } => { "Offer price " (price_words(project, *price)) " of " (of_product(*product)) " again" },
        CatalogChange::FreeGrantsForCodeWallets => "Give anonymous wallets free credits",
    } }
}

/// The requested values beside those that were stored.
pub(super) fn facts(project: &ProjectCatalog, change: &CatalogChange) -> Markup {
    let (before, after) = values(project, change);
    let is_new = !matches!(
        change,
        CatalogChange::Key { .. } | CatalogChange::Product { .. }
    );
    html! {
        @if is_stale(project, change) { p.alert { (stale().message()) } }
        @for (name, old, new) in before.changes(&after) { div { dt { (name) } dd {
            @if !is_new { (value(&old)) " → " }
            (value(&new))
        } } }
        @if let CatalogChange::NewPrice { product, .. } = change {
            div { dt { "Offered now" } dd {
                @for price in project.prices(product).filter(|price| price.active) {
                    (money(price.amount_cents, &price.currency)) " for " (grouped(price.credits_granted)) " credits" br;
                }
                @if !project.prices(product).any(|price| price.active) { "Nothing" }
            } }
        }
    }
}

fn value(text: &str) -> Markup {
    match text.is_empty() {
        true => html! { "(nothing)" },
        false => verbatim(text),
    }
}

/// The fields of a change, as its form has them: stored, and requested.
fn values(project: &ProjectCatalog, change: &CatalogChange) -> (Fields, Fields) {
    let of_key = |terms: &KeyTerms| keys::written(terms.name.as_deref(), terms.expires_at);
    let none = Fields::default;
    match change {
        CatalogChange::NewKey(new) => (none(), keys::written(new.name.as_deref(), new.expires_at)),
        CatalogChange::Key { before, after, .. } => (of_key(before), of_key(after)),
        CatalogChange::NewProduct(new) => (none(), written(new)),
        CatalogChange::Product { before, after } => {
            (written(&before.clone().into()), written(after))
        }
        CatalogChange::NewPrice { price, .. } => (none(), prices::written(price)),
        CatalogChange::OfferPrice { price, .. } => {
            let known = project.any_price(price).cloned();
            let offered = known.map(|price| prices::written(&price.into()));
            (none(), offered.unwrap_or_default())
        }
        CatalogChange::FreeGrantsForCodeWallets => (none(), none().ticked(settings::FREE, true)),
    }
}

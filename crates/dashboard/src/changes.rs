//! Changes of a project that would evade approvals: secret keys, prices and free credits. Where grants or refunds require
//! approval, an operator's change is kept with what was stored when they requested it. Approved, it is made in the same
//! append that forgets the request, so that a crash neither loses nor repeats it.

use axum::response::Response;
use catalog::{CatalogStore, KeyChange, PriceChange, ProjectCatalog, ProjectChange};
use identity::{Action, Approval, CatalogChange, KeyTerms, Privilege};
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    approval_request::key_terms,
    catalog::{path, product_name, written},
    fields::Fields,
    keys,
    money::{grouped, money},
    page_request::PageRequest,
    prices::{self, price_words},
    settings,
    verbatim::verbatim,
};
use crate::state::App;

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

/// Whether it was changed since it was requested.
fn is_stale(project: &ProjectCatalog, change: &CatalogChange) -> bool {
    match change {
        CatalogChange::Key { key, before, .. } => !project
            .key(key)
            .is_some_and(|key| key.revoked_at.is_none() && key_terms(key) == *before),
        CatalogChange::Product { before, .. } => project.product(&before.id) != Some(before),
        CatalogChange::NewPrice { product, .. } | CatalogChange::OfferPrice { product, .. } => {
            project.product(product).is_none()
        }
        CatalogChange::NewKey(_)
        | CatalogChange::NewProduct(_)
        | CatalogChange::FreeGrantsForCodeWallets => false,
    }
}

fn stale() -> Error {
    let message = "This was changed since it was requested, so it cannot be approved. Decline it, and have it requested again.";
    Error::new(ErrorCode::ChangedMeanwhile).saying(message)
}

/// The catalog whose next change forgets the request.
fn forgetting(app: &App, approval: &Approval) -> CatalogStore {
    app.catalog.with_notes(vec![approval.forgotten()])
}

/// Makes a change that was approved, unless what it is about was changed since; returns whether there was nothing to do.
/// A secret key is only marked as approved: the requester creates it.
///
/// The caller holds the lock for saving.
pub(super) async fn make(
    app: &App,
    request: &PageRequest,
    approval: &Approval,
    change: &CatalogChange,
) -> Result<bool, Error> {
    let project = request.project(app)?;
    let id = project.project.id;
    if is_stale(&project, change) {
        return Err(stale());
    }
    let catalog = forgetting(app, approval);
    match change.clone() {
        CatalogChange::NewKey(new) => {
            app.catalog.draft().create_key(id, new).await?;
            let approved = app.edge.people.approve(approval, &request.authority);
            approved.await.map_err(edge::refused)?;
            return Ok(false);
        }
        CatalogChange::Key { key, after, .. } => {
            let change = KeyChange {
                name: Some(after.name),
                expires_at: Some(after.expires_at),
            };
            catalog.update_key(id, key, change).await?;
        }
        CatalogChange::NewProduct(new) => {
            catalog.create_product(id, new).await?;
        }
        CatalogChange::Product { before, after } => {
            catalog.update_product(id, before.id, after.into()).await?;
        }
        CatalogChange::NewPrice { product, price } => {
            catalog.create_price(id, product, price).await?;
        }
        CatalogChange::OfferPrice { product, price } => {
            if project.any_price(&price).is_some_and(|price| price.active) {
                return Ok(true);
            }
            let change = PriceChange {
                active: Some(true),
                label: None,
            };
            catalog.update_price(id, product, price, change).await?;
        }
        CatalogChange::FreeGrantsForCodeWallets => {
            if project.project.free_grants_for_code_wallets {
                return Ok(true);
            }
            let change = ProjectChange {
                free_grants_for_code_wallets: Some(true),
                ..ProjectChange::default()
            };
            catalog.update_project(id, change, None).await?;
        }
    }
    app.edge.people.approval_is_over(approval);
    Ok(false)
}

/// Creates a secret key that was approved, for the requester alone, who sees it once.
///
/// The caller holds the lock for saving.
pub(super) async fn create_approved_key(
    app: &App,
    request: &PageRequest,
    approval: &Approval,
) -> Result<Response, Error> {
    let project = request.project(app)?;
    let new = match &approval.action {
        Action::Change(change) => match &**change {
            CatalogChange::NewKey(new) => Some(new),
            _ => None,
        },
        Action::Outgoing(_) => None,
    };
    let new = new.ok_or_else(|| Error::new(ErrorCode::ApprovalNotFound))?;
    if !approval.is_of(&request.authority) || !request.may(Privilege::Manage) {
        return Err(Error::new(ErrorCode::RoleForbidden));
    }
    let Some(by) = &approval.approved_by else {
        return Err(Error::new(ErrorCode::OwnApproval));
    };
    let catalog = forgetting(app, approval);
    let minted = catalog.create_key(project.project.id, new.clone()).await?;
    app.edge.people.approval_is_over(approval);
    let why = format!(", approved by {by} ({})", approval.id);
    Ok(keys::hand_out(app, request, &project, minted, &why))
}

//! An audit sentence with the names of what it is about, as links, in place of identifiers.

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    catalog::Price,
    id::{EndpointId, LedgerId, OrderId, PriceId, ProductId, ProjectId},
};
use maud::{Markup, html};
use operations::audit::AuditEntry;
use wire::visible::visible;

use super::{
    catalog::path, deduction::deduction_path, layout::base, money::money, orders, wallets,
};
use crate::state::App;

/// The sentence of an entry; the identifiers are in its title.
pub(super) async fn sentence(app: &App, entry: &AuditEntry) -> Markup {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let catalog = app.catalog.current();
    let project = entry.project.and_then(|id| catalog.project(&id));
    let text = visible(&entry.what);
    let (mut parts, mut rest, mut has_links) = (Vec::new(), &*text, false);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let known = match word.parse::<ProjectId>() {
            Ok(id) => catalog
                .project(&id)
                .map(|it| (base(it), it.project.name.clone())),
            Err(_) => match project {
                Some(project) if word.contains('_') => of_project(app, project, word).await,
                _ => None,
            },
        };
        let Some((path, name)) = known else {
            let end = after.find(is_word).unwrap_or(after.len());
            let (between, next) = after.split_at(end);
            parts.push(html! { (word) (between) });
            rest = next;
            continue;
        };
        let name = visible(&name);
        parts.push(html! { a href=(path) { (name) } });
        // Some sentences have the name beside the identifier.
        rest = after.strip_prefix(&*format!(" “{name}”")).unwrap_or(after);
        has_links = true;
    }
    html! { bdi title=[has_links.then_some(&text)] { @for part in parts { (part) } } }
}

/// The path and the name of something of a project.
async fn of_project(app: &App, project: &ProjectCatalog, word: &str) -> Option<(String, String)> {
    if let Some(product) = word
        .parse::<ProductId>()
        .ok()
        .and_then(|id| project.product(&id))
    {
        return Some((path(project, product), product.name.clone()));
    }
    if let Some(price) = word
        .parse::<PriceId>()
        .ok()
        .and_then(|id| project.any_price(&id))
    {
        let Price {
            label,
            amount_cents,
            currency,
            product,
            ..
        } = price;
        let label = label
            .clone()
            .unwrap_or_else(|| money(*amount_cents, currency));
        return Some((path(project, project.product(product)?), label));
    }
    if let Ok(endpoint) = word.parse::<EndpointId>() {
        let path = format!("{}/webhooks/{endpoint}", base(project));
        return Some((path, word.to_owned()));
    }
    if let Ok(order) = word.parse::<OrderId>() {
        return Some((orders::path(project, order), word.to_owned()));
    }
    if let Ok(deduction) = word.parse::<LedgerId>() {
        return Some((deduction_path(project, deduction), word.to_owned()));
    }
    if !word.starts_with("wal_") && !word.starts_with("wref_") {
        return None;
    }
    let key = app.handle.named_wallet(word).ok()?;
    let wallet = app.handle.peek(&project.scope, &Address::Stored(key)).await;
    let user = wallet.ok()?.view.external_user;
    let name = user.map_or_else(|| word.to_owned(), |user| user.as_str().to_owned());
    Some((wallets::path(project, key), name))
}

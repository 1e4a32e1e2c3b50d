//! An audit sentence with the names of what it is about, as links, in place of identifiers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{
    catalog::Price,
    id::{EndpointId, LedgerId, OrderId, PriceId, ProductId, ProjectId, WalletKey},
    text::{ExternalUserId, PaymentId},
};
use wire::visible::visible;

use super::{catalog::path, deduction::deduction_path, orders, prelude::*, wallets};

/// The wallets that a page's sentences name.
#[derive(Default)]
pub(super) struct WalletNames {
    by_word: HashMap<String, WalletKey>,
    /// The users of those that there are.
    users: HashMap<(ProjectId, WalletKey), Option<ExternalUserId>>,
}

impl WalletNames {
    /// Reads the wallets of all sentences together.
    pub(super) async fn of(app: &App, sentences: impl Iterator<Item = (ProjectId, &str)>) -> Self {
        let mut names = Self::default();
        let mut of_projects: BTreeMap<ProjectId, BTreeSet<WalletKey>> = BTreeMap::new();
        for (project, what) in sentences {
            let words = what.split(|c| !is_word(c));
            for word in words.filter(|it| it.starts_with("wal_") || it.starts_with("wref_")) {
                if let Ok(key) = app.handle.named_wallet(word) {
                    names.by_word.insert(word.to_owned(), key);
                    of_projects.entry(project).or_default().insert(key);
                }
            }
        }
        let catalog = app.catalog.current();
        for (id, keys) in of_projects {
            if let Some(project) = catalog.project(&id)
                && let Ok(wallets) = app.handle.peek_all(&project.scope, keys).await
            {
                let users = wallets.into_iter().map(|it| it.view);
                let users = users.map(|it| ((id, it.key), it.external_user));
                names.users.extend(users);
            }
        }
        names
    }
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A sentence about a project, or none; the identifiers are in its title.
pub(super) fn sentence(
    app: &App,
    names: &WalletNames,
    project: Option<ProjectId>,
    what: &str,
) -> Markup {
    let catalog = app.catalog.current();
    let project = project.and_then(|id| catalog.project(&id));
    let text = visible(what);
    let (mut parts, mut rest, mut has_links) = (Vec::new(), &*text, false);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let known = match word.parse::<ProjectId>() {
            Ok(id) => catalog
                .project(&id)
                .map(|it| (base(it), it.project.name.clone())),
            Err(_) => match project {
                Some(project) if word.contains('_') => {
                    of_project(names, project, word).or_else(|| payment(app, project, word))
                }
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

/// The page of a payment without an order.
fn payment(app: &App, project: &ProjectCatalog, word: &str) -> Option<(String, String)> {
    let id = PaymentId::new(word).ok()?;
    let unfulfilled = app.payments.unfulfilled();
    unfulfilled.get(project.project.id, &id)?;
    Some((
        format!("{}/unfulfilled-payments/{id}", base(project)),
        word.to_owned(),
    ))
}

/// The path and the name of something of a project.
fn of_project(
    names: &WalletNames,
    project: &ProjectCatalog,
    word: &str,
) -> Option<(String, String)> {
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
    let key = *names.by_word.get(word)?;
    let user = names.users.get(&(project.project.id, key))?;
    let name = user.as_ref().map_or(word, ExternalUserId::as_str);
    Some((wallets::path(project, key), name.to_owned()))
}

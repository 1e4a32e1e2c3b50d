//! One wallet: balances and where they come from, holds, access, the ledger.

use actors::{Access, Inside, LedgerLine, LedgerPage, LedgerQuery, Purse, SubscriptionInside};
use axum::{extract::State, response::Response};
use domain::{
    Timestamp,
    history::Reason,
    id::{OrderId, ProductId, WalletKey},
    wallet::{Lot, SubscriptionStatus},
};
use maud::{Markup, html};

use super::{
    actions,
    form::{self, Form, Label},
    money::{grouped, money, signed},
    shell::{self, At, Tab, base},
    visit::Visit,
    wallets::{name, path, wallet},
};
use crate::{catalog::ProjectCatalog, http::Error, state::App};

/// Entries of the ledger on a page.
const ENTRIES: usize = 25;
/// Subscriptions that are over, on the page.
const ENDED: usize = 5;

const REASONS: [(Reason, &str, &str); 6] = [
    (Reason::Purchase, "purchase", "Purchase"),
    (Reason::Deduction, "deduction", "Deduction"),
    (Reason::FreeGrant, "free_grant", "Free grant"),
    (Reason::Manual, "manual", "Manual grant"),
    (Reason::Refund, "refund", "Refund"),
    (Reason::Expiry, "expiry", "Expiry"),
];

/// `GET …/wallets/{wallet}`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let key = wallet(&visit)?;
    let refused = |error| Error::from_wallet(error, &project);
    let inside = app.handle.look(&project.scope, key).await;
    let inside = inside.map_err(refused)?;
    let query = visit.query();
    let reason = query.text("reason");
    let reason = REASONS.iter().find(|(_, name, _)| *name == reason);
    let ledger = LedgerQuery {
        before: query.parsed("before", "an entry's number")?,
        limit: ENTRIES,
        product: query.parsed("productId", "a product")?,
        reason: reason.map(|(reason, _, _)| *reason),
    };
    let page = app.handle.stored_ledger(&project.scope, key, ledger).await;
    let page = page.map_err(refused)?;
    let ended = app.handle.ended_subscriptions(&project.scope, key, ENDED);
    let ended = ended.await.map_err(refused)?;
    let body = html! {
        h1 { (name(&inside)) }
        p.hint { code { (inside.id) } " · made " (shell::when(inside.created_at)) }
        (balances(&project, key, &inside))
        (access(&project, &inside, &ended))
        @if !inside.holds.0.is_empty() { (holds(&visit, &project, key, &inside)) }
        @if !inside.pending.0.is_empty() { (pending(&project, &inside)) }
        (ledger_part(&visit, &project, key, &page))
        (actions::forms(&visit, &project, key))
    };
    Ok(shell::page(
        &visit,
        At::Project(&project, Tab::Wallets),
        "Wallet",
        &body,
    ))
}

fn product_name(project: &ProjectCatalog, product: ProductId) -> String {
    let known = project.product(&product);
    known.map_or_else(|| product.to_string(), |product| product.name.clone())
}

fn balances(project: &ProjectCatalog, key: WalletKey, inside: &Inside) -> Markup {
    html! {
        @if inside.accounts.is_empty() { p.empty { "There were never any credits in it." } }
        @for purse in &inside.accounts { (balance(project, key, purse)) }
    }
}

fn balance(project: &ProjectCatalog, key: WalletKey, purse: &Purse) -> Markup {
    let unit = project
        .product(&purse.product)
        .and_then(|product| product.credit_unit.as_deref());
    let free = purse.balance.saturating_sub(purse.held);
    let (lots, besides) = &purse.lots;
    html! {
        section.card {
            h2 { (product_name(project, purse.product)) }
            p.balance { b { (grouped(free)) } " " (unit.unwrap_or("credits")) " to spend"
                @if purse.held > 0 { ", " (grouped(purse.held)) " held" } }
            @if !lots.is_empty() { details {
                summary { "Where they come from" }
                div.scroll tabindex="0" role="region" aria-label="Lots" { table {
                    thead { tr { th { "From" } th.number { "Left" } th.number { "Held" } th { "Expires" } th { "Order" } } }
                    tbody { @for lot in lots { (lot_row(project, key, lot)) } }
                } }
                @if *besides > 0 { p.hint { "and " (besides) " more" } }
            } }
        }
    }
}

fn lot_row(project: &ProjectCatalog, wallet: WalletKey, lot: &Lot) -> Markup {
    let order = lot.order.map(|serial| OrderId { serial, wallet });
    html! { tr {
        td { (reason_name(lot.source)) }
        td.number { (grouped(lot.left)) }
        td.number { (grouped(lot.held)) }
        td.time { @if lot.expires_at == Timestamp::NEVER { "Never" } @else { (shell::when(lot.expires_at)) } }
        td { @if let Some(order) = order { a href={ (base(project)) "/orders/" (order) } { "Order" } } @else { "–" } }
    } }
}

fn reason_name(reason: Reason) -> &'static str {
    let known = REASONS.iter().find(|(known, _, _)| *known == reason);
    known.map_or("", |(_, _, name)| name)
}

fn access(project: &ProjectCatalog, inside: &Inside, ended: &[SubscriptionInside]) -> Markup {
    html! {
        section.card {
            h2 { "Access" }
            @if inside.access.is_empty() { p.empty { "It unlocks nothing." } } @else {
                dl { @for (feature, reasons) in &inside.access { div {
                    dt { span.tag { (feature) } }
                    dd { @for (at, reason) in reasons.iter().enumerate() {
                        @if at > 0 { ", " }
                        @match reason {
                            Access::Manual => "granted by hand",
                            Access::Subscription(Some(label)) => { "subscription to " (label) },
                            Access::Subscription(None) => "a subscription",
                            Access::Order => "a purchase",
                        }
                    } }
                } } }
            }
            @for subscription in &inside.subscriptions {
                p {
                    @match subscription.status {
                        SubscriptionStatus::Active => span.badge.good { "Active" },
                        SubscriptionStatus::PastDue => span.badge.bad { "Past due" },
                        SubscriptionStatus::Paused => span.badge.wait { "Paused" },
                        SubscriptionStatus::Canceled => span.badge { "Canceled" },
                    }
                    " " (subscription.label.as_deref().unwrap_or("Subscription"))
                    @if subscription.cancel_at_period_end { ", ends " } @else { ", paid until " }
                    (shell::when(subscription.current_period_end))
                    @if subscription.collection_paused { ", not collected for now" }
                    @if let Some(open) = &subscription.open_invoice {
                        ". " (money(open.amount_cents, &open.currency.to_string()))
                        " waits for the buyer: " a href=(open.url.as_str()) rel="noreferrer" { "the bill" }
                        @if let Some(at) = open.next_attempt_at { ", tried again " (shell::when(at)) }
                    }
                }
            }
            @for over in ended { @if let Some(at) = over.ended_at {
                p {
                    span.badge { "Canceled" }
                    " " (over.subscription.label.as_deref().unwrap_or(&product_name(project, over.subscription.product)))
                    ", ended " (shell::when(at))
                }
            } }
        }
    }
}

fn holds(visit: &Visit, project: &ProjectCatalog, key: WalletKey, inside: &Inside) -> Markup {
    let (holds, besides) = &inside.holds;
    html! {
        section.card {
            h2 { "Holds" }
            div.scroll tabindex="0" role="region" aria-label="Holds" { table {
                thead { tr { th { "Hold" } th.number { "Credits" } th { "Expires" } th { span.hidden { "Release" } } } }
                tbody { @for (id, hold) in holds { tr {
                    td { code.small { (id) } }
                    td.number { (grouped(hold.amount.get())) }
                    td.time { (shell::when(hold.expires_at)) }
                    td { details {
                        summary { "Release…" }
                        form method="post" action={ (path(project, key)) "/release" } {
                            (form::token(visit))
                            input type="hidden" name="holdId" value=(id);
                            p { "The credits can be spent again; whoever holds them cannot settle any more." }
                            button.danger type="submit" { "Release this hold" }
                        }
                    } }
                } } }
            } }
            @if *besides > 0 { p.hint { "and " (besides) " more" } }
        }
    }
}

fn pending(project: &ProjectCatalog, inside: &Inside) -> Markup {
    let (orders, besides) = &inside.pending;
    html! {
        section.card {
            h2 { "Orders that wait for their payment" }
            @for order in orders { p { a href={ (base(project)) "/orders/" (order) } { code.small { (order) } } } }
            @if *besides > 0 { p.hint { "and " (besides) " more" } }
        }
    }
}

fn ledger_part(
    visit: &Visit,
    project: &ProjectCatalog,
    key: WalletKey,
    page: &LedgerPage,
) -> Markup {
    let here = path(project, key);
    let query = visit.query();
    let form = Form::new(query, None).called("ledger-");
    let mut reasons = vec![("", "Any")];
    reasons.extend(REASONS.iter().map(|(_, name, text)| (*name, *text)));
    let mut products = vec![(String::new(), "Any".to_owned())];
    let holding = project.products().filter(|product| product.holds_credits());
    products.extend(holding.map(|product| (product.id.to_string(), product.name.clone())));
    let older = page.next.map(|before| {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for name in ["reason", "productId"] {
            if let Some(value) = visit.query().some(name) {
                query.append_pair(name, value);
            }
        }
        query.append_pair("before", &before.to_string());
        format!("{here}?{}", query.finish())
    });
    html! {
        section.card #ledger {
            h2 { "Ledger" }
            form.row method="get" action=(here) hx-get=(here) hx-select="#ledger" hx-target="#ledger" hx-swap="outerHTML" {
                (form.choice(&Label("reason", "Reason", ""), &reasons))
                @if products.len() > 2 { (form.choice(&Label("productId", "Product", ""), &products)) }
                button type="submit" { "Show" }
            }
            @if page.lines.is_empty() { p.empty { "No entries." } } @else {
                div.scroll tabindex="0" role="region" aria-label="Ledger" { table {
                    thead { tr { th { "When" } th { "Reason" } th.number { "Change" } th.number { "Balance" } th { "About" } } }
                    tbody { @for line in &page.lines { (line_row(project, line)) } }
                } }
            }
            @if let Some(older) = older {
                p { a.button href=(older) hx-get=(older) hx-select="#ledger" hx-target="#ledger" hx-swap="outerHTML" { "Older" } }
            }
        }
    }
}

fn line_row(project: &ProjectCatalog, line: &LedgerLine) -> Markup {
    let entry = &line.entry;
    html! { tr {
        td.time { (shell::when(line.at)) }
        td { (reason_name(entry.reason)) }
        td.number.plus[entry.delta > 0] { (signed(entry.delta)) }
        td.number { (grouped(entry.balance_after)) }
        td {
            @if let Some(order) = line.order {
                a href={ (base(project)) "/orders/" (order) } { "Order" } " "
            }
            @if let Some(meta) = &entry.meta { code.small.wrap { (meta.as_str()) } " " }
            @if let Some(key) = &entry.key { code.small.wrap { (key.as_str()) } }
        }
    } }
}

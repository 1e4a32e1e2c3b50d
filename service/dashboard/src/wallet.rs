//! One wallet: balances with their lots, holds, features and subscriptions, pending orders, the ledger.

use actors::{
    AccountDetail, Address, FeatureSource, LedgerLine, LedgerPage, LedgerQuery, SubscriptionDetail,
    WalletDetail,
};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    history::Reason,
    id::{OrderId, WalletKey},
    time::Span,
    wallet::{Lot, SubscriptionStatus},
};
use maud::{Markup, html};
use wire::Error;

use super::{
    actions,
    catalog::product_name,
    form::{self, FieldLabel, Form},
    layout::{self, Tab},
    money::{grouped, money, signed},
    orders,
    page_request::PageRequest,
    wallets::{name, path, wallet},
};
use crate::state::App;

/// Ledger entries per page.
const ENTRIES: usize = 25;
/// Ended subscriptions that the page shows.
const ENDED: usize = 5;

const REASONS: [(Reason, &str, &str); 8] = [
    (Reason::Purchase, "purchase", "Purchase"),
    (Reason::Deduction, "deduction", "Deduction"),
    (Reason::FreeGrant, "free_grant", "Free grant"),
    (Reason::Manual, "manual", "Manual grant"),
    (Reason::Refund, "refund", "Refund"),
    (Reason::Expiry, "expiry", "Expiry"),
    (Reason::Reversal, "reversal", "Reversal"),
    (Reason::Forgiveness, "forgiveness", "Forgiveness"),
];

/// `GET …/wallets/{wallet}`: one wallet.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let (handle, scope, address) = (&app.handle, &project.scope, Address::Stored(key));
    let refused = |error| Error::from_wallet(error, &project);
    let detail = handle.inspect(scope, &address).await.map_err(refused)?;
    let query = request.query();
    let reason = query.text("reason");
    let reason = REASONS.iter().find(|(_, name, _)| *name == reason);
    let ledger = LedgerQuery {
        before: query.parsed("before", "an entry's number")?,
        limit: ENTRIES,
        product: query.parsed("productId", "a product")?,
        reason: reason.map(|(reason, _, _)| *reason),
        within: Span::ALWAYS,
    };
    let page = handle.ledger(scope, &address, ledger).await;
    let page = page.map_err(refused)?;
    let ended = handle.ended_subscriptions(scope, &address, ENDED).await;
    let ended = ended.map_err(refused)?;
    let view = &detail.view;
    let body = html! {
        h1 { (name(view)) }
        p.hint { code { (view.id) } " · created " (layout::when(view.created_at)) }
        (balances(&project, key, &detail))
        (access(&project, &detail, &ended))
        @if !detail.holds.0.is_empty() { (holds(&request, &project, key, &detail)) }
        @if !detail.pending.0.is_empty() { (pending(&project, &detail)) }
        (ledger_part(&request, &project, key, &page))
        (actions::forms(&request, &project, key))
    };
    Ok(Tab::Wallets.page(&request, &project, "Wallet", &body))
}

fn balances(project: &ProjectCatalog, key: WalletKey, detail: &WalletDetail) -> Markup {
    html! {
        @if detail.accounts.is_empty() { p.empty { "It has never held credits." } }
        @for account in &detail.accounts { (balance(project, key, account)) }
    }
}

fn balance(project: &ProjectCatalog, key: WalletKey, account: &AccountDetail) -> Markup {
    let unit = project
        .product(&account.product)
        .and_then(|product| product.credit_unit.as_deref());
    let (lots, besides) = &account.lots;
    html! {
        section.card {
            h2 { (product_name(project, account.product)) }
            p.balance { b { (grouped(account.balance)) } " " (unit.unwrap_or("credits")) " to spend"
                @if account.held > 0 { ", " (grouped(account.held)) " held" }
                @if account.debt.owed > 0 { ", " b { (grouped(account.debt.owed)) } " owed" } }
            @if account.debt.limit > 0 || account.own_limit || account.debt.owed > 0 {
                p.hint { "Debt limit " (grouped(account.debt.limit))
                    @if account.own_limit { ", this wallet's own" }
                    "; " (grouped(account.debt.available)) " more may come to be owed" }
            }
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
        td.time { @if lot.expires_at == Timestamp::NEVER { "Never" } @else { (layout::when(lot.expires_at)) } }
        td { @if let Some(order) = order { a href=(orders::path(project, order)) { "Order" } } @else { "–" } }
    } }
}

fn reason_name(reason: Reason) -> &'static str {
    let known = REASONS.iter().find(|(known, _, _)| *known == reason);
    known.map_or("", |(_, _, name)| name)
}

fn access(project: &ProjectCatalog, detail: &WalletDetail, ended: &[SubscriptionDetail]) -> Markup {
    html! {
        section.card {
            h2 { "Access" }
            @if detail.access.is_empty() { p.empty { "No features." } } @else {
                dl { @for (feature, reasons) in &detail.access { div {
                    dt { span.tag { (feature) } }
                    dd { @for (at, reason) in reasons.iter().enumerate() {
                        @if at > 0 { ", " }
                        @match reason {
                            FeatureSource::Manual => "granted by hand",
                            FeatureSource::Subscription(Some(label)) => { "subscription to " (label) },
                            FeatureSource::Subscription(None) => "a subscription",
                            FeatureSource::Order => "a purchase",
                        }
                    } }
                } } }
            }
            @for subscription in &detail.view.subscriptions {
                p {
                    @match subscription.status {
                        SubscriptionStatus::Active => span.badge.good { "Active" },
                        SubscriptionStatus::PastDue => span.badge.bad { "Past due" },
                        SubscriptionStatus::Paused => span.badge.wait { "Paused" },
                        SubscriptionStatus::Canceled => span.badge { "Canceled" },
                    }
                    " " (subscription.label.as_deref().unwrap_or("Subscription"))
                    @if subscription.cancel_at_period_end { ", ends " } @else { ", paid until " }
                    (layout::when(subscription.current_period_end))
                    @if subscription.collection_paused { ", collection paused" }
                    @if let Some(open) = &subscription.open_invoice {
                        ". " (money(open.amount_cents, &open.currency.to_string()))
                        " is due from the buyer: " a href=(open.url.as_str()) rel="noreferrer" { "invoice" }
                        @if let Some(at) = open.next_attempt_at { ", next attempt " (layout::when(at)) }
                    }
                }
            }
            @for over in ended { @if let Some(at) = over.ended_at {
                p {
                    span.badge { "Canceled" }
                    " " (over.subscription.label.as_deref().unwrap_or(&product_name(project, over.subscription.product)))
                    ", ended " (layout::when(at))
                }
            } }
        }
    }
}

fn holds(
    request: &PageRequest,
    project: &ProjectCatalog,
    key: WalletKey,
    detail: &WalletDetail,
) -> Markup {
    let (holds, besides) = &detail.holds;
    html! {
        section.card {
            h2 { "Holds" }
            div.scroll tabindex="0" role="region" aria-label="Holds" { table {
                thead { tr { th { "Hold" } th.number { "Credits" } th { "Expires" } th { span.hidden { "Release" } } } }
                tbody { @for (id, hold) in holds { tr {
                    td { code.small { (id) } }
                    td.number { (grouped(hold.amount.get()))
                        @if hold.drawn > 0 { br; span.small { (grouped(hold.drawn)) " drawn" } } }
                    td.time { (layout::when(hold.expires_at)) }
                    td { details {
                        summary { "Release…" }
                        form method="post" action={ (path(project, key)) "/release" } {
                            (form::token(request))
                            input type="hidden" name="holdId" value=(id);
                            p { "The credits can be spent again, except for what was drawn; the hold can no longer be settled." }
                            button.danger type="submit" { "Release this hold" }
                        }
                    } }
                } } }
            } }
            @if *besides > 0 { p.hint { "and " (besides) " more" } }
        }
    }
}

fn pending(project: &ProjectCatalog, detail: &WalletDetail) -> Markup {
    let (orders, besides) = &detail.pending;
    html! {
        section.card {
            h2 { "Orders awaiting payment" }
            @for order in orders { p { a href=(orders::path(project, *order)) { code.small { (order) } } } }
            @if *besides > 0 { p.hint { "and " (besides) " more" } }
        }
    }
}

fn ledger_part(
    request: &PageRequest,
    project: &ProjectCatalog,
    key: WalletKey,
    page: &LedgerPage,
) -> Markup {
    let page_path = path(project, key);
    let query = request.query();
    let form = Form::new(query, None).called("ledger-");
    let mut reasons = vec![("", "Any")];
    reasons.extend(REASONS.iter().map(|(_, name, text)| (*name, *text)));
    let mut products = vec![(String::new(), "Any".to_owned())];
    let holding = project.products().filter(|product| product.holds_credits());
    products.extend(holding.map(|product| (product.id.to_string(), product.name.clone())));
    let older = page.next.map(|before| {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for name in ["reason", "productId"] {
            if let Some(value) = request.query().some(name) {
                query.append_pair(name, value);
            }
        }
        query.append_pair("before", &before.to_string());
        format!("{page_path}?{}", query.finish())
    });
    html! {
        section.card #ledger {
            h2 { "Ledger" }
            form.row method="get" action=(page_path) hx-get=(page_path) hx-select="#ledger" hx-target="#ledger" hx-swap="outerHTML" {
                (form.choice(&FieldLabel("reason", "Reason", ""), &reasons))
                @if products.len() > 2 { (form.choice(&FieldLabel("productId", "Product", ""), &products)) }
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
        td.time { (layout::when(line.at)) }
        td { (reason_name(entry.reason)) }
        td.number.plus[entry.delta > 0] { (signed(entry.delta)) }
        td.number { (grouped(entry.balance_after)) }
        td {
            @if let Some(order) = line.order {
                a href=(orders::path(project, order)) { "Order" } " "
            }
            @if let Some(meta) = &entry.meta { code.small.wrap { (meta.as_str()) } " " }
            @if let Some(key) = &entry.key { code.small.wrap { (key.as_str()) } }
        }
    } }
}

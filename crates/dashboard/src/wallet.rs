//! One wallet: balances with their lots, features and subscriptions, holds, orders, the ledger, notes.

use actors::{AccountDetail, Address, FeatureSource, SubscriptionDetail, WalletDetail};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    history::Reason,
    id::{OrderId, WalletKey},
    wallet::Lot,
};
use identity::Privilege;
use maud::{Markup, html};
use operator::notes_of;
use wire::Error;

use super::{
    actions,
    catalog::product_name,
    comments, erase,
    fields::Fields,
    form::{self, Form},
    freeze,
    layout::{self, Tab},
    ledger::{self, reason_name},
    money::grouped,
    orders,
    page_request::PageRequest,
    replace_code, subscriptions,
    wallets::{name, path, wallet},
};
use crate::state::App;

/// Orders that the page shows; the rest is on a page of its own.
const ORDERS: usize = 5;
/// Lots of each account, and holds, that the page shows.
const PAGE_SIZE: usize = 100;
/// Ended subscriptions that the page shows.
const ENDED: usize = 5;

/// `GET …/wallets/{wallet}`: one wallet.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let (handle, scope, address) = (&app.handle, &project.scope, Address::Stored(key));
    let refused = |error| Error::from_wallet(error, &project);
    let detail = handle.inspect(scope, &address, PAGE_SIZE).await;
    let detail = detail.map_err(refused)?;
    let query = request.query();
    let page = handle.ledger(scope, &address, ledger::query(query)?).await;
    let page = page.map_err(refused)?;
    let deductions = page.lines.iter();
    let deductions = deductions.filter(|line| line.entry.reason == Reason::Deduction);
    let deductions = deductions.map(|line| line.id.number()).collect();
    let reversed = handle.given_back(scope, &address, deductions).await;
    let reversed = reversed.map_err(refused)?;
    let bought = handle.wallet_orders(scope, &address, None, ORDERS).await;
    let bought = bought.map_err(refused)?;
    let comments = notes_of(&app, key).await?;
    let ended = handle.ended_subscriptions(scope, &address, ENDED).await;
    let ended = ended.map_err(refused)?;
    let view = &detail.view;
    let body = html! {
        h1 { (name(view)) }
        p.hint { code { (view.id) } " · created " (layout::when(view.created_at)) }
        (freeze::banner(view.frozen.as_ref()))
        nav.jump aria-label="On this page" {
            @if request.may(Privilege::Support) {
                a.button.small href="#grant" { "Grant" } a.button.small href="#deduct" { "Deduct" }
                a.button.small href="#features" { "Features" }
                a.button.small href="#freeze" { @if view.frozen.is_some() { "Unfreeze" } @else { "Freeze" } }
            }
            a href="#orders" { "Orders" } a href="#ledger" { "Ledger" } a href="#notes" { "Notes" }
        }
        (balances(&project, key, &detail))
        (access(&request, &project, key, &detail, &ended))
        @if !detail.holds.0.is_empty() { (holds(&request, &project, key, &detail)) }
        (orders::of_wallet(&project, key, &bought))
        (ledger::card(&request, &project, key, query, &ledger::Shown { page, reversed }))
        (comments::card(&request, &project, key, &comments, Form::new(&Fields::default(), None)))
        (actions::forms(&request, &project, key))
        (replace_code::card(&request, &project, view))
        (freeze::card(&request, &project, view, Form::new(&Fields::default(), None)))
        (erase::card(&request, &project, key))
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

fn access(
    request: &PageRequest,
    project: &ProjectCatalog,
    key: WalletKey,
    detail: &WalletDetail,
    ended: &[SubscriptionDetail],
) -> Markup {
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
            @for known in &detail.subscriptions { (subscriptions::buttons(request, project, key, known)) }
            @for over in ended { (subscriptions::standing(project, over)) }
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
    // With a publishable key, who knows a hold's name charges it.
    let sees_names = request.may(Privilege::Support);
    html! {
        section.card {
            h2 { "Holds" }
            div.scroll tabindex="0" role="region" aria-label="Holds" { table {
                thead { tr { th { "Hold" } th.number { "Credits" } th { "Expires" } th { span.hidden { "Release" } } } }
                tbody { @for (id, hold) in holds { tr {
                    td { @if sees_names { code.small { (id) } } @else { span.hint { "Named to support and above" } } }
                    td.number { (grouped(hold.amount.get()))
                        @if hold.drawn > 0 { br; span.small { (grouped(hold.drawn)) " drawn" } } }
                    td.time { (layout::when(hold.expires_at)) }
                    td { @if sees_names {
                        form method="post" action={ (path(project, key)) "/release" } {
                            (form::token(request))
                            input type="hidden" name="holdId" value=(id);
                            button.danger.small type="submit" { "Release…" }
                        }
                    } }
                } } }
            } }
            @if *besides > 0 { p.hint { "and " (besides) " more" } }
        }
    }
}

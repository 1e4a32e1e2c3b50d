//! One wallet: balances with their lots, features and subscriptions, limits, holds, orders, the
//! ledger, notes.

use actors::{AccountDetail, FeatureSource, SubscriptionDetail, WalletDetail, WalletView};
use domain::{
    history::Reason,
    id::{OrderId, WalletKey},
    text::FreezeReason,
    wallet::{Freeze, Lot, freeze::SetFrozen},
};
use operator::{Erase, SetWalletFrozen, notes_of};

use super::{
    actions::{self, or_again},
    catalog::product_name,
    comments,
    ledger::{self, reason_name},
    limits, orders,
    prelude::*,
    rated_entries::explained,
    replace_code, subscriptions, top_ups,
    wallets::{name, path, wallet, wallet_view},
};

/// Orders that the page shows; the rest is on a page of its own.
const ORDERS: usize = 5;
/// Lots of each account, and holds, that the page shows.
const PAGE_SIZE: usize = 100;
/// Ended subscriptions that the page shows.
const ENDED: usize = 5;

pub(super) async fn show(request: PageRequest) -> PageResult {
    let key = wallet(&request)?;
    let (handle, scope, address) = (
        &request.app.handle,
        &request.project.scope,
        Address::Stored(key),
    );
    let detail = request.read(handle.inspect(scope, &address, PAGE_SIZE).await)?;
    let limited = limits::of(&request, key).await?;
    let query = request.query();
    let page = request.read(handle.ledger(scope, &address, ledger::query(query)?).await)?;
    let deductions = page.lines.iter();
    let deductions = deductions.filter(|line| line.entry.reason == Reason::Deduction);
    let deductions = deductions.map(|line| line.id.number()).collect();
    let reversed = request.read(handle.given_back(scope, &address, deductions).await)?;
    let explained = explained(&request, &page.lines).await;
    let top_up = request.read(handle.top_up(scope, &address).await)?;
    let bought = request.read(handle.wallet_orders(scope, &address, None, ORDERS).await)?;
    let comments = notes_of(&request.app, key).await?;
    let ended = request.read(handle.ended_subscriptions(scope, &address, ENDED).await)?;
    let view = &detail.view;
    let body = html! {
        h1 { (name(view)) }
        p.hint { code { (view.id) } " · created " (layout::when(view.created_at)) }
        (banner(view.frozen.as_ref()))
        nav.jump aria-label="On this page" {
            @if request.may(Privilege::Support) {
                a.button.small href="#grant" { "Grant" } a.button.small href="#deduct" { "Deduct" }
                a.button.small href="#features" { "Features" }
                a.button.small href="#freeze" { @if view.frozen.is_some() { "Unfreeze" } @else { "Freeze" } }
            }
            a href="#limits" { "Limits" } a href="#orders" { "Orders" } a href="#ledger" { "Ledger" } a href="#notes" { "Notes" }
        }
        (balances(&request.project, key, &detail))
        (top_ups::card(&request.project, key, &top_up))
        (limits::card(&request, key, &limited))
        (access(&request, key, &detail, &ended))
        @if !detail.holds.0.is_empty() { (holds(&request, key, &detail)) }
        (orders::of_wallet(&request.project, key, &bought))
        (ledger::card(&request, key, query, &ledger::Shown { page, reversed, explained }))
        (comments::card(&request, key, &comments, Form::new(&Fields::default(), None)))
        (actions::forms(&request, key))
        (replace_code::card(&request, view))
        (freeze_card(&request, view, Form::new(&Fields::default(), None)))
        (erase_card(&request, key))
    };
    Ok(request.show("Wallet", &body))
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
                (table("Lots", &["From", "#Left", "#Held", "Expires", "Order"], &html! { @for lot in lots { (lot_row(project, key, lot)) } }))
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
            @for known in &detail.subscriptions { (subscriptions::buttons(request, key, known)) }
            @for over in ended { (subscriptions::standing(&request.project, over)) }
        }
    }
}

fn holds(request: &PageRequest, key: WalletKey, detail: &WalletDetail) -> Markup {
    let (holds, besides) = &detail.holds;
    // With a publishable key, who knows a hold's name charges it.
    let sees_names = request.may(Privilege::Support);
    html! {
        section.card {
            h2 { "Holds" }
            (table("Holds", &["Hold", "#Credits", "Expires", "~Release"], &html! { @for (id, hold) in holds { tr {
                td { @if sees_names { code.small { (id) } } @else { span.hint { "Named to support and above" } } }
                td.number { (grouped(hold.amount))
                    @if hold.drawn > 0 { br; span.small { (grouped(hold.drawn)) " drawn" } } }
                td.time { (layout::when(hold.expires_at)) }
                td { @if sees_names {
                    form method="post" action={ (path(&request.project, key)) "/release" } {
                        (form::token(request))
                        input type="hidden" name="holdId" value=(id);
                        button.danger.small type="submit" { "Release…" }
                    }
                } }
            } } }))
            @if *besides > 0 { p.hint { "and " (besides) " more" } }
        }
    }
}

/// The card with the button that leads to it.
fn erase_card(request: &PageRequest, key: WalletKey) -> Markup {
    html! { @if request.may(Privilege::Manage) {
        section.card #erase {
            h2 { "Erase the customer" }
            form method="post" action={ (path(&request.project, key)) "/erase" } {
                (form::token(request))
                p { "E-mail addresses, metadata and notes go; credits and sums stay." }
                button.danger type="submit" { "Erase…" }
            }
        }
    } }
}

pub(super) async fn erase(request: FormPost<Erase>) -> PageResult {
    let key = wallet(&request)?;
    request
        .run(Erase(key), &path(&request.project, key), "erased")
        .await
}

fn banner(frozen: Option<&Freeze>) -> Markup {
    html! { @if let Some(freeze) = frozen {
        p.alert role="note" {
            b { "Frozen" } " since " (layout::when(freeze.since)) ". "
            @match &freeze.reason {
                Some(reason) => { "Reason: " (verbatim(reason.as_str())) },
                None => "No reason was given.",
            }
        }
    } }
}

fn freeze_card(request: &PageRequest, view: &WalletView, form: Form<'_>) -> Markup {
    let action = format!("{}/freeze", path(&request.project, view.key));
    html! { @if request.may(Privilege::Support) {
        section.card #freeze {
            h2 { @if view.frozen.is_some() { "Unfreeze" } @else { "Freeze" } }
            (form.alert(&["reason"]))
            form method="post" action=(action) {
                (form::token(request))
                @if view.frozen.is_some() {
                    p { "Its credits can be spent again." }
                    button name="action" value="unfreeze" type="submit" { "Unfreeze…" }
                } @else {
                    (form.text(&FieldLabel("reason", "Reason", "Callers that use the wallet see it. May be empty.")))
                    button.danger name="action" value="freeze" type="submit" { "Freeze…" }
                }
            }
        }
    } }
}

fn command(fields: &Fields) -> Result<SetFrozen, Error> {
    match fields.text("action") {
        "freeze" => {
            let reason = fields.some("reason").map(FreezeReason::new).transpose();
            let reason = reason.map_err(|error| Error::text("reason", error))?;
            Ok(SetFrozen::Freeze(reason))
        }
        "unfreeze" => Ok(SetFrozen::Unfreeze),
        _ => Err(Error::missing("action")),
    }
}

pub(super) async fn freeze(request: FormPost<SetWalletFrozen>) -> PageResult {
    let wallet = wallet(&request)?;
    let back = path(&request.project, wallet);
    let view = wallet_view(&request, wallet).await?;
    let done = async {
        let command = command(&request.fields)?;
        let message = match &command {
            SetFrozen::Freeze(_) => "frozen",
            SetFrozen::Unfreeze => "unfrozen",
        };
        let action = SetWalletFrozen { wallet, command };
        request.run(action, &back, message).await
    };
    let form = |form: Form<'_>| freeze_card(&request, &view, form);
    or_again(&request, done.await, wallet, "Freeze", form).await
}

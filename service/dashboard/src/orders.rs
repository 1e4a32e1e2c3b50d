//! A project's orders, newest first, and those of a wallet.

use actors::{Address, OrderAnswer, OrderPage};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    id::{OrderId, WalletKey},
    wallet::{Order, OrderKind, OrderStatus},
};
use maud::{Markup, html};
use wire::{Error, cursor::OrderCursor};

use super::{
    catalog::product_name,
    form::{FieldLabel, Form},
    layout::{self, Tab, base},
    money::money,
    page_request::PageRequest,
    wallets,
};
use crate::state::App;

/// Orders per page.
const SHOWN: usize = 25;

/// An order's statuses, with the names of each: in the query, for people, and of its badge's class.
const STATES: [(OrderStatus, &str, &str, &str); 5] = [
    (OrderStatus::Paid, "paid", "Paid", "badge good"),
    (OrderStatus::Pending, "pending", "Pending", "badge wait"),
    (OrderStatus::Refunded, "refunded", "Refunded", "badge"),
    (OrderStatus::Failed, "failed", "Failed", "badge bad"),
    (OrderStatus::Expired, "expired", "Expired", "badge"),
];

/// A coloured badge with an order's status.
pub(super) fn badge(status: OrderStatus) -> Markup {
    let known = STATES.iter().find(|(known, ..)| *known == status);
    html! { @if let Some((.., name, class)) = known { span class=(class) { (name) } } }
}

/// A coloured badge with how an order stands: also that its money is on its way.
pub(super) fn order_badge(order: &Order) -> Markup {
    match order.is_processing() {
        true => html! { span.badge.wait { "Processing" } },
        false => badge(order.status()),
    }
}

/// What led to an order.
pub(super) const fn kind(kind: OrderKind) -> &'static str {
    match kind {
        OrderKind::Checkout => "Checkout",
        OrderKind::Renewal => "Renewal",
        OrderKind::Switch => "Tier switch",
    }
}

/// `GET …/orders`: the orders, newest first.
pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let query = request.query();
    let wanted = query.text("status");
    let wanted = STATES.iter().find(|(_, name, ..)| *name == wanted);
    let before = query.cursor()?.map(|OrderCursor(at, order)| (at, order));
    let (handle, scope) = (&app.handle, &project.scope);
    let status = wanted.map(|(status, ..)| *status);
    let page = handle.orders(scope, status, before, SHOWN).await;
    let page = page.map_err(|error| Error::from_wallet(error, &project))?;
    let older = page.next.map(|(at, order)| {
        let status = wanted.map_or("", |(_, name, ..)| name);
        format!("?status={status}&before={}", OrderCursor(at, order))
    });
    let mut states = vec![("", "All")];
    states.extend(STATES.iter().map(|(_, value, name, _)| (*value, *name)));
    let form = Form::new(query, None);
    let body = html! {
        h1 { "Orders" }
        @let waiting = app.payments.unfulfilled().count(Some(project.project.id));
        p { a href={ (base(&project)) "/unfulfilled-payments" } { "Unfulfilled payments and daily reconciliation" } @if waiting > 0 { " " span class="badge bad" { (waiting) } } }
        form.row.filter method="get" {
            (form.choice(&FieldLabel("status", "State", ""), &states))
            button type="submit" { "Show" }
        }
        @if page.orders.is_empty() { p.empty { "No such orders." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Orders" { table {
                thead { tr { th { "Placed" } th { "State" } th { "What" } th.number { "Amount" } th { "Wallet" } th { "Buyer" } } }
                tbody { @for order in &page.orders { (row(&project, order)) } }
            } }
        }
        @if let Some(older) = older { p { a.button href=(older) { "Older" } } }
    };
    Ok(Tab::Orders.page(&request, &project, "Orders", &body))
}

fn row(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let order = &answer.order;
    html! { tr {
        td.time { a href=(path(project, answer.id)) { (layout::when(order.created_at)) } }
        td { (order_badge(order)) }
        td { (what(project, answer)) br; span.hint { (kind(order.kind)) } }
        td.number { (amounts(order)) }
        td { (owner(project, answer)) }
        td { @match &order.email { Some(email) => (email.as_str()), None => "–" } }
    } }
}

/// The name of what was bought.
pub(super) fn what(project: &ProjectCatalog, answer: &OrderAnswer) -> String {
    let terms = &answer.order.terms;
    let label = terms.label.as_ref().map(ToString::to_string);
    label.unwrap_or_else(|| product_name(project, terms.product))
}

/// A link to the wallet that an order fills.
pub(super) fn owner(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let name = match (&answer.external_user, answer.wallet) {
        (Some(user), _) => user.as_str(),
        (None, Some(_)) => "Anonymous",
        (None, None) => return html! { "–" },
    };
    html! { a href=(wallets::path(project, answer.id.wallet)) { bdi { (name) } } }
}

/// `GET …/wallets/{wallet}/orders`: all orders of a wallet, newest first.
pub(super) async fn list_of_wallet(
    request: PageRequest,
    State(app): State<App>,
) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let (key, scope) = (wallets::wallet(&request)?, &project.scope);
    let refused = |error| Error::from_wallet(error, &project);
    let address = Address::Stored(key);
    let view = app.handle.read(scope, &address).await.map_err(refused)?;
    let before = request.query().cursor()?;
    let before = before.map(|OrderCursor(at, order)| (at, order));
    let page = app.handle.wallet_orders(scope, &address, before, SHOWN);
    let page = page.await.map_err(refused)?;
    let older = page.next.map(|(at, order)| OrderCursor(at, order));
    let body = html! {
        h1 { "Orders of a wallet" }
        p.hint { a href=(wallets::path(&project, key)) { (wallets::name(&view)) } }
        (table_of_wallet(&project, &page))
        @if let Some(older) = older { p { a.button href={ "?before=" (older) } { "Older" } } }
    };
    Ok(Tab::Wallets.page(&request, &project, "Orders of a wallet", &body))
}

/// The card with a wallet's newest orders.
pub(super) fn of_wallet(project: &ProjectCatalog, wallet: WalletKey, page: &OrderPage) -> Markup {
    html! {
        section.card {
            h2 { "Orders" }
            (table_of_wallet(project, page))
            @if page.next.is_some() {
                p { a.button href={ (wallets::path(project, wallet)) "/orders" } { "All orders" } }
            }
        }
    }
}

fn table_of_wallet(project: &ProjectCatalog, page: &OrderPage) -> Markup {
    html! {
        @if page.orders.is_empty() { p.empty { "No orders." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Orders of this wallet" { table {
                thead { tr { th { "Placed" } th { "State" } th { "What" } th.number { "Amount" } th { "Buyer" } } }
                tbody { @for answer in &page.orders {
                    @let order = &answer.order;
                    tr {
                        td.time { a href=(path(project, answer.id)) { (layout::when(order.created_at)) } }
                        td { (order_badge(order)) }
                        td { (what(project, answer)) @if order.quantity.get() > 1 { " × " (order.quantity.get()) } br; span.hint { (kind(order.kind)) } }
                        td.number { (amounts(order)) }
                        td { @match &order.email { Some(email) => bdi { (email.as_str()) }, None => "–" } }
                    }
                } }
            } }
        }
    }
}

/// What an order costs, and what of that was returned.
fn amounts(order: &Order) -> Markup {
    let currency = &order.terms.currency;
    html! {
        (money(order.amount_cents, currency))
        @if order.reversal.refunded_cents > 0 {
            br; span.hint { (money(order.reversal.refunded_cents, currency)) " refunded" }
        }
    }
}

/// The path of an order's page.
pub(super) fn path(project: &ProjectCatalog, order: OrderId) -> String {
    format!("{}/orders/{order}", base(project))
}

//! A project's wallets: the last used ones, or those with the largest balances.

use actors::{ListedWallet, WalletOrder, WalletView};
use domain::id::{ProductId, WalletKey};
use edge::csv;
use wire::cursor::WalletCursor;

use super::prelude::*;

const PAGE_SIZE: usize = 25;
/// Balances that a row of the table shows.
const BALANCES: usize = 3;

pub(super) fn path(project: &ProjectCatalog, wallet: WalletKey) -> String {
    format!("{}/wallets/{wallet}", base(project))
}

pub(super) fn wallet(request: &PageRequest) -> Result<WalletKey, Error> {
    request.named("wallet", ErrorCode::WalletNotFound)
}

/// A wallet of the project.
pub(super) async fn wallet_view(
    request: &PageRequest,
    wallet: WalletKey,
) -> Result<WalletView, Error> {
    let address = Address::Stored(wallet);
    request.read(
        request
            .app
            .handle
            .read(&request.project.scope, &address)
            .await,
    )
}

/// What the address asks the list to be sorted by: a product's balance, or else the last use.
fn order(request: &PageRequest) -> WalletOrder {
    let product = request.query().text("sort").parse::<ProductId>();
    let product = product
        .ok()
        .filter(|it| request.project.product(it).is_some());
    product.map_or(WalletOrder::LastUsed, WalletOrder::Balance)
}

pub(super) async fn list(request: PageRequest) -> PageResult {
    let query = request.query();
    let after = query.cursor()?.map(|WalletCursor(place)| place);
    let order = order(&request);
    let (handle, scope) = (&request.app.handle, &request.project.scope);
    let page = request.read(handle.wallets(scope, order, after, PAGE_SIZE).await)?;
    let kept = query.query(&["sort"]);
    let next = page
        .next
        .map(|next| format!("?{kept}before={}", WalletCursor(next)));
    let mut sorts = vec![(String::new(), "Last use".to_owned())];
    let products = request
        .project
        .products()
        .filter(|it| it.credit_unit.is_some());
    sorts.extend(products.map(|it| (it.id.to_string(), format!("Balance: {}", it.name))));
    let form = Form::new(query, None);
    let body = html! {
        div.head { h1 { "Wallets" } a href={ (base(&request.project)) "/refused" } { "Refused by limits" } a.button href={ (base(&request.project)) "/wallets.csv?" (kept) } { "CSV" } }
        form.row.filter method="get" {
            (form.choice(&FieldLabel("sort", "Sorted by", ""), &sorts))
            button type="submit" { "Show" }
        }
        @if page.wallets.is_empty() { p.empty { "No wallets." } } @else { (table(&request.project, &page.wallets)) }
        @if let Some(next) = next { p { a.button href=(next) { "Next" } } }
    };
    Ok(request.show("Wallets", &body))
}

pub(super) async fn export(request: PageRequest) -> PageResult {
    let order = order(&request);
    Ok(csv::wallets(
        request.app.handle.clone(),
        request.project.clone(),
        order,
    ))
}

pub(super) fn table(project: &ProjectCatalog, wallets: &[ListedWallet]) -> Markup {
    html! {
        (layout::table("Wallets", &["Wallet", "Balances", "Last used", "Created"], &html! { @for wallet in wallets { tr {
            td.wrap { a href=(path(project, wallet.view.key)) { (name(&wallet.view)) }
                @if wallet.view.frozen.is_some() { " " span.badge.bad { "Frozen" } }
                br; code.small { (wallet.view.id) } }
            td { (balances(project, &wallet.view)) }
            td.time { (layout::when(wallet.used_at)) }
            td.time { (layout::when(wallet.view.created_at)) }
        } } }))
    }
}

fn balances(project: &ProjectCatalog, view: &WalletView) -> Markup {
    let more = view.balances.len().saturating_sub(BALANCES);
    html! {
        @for (place, balance) in view.balances.iter().take(BALANCES).enumerate() {
            @let unit = project.product(&balance.product).and_then(|it| it.credit_unit.as_deref());
            @if place > 0 { br; }
            (grouped(balance.balance)) " " (unit.unwrap_or("credits"))
            @if balance.owed > 0 { ", " (grouped(balance.owed)) " owed" }
        }
        @if view.balances.is_empty() { "–" }
        @if more > 0 { br; span.hint { (more) " more" } }
    }
}

/// A wallet's display name: its user id, or that it is anonymous.
pub(super) fn name(wallet: &WalletView) -> Markup {
    match &wallet.external_user {
        Some(user) => verbatim(user.as_str()),
        None => html! { "Anonymous wallet" },
    }
}

/// The head of a page about one wallet: its name as a link, and what can be spent.
pub(super) fn head(project: &ProjectCatalog, view: &WalletView, title: &str) -> Markup {
    html! {
        h1 { (title) }
        p { a href=(path(project, view.key)) { (name(view)) } " " code.small { (view.id) } }
        p.hint { (balances(project, view)) }
    }
}

//! One search for wallets and orders. The query is in the address, so that Back and links work; a recovery
//! code must not, so the form is sent as a `POST`.

use actors::SearchResult;
use axum::response::{IntoResponse as _, Redirect};
use domain::{code::RecoveryCode, id::OrderId, text::ExternalUserId};
use edge::Read;
use url::form_urlencoded;

use super::{orders, prelude::*, wallets};

/// The most wallets, and the most orders, of one search.
const MAX_RESULTS: usize = 20;
/// The field with what is looked for.
const QUERY: &str = "query";
/// What providers call an order's checkout, payment and invoice begins so.
const OF_ONE_ORDER: [&str; 3] = ["cs_", "pi_", "in_"];

pub(super) async fn find(request: FormPost<Read>) -> PageResult {
    if RecoveryCode::parse(request.fields.text(QUERY)).is_some() {
        return answer(&request, &request.fields).await;
    }
    // As it was typed: a user id may end in a space.
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair(QUERY, request.fields.raw(QUERY))
        .finish();
    let path = format!("{}/search?{query}", base(&request.project));
    Ok(Redirect::to(&path).into_response())
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let fields = request.query().clone();
    answer(&request, &fields).await
}

async fn answer(request: &PageRequest, fields: &Fields) -> PageResult {
    let project = &request.project;
    let text = fields.raw(QUERY);
    let found = match text.trim() {
        "" => SearchResult::default(),
        _ => {
            let handle = &request.app.handle;
            let found = handle.search(&project.scope, None, text, MAX_RESULTS);
            request.read(found.await)?
        }
    };
    if let Some(only) = only(project, text, &found) {
        return Ok(Redirect::to(&only).into_response());
    }
    let is_nothing = found.wallets.is_empty() && found.orders.is_empty() && !text.trim().is_empty();
    let none = is_nothing.then(|| {
        let error = Error::about(QUERY, ErrorCode::WalletNotFound);
        error.saying("This project has no such wallet or order.")
    });
    let form = Form::new(fields, none.as_ref());
    let body = html! {
        h1 { "Search" }
        (form.alert(&[]))
        p.hint { "By user id or how it begins, e-mail of any order, recovery code (also a former one), order, hold, "
            "checkout, wallet, or the provider's payment, invoice, customer or subscription." }
        @if !found.orders.is_empty() {
            h2 { "Orders" @if found.orders.len() >= MAX_RESULTS { " (the first " (MAX_RESULTS) ")" } }
            (orders::table(project, &found.orders))
        }
        @if !found.wallets.is_empty() {
            h2 { "Wallets" @if found.wallets.len() >= MAX_RESULTS { " (the first " (MAX_RESULTS) ")" } }
            (wallets::table(project, &found.wallets))
        }
    };
    Ok(form.response(request.show("Search", &body)))
}

/// The page of the only thing that was meant.
fn only(project: &ProjectCatalog, text: &str, found: &SearchResult) -> Option<String> {
    let trimmed = text.trim();
    let names_order =
        trimmed.parse::<OrderId>().is_ok() || OF_ONE_ORDER.iter().any(|it| trimmed.starts_with(it));
    match (found.orders.as_slice(), found.wallets.as_slice()) {
        ([order], _) if names_order => Some(orders::path(project, order.id)),
        ([], [wallet]) => Some(wallets::path(project, wallet.view.key)),
        // Nobody types a space at an end but for the user whose id has it.
        (_, wallets) if text != text.trim() => {
            let is_theirs = |user: &ExternalUserId| user.as_str() == text;
            let mut wallets = wallets.iter();
            let meant = wallets.find(|it| it.view.external_user.as_ref().is_some_and(is_theirs));
            meant.map(|it| wallets::path(project, it.view.key))
        }
        _ => None,
    }
}

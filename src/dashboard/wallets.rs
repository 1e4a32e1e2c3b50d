//! Finds wallets by user id, wallet id, recovery code, order, hold, checkout or e-mail.

use actors::{Address, WalletDetail, WalletQuery};
use axum::{
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use data_encoding::HEXLOWER;
use domain::{
    Rejection,
    code::RecoveryCode,
    id::WalletKey,
    text::{CheckoutId, Email, ExternalUserId},
};
use maud::{Markup, html};

use super::{
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab, base},
    page_request::{FormPost, PageRequest},
    projects::refused,
};
use crate::{
    catalog::ProjectCatalog,
    http::{Error, ErrorCode},
    state::App,
};

/// Most wallets found for one search.
const SHOWN: usize = 20;

/// The path of a wallet's page.
pub(super) fn path(project: &ProjectCatalog, wallet: WalletKey) -> String {
    format!("{}/wallets/{}", base(project), HEXLOWER.encode(&wallet.0))
}

/// The wallet in the path.
pub(super) fn wallet(request: &PageRequest) -> Result<WalletKey, Error> {
    let unknown = || Error::new(ErrorCode::WalletNotFound);
    let text: String = request.named("wallet", ErrorCode::WalletNotFound)?;
    let bytes = HEXLOWER.decode(text.as_bytes()).map_err(|_| unknown())?;
    Ok(WalletKey(bytes.try_into().map_err(|_| unknown())?))
}

/// `GET …/wallets`: the search form.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let fields = Fields::default();
    let form = Form::new(&fields, None);
    Ok(page(&request, &project, form, &[]))
}

/// `POST …/wallets`: searches. Not a `GET`, as the text may be a recovery code, which must not be in a URL.
pub(super) async fn find(State(app): State<App>, posted: FormPost) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let queries = queries(&app, &project, fields.text("clue")).await?;
    let found = app.handle.search(&project.scope, &queries, SHOWN).await;
    let found = found.map_err(|error| Error::from_wallet(error, &project))?;
    if let [(wallet, _)] = found.as_slice() {
        return Ok(Redirect::to(&path(&project, *wallet)).into_response());
    }
    if found.is_empty() {
        let error = Error::about("clue", ErrorCode::WalletNotFound)
            .saying("This project has no such wallet.");
        let form = Form::new(&fields, Some(&error));
        return Ok(refused(&error, page(&request, &project, form, &found)));
    }
    let form = Form::new(&fields, None);
    Ok(page(&request, &project, form, &found))
}

/// Everything that a text may mean: user ids are the project's own, and may look like anything.
async fn queries(
    app: &App,
    project: &ProjectCatalog,
    text: &str,
) -> Result<Vec<WalletQuery>, Error> {
    let mut queries = Vec::new();
    if let Ok(user) = ExternalUserId::new(text) {
        queries.push(WalletQuery::Address(Address::External(user)));
    }
    queries.extend(
        RecoveryCode::parse(text)
            .map(Address::Code)
            .map(WalletQuery::Address),
    );
    queries.extend(text.parse().ok().map(WalletQuery::Order));
    queries.extend(text.parse().ok().map(WalletQuery::Hold));
    queries.extend(text.parse().ok().map(WalletQuery::Id));
    queries.extend(Email::new(text).ok().map(WalletQuery::Buyer));
    if let Ok(checkout) = CheckoutId::new(text) {
        let order = app
            .handle
            .order_of_checkout(&project.scope, &checkout)
            .await;
        match order {
            Ok(order) => queries.push(WalletQuery::Order(order.id)),
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => {}
            Err(error) => return Err(Error::from_wallet(error, project)),
        }
    }
    Ok(queries)
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    form: Form<'_>,
    found: &[(WalletKey, WalletDetail)],
) -> Response {
    let body = html! {
        h1 { "Wallets" }
        section.card {
            h2 { "Find a wallet" }
            form method="post" action={ (base(project)) "/wallets" } {
                (form::token(request))
                (form.text(&FieldLabel("clue", "User id, wallet id, recovery code, order, hold, checkout, or a buyer's e-mail", "")))
                button.primary type="submit" { "Find" }
            }
        }
        @if !found.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Wallets found" { table {
                thead { tr { th { "Wallet" } th { "Identifier" } th { "Created" } } }
                tbody { @for (key, detail) in found { tr {
                    td { a href=(path(project, *key)) { (name(detail)) } }
                    td { code { (detail.id) } }
                    td.time { (layout::when(detail.created_at)) }
                } } }
            } }
        }
    };
    layout::page(
        request,
        At::Project(project, Tab::Wallets),
        "Wallets",
        &body,
    )
}

/// A wallet's display name: its user id, or that it is anonymous.
pub(super) fn name(detail: &WalletDetail) -> Markup {
    html! {
        @match &detail.external_user {
            Some(user) => (user.as_str()),
            None => "Anonymous wallet",
        }
    }
}

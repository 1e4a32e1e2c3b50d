//! Finds wallets by whatever is known of them.

use actors::WalletView;
use axum::{
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use catalog::ProjectCatalog;
use domain::id::WalletKey;
use edge::Read;
use maud::html;
use wire::{Error, ErrorCode};

use super::{
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, Tab, base},
    page_request::{FormPost, PageRequest},
};
use crate::state::App;

/// Most wallets found for one search.
const SHOWN: usize = 20;

/// The path of a wallet's page.
pub(super) fn path(project: &ProjectCatalog, wallet: WalletKey) -> String {
    format!("{}/wallets/{wallet}", base(project))
}

/// The wallet in the path.
pub(super) fn wallet(request: &PageRequest) -> Result<WalletKey, Error> {
    request.named("wallet", ErrorCode::WalletNotFound)
}

/// `GET …/wallets`: the search form.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let fields = Fields::default();
    let form = Form::new(&fields, None);
    Ok(page(&request, &project, form, &[]))
}

/// `POST …/wallets`: searches. Not a `GET`, as the text may be a recovery code, which must not be in a URL.
pub(super) async fn find(
    State(app): State<App>,
    posted: FormPost<Read>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let (scope, text) = (&project.scope, fields.text("clue"));
    let found = app.handle.search(scope, text, SHOWN).await;
    let found = found.map_err(|error| Error::from_wallet(error, &project))?;
    if let [wallet] = found.as_slice() {
        return Ok(Redirect::to(&path(&project, wallet.key)).into_response());
    }
    let none = found.is_empty().then(|| {
        let error = Error::about("clue", ErrorCode::WalletNotFound);
        error.saying("This project has no such wallet.")
    });
    let form = Form::new(&fields, none.as_ref());
    Ok(page(&request, &project, form, &found))
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    form: Form<'_>,
    found: &[WalletView],
) -> Response {
    let body = html! {
        h1 { "Wallets" }
        section.card {
            h2 { "Find a wallet" }
            form method="post" action={ (base(project)) "/wallets" } {
                (form::token(request))
                (form.text(&FieldLabel("clue", "User id, wallet id or ref, recovery code, order, hold, checkout, or a buyer's e-mail", "")))
                button.primary type="submit" { "Find" }
            }
        }
        @if !found.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Wallets found" { table {
                thead { tr { th { "Wallet" } th { "Identifier" } th { "Created" } } }
                tbody { @for wallet in found { tr {
                    td { a href=(path(project, wallet.key)) { (name(wallet)) } }
                    td { code { (wallet.id) } }
                    td.time { (layout::when(wallet.created_at)) }
                } } }
            } }
        }
    };
    form.response(Tab::Wallets.page(request, project, "Wallets", &body))
}

/// A wallet's display name: its user id, or that it is anonymous.
pub(super) fn name(wallet: &WalletView) -> &str {
    let user = wallet.external_user.as_ref();
    user.map_or("Anonymous wallet", |user| user.as_str())
}

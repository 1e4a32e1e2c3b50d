//! Finding a wallet, by whatever is known of it.

use actors::{Address, Clue, Inside};
use axum::{
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use data_encoding::HEXLOWER;
use domain::{
    Rejection,
    code::Code as RecoveryCode,
    id::WalletKey,
    text::{CheckoutId, Email, ExternalUserId},
};
use maud::{Markup, html};

use super::{
    fields::Fields,
    form::{self, Form, Label},
    projects::refused,
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::ProjectCatalog,
    http::{Code, Error},
    state::App,
};

/// Wallets of one buyer that are found at once.
const SHOWN: usize = 20;

/// Where a wallet's page is.
pub(super) fn path(project: &ProjectCatalog, wallet: WalletKey) -> String {
    format!("{}/wallets/{}", base(project), HEXLOWER.encode(&wallet.0))
}

/// The wallet that the path names.
pub(super) fn wallet(visit: &Visit) -> Result<WalletKey, Error> {
    let unknown = || Error::new(Code::WalletNotFound);
    let text: String = visit.named("wallet", Code::WalletNotFound)?;
    let bytes = HEXLOWER.decode(text.as_bytes()).map_err(|_| unknown())?;
    Ok(WalletKey(bytes.try_into().map_err(|_| unknown())?))
}

/// `GET …/wallets`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let fields = Fields::default();
    let form = Form::new(&fields, None);
    Ok(page(&visit, &project, form, &[]))
}

/// `POST …/wallets`: what is looked for may be a recovery code, which must not stand in an address.
pub(super) async fn find(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let clues = clues(&app, &project, fields.text("clue")).await?;
    let found = app.handle.search(&project.scope, &clues, SHOWN).await;
    let found = found.map_err(|error| Error::from_wallet(error, &project))?;
    if let [(wallet, _)] = found.as_slice() {
        return Ok(Redirect::to(&path(&project, *wallet)).into_response());
    }
    if found.is_empty() {
        let error = Error::about("clue", Code::WalletNotFound).saying("No wallet of this project.");
        let form = Form::new(&fields, Some(&error));
        return Ok(refused(&error, page(&visit, &project, form, &found)));
    }
    let form = Form::new(&fields, None);
    Ok(page(&visit, &project, form, &found))
}

/// All that a text may stand for: user ids are the project's own, and may look like anything.
async fn clues(app: &App, project: &ProjectCatalog, text: &str) -> Result<Vec<Clue>, Error> {
    let mut clues = Vec::new();
    if let Ok(user) = ExternalUserId::new(text) {
        clues.push(Clue::Address(Address::External(user)));
    }
    clues.extend(
        RecoveryCode::parse(text)
            .map(Address::Code)
            .map(Clue::Address),
    );
    clues.extend(text.parse().ok().map(Clue::Order));
    clues.extend(text.parse().ok().map(Clue::Hold));
    clues.extend(Email::new(text).ok().map(Clue::Buyer));
    if let Ok(checkout) = CheckoutId::new(text) {
        let order = app
            .handle
            .order_of_checkout(&project.scope, &checkout)
            .await;
        match order {
            Ok(order) => clues.push(Clue::Order(order.id)),
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => {}
            Err(error) => return Err(Error::from_wallet(error, project)),
        }
    }
    Ok(clues)
}

fn page(
    visit: &Visit,
    project: &ProjectCatalog,
    form: Form<'_>,
    found: &[(WalletKey, Inside)],
) -> Response {
    let body = html! {
        h1 { "Wallets" }
        section.card {
            h2 { "Find a wallet" }
            form method="post" action={ (base(project)) "/wallets" } {
                (form::token(visit))
                (form.text(&Label("clue", "User id, recovery code, order, hold, checkout, or a buyer's e-mail", "")))
                button.primary type="submit" { "Find" }
            }
        }
        @if !found.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Wallets found" { table {
                thead { tr { th { "Wallet" } th { "Identifier" } th { "Made" } } }
                tbody { @for (key, inside) in found { tr {
                    td { a href=(path(project, *key)) { (name(inside)) } }
                    td { code { (inside.id) } }
                    td.time { (shell::when(inside.created_at)) }
                } } }
            } }
        }
    };
    shell::page(visit, At::Project(project, Tab::Wallets), "Wallets", &body)
}

/// What a wallet is called: its user, or that it has none.
pub(super) fn name(inside: &Inside) -> Markup {
    html! {
        @match &inside.external_user {
            Some(user) => (user.as_str()),
            None => "Anonymous wallet",
        }
    }
}

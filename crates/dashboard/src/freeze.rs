//! The form that freezes or unfreezes a wallet.

use actors::{Address, WalletView};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    text::FreezeReason,
    wallet::{Freeze, freeze::SetFrozen},
};
use identity::Privilege;
use maud::{Markup, html};
use operator::SetWalletFrozen;
use wire::Error;

use super::{
    confirm::ActionForm,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, Tab},
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{head, path, wallet},
};
use crate::state::App;

pub(super) fn banner(frozen: Option<&Freeze>) -> Markup {
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

pub(super) fn card(
    request: &PageRequest,
    project: &ProjectCatalog,
    view: &WalletView,
    form: Form<'_>,
) -> Markup {
    let action = format!("{}/freeze", path(project, view.key));
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

/// `POST …/wallets/{wallet}/freeze`: freezes or unfreezes a wallet, once that was confirmed.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<SetWalletFrozen>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let address = Address::Stored(key);
    let command = match command(&fields) {
        Ok(command) => command,
        Err(error) => {
            let view = app.handle.read(&project.scope, &address).await;
            let view = view.map_err(|error| Error::from_wallet(error, &project))?;
            return Ok(again(&request, &project, &view, &fields, &error));
        }
    };
    let message = match &command {
        SetFrozen::Freeze(_) => "frozen",
        SetFrozen::Unfreeze => "unfrozen",
    };
    let back = path(&project, key);
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    let wallet = key;
    form.run(SetWalletFrozen { wallet, command }, &back, message)
        .await
}

fn again(
    request: &PageRequest,
    project: &ProjectCatalog,
    view: &WalletView,
    fields: &Fields,
    error: &Error,
) -> Response {
    let form = Form::new(fields, Some(error));
    let body = html! { (head(project, view, "Freeze")) (card(request, project, view, form)) };
    form.response(Tab::Wallets.page(request, project, "Freeze", &body))
}

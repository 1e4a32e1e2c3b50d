//! Erases the personal data of a wallet, once that was confirmed.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::id::WalletKey;
use identity::Privilege;
use maud::{Markup, html};
use operator::Erase;
use wire::Error;

use super::{
    confirm::ActionForm,
    form,
    layout::Tab,
    page_request::{FormPost, PageRequest},
    wallets::{path, wallet},
};
use crate::state::App;

/// The card with the button that leads to it.
pub(super) fn card(request: &PageRequest, project: &ProjectCatalog, key: WalletKey) -> Markup {
    html! { @if request.may(Privilege::Manage) {
        section.card #erase {
            h2 { "Erase the customer" }
            form method="post" action={ (path(project, key)) "/erase" } {
                (form::token(request))
                p { "E-mail addresses, metadata and notes go; credits and sums stay." }
                button.danger type="submit" { "Erase…" }
            }
        }
    } }
}

/// `POST …/wallets/{wallet}/erase`: erases it, once that was confirmed.
pub(super) async fn erase(
    State(app): State<App>,
    posted: FormPost<Erase>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    form.run(Erase(key), &path(&project, key), "erased").await
}

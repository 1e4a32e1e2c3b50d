//! The form that replaces the recovery code of an anonymous wallet.

use actors::WalletView;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::text::Email;
use identity::Privilege;
use maud::{Markup, html};
use operator::{CodeReceiver, ReplaceCode, ReplacedCode};
use uuid::Uuid;
use wire::Error;

use super::{
    confirm::ActionForm,
    fields::KEY,
    form,
    layout::{self, Tab},
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{path, wallet},
};
use crate::state::App;

pub(super) fn card(request: &PageRequest, project: &ProjectCatalog, view: &WalletView) -> Markup {
    let action = format!("{}/replace-code", path(project, view.key));
    html! { @if view.external_user.is_none() && request.may(Privilege::Support) {
        section.card {
            h2 { "Recovery code" }
            form method="post" action=(action) {
                (form::token(request))
                input type="hidden" name=(KEY) value=(Uuid::now_v7());
                p { "For a buyer who lost it, or whose code somebody else knows." }
                label { "Mail it to" input type="email" name="address" placeholder="the buyer whose payment created the wallet"; }
                div.row {
                    button.danger name="to" value="page" type="submit" { "Replace and show it…" }
                    button.danger name="to" value="mail" type="submit" { "Replace and mail it…" }
                }
            }
        }
    } }
}

/// `POST …/wallets/{wallet}/replace-code`: replaces the code, once that was confirmed.
pub(super) async fn replace(
    State(app): State<App>,
    posted: FormPost<ReplaceCode>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let typed = fields.text("address");
    let receiver = match fields.text("to") {
        "page" => CodeReceiver::Caller,
        "mail" if typed.is_empty() => CodeReceiver::FirstBuyer,
        "mail" => {
            let invalid = |_| Error::invalid("address", "This is no e-mail address.");
            CodeReceiver::Named(Email::new(typed).map_err(invalid)?)
        }
        _ => return Err(Error::missing("to")),
    };
    let replace = ReplaceCode {
        wallet: key,
        receiver,
        key: Some(fields.key()?),
    };
    let back = path(&project, key);
    let shown = |replaced: ReplacedCode, _| {
        let rotation = &replaced.rotation;
        let body = html! {
            h1 { "The code was replaced" }
            @if rotation.replayed { p.done role="status" { "This was done before; nothing was done twice." } }
            @match &replaced.mailed_to {
                Some(to) => section.card { p { "The new code is on its way to " (verbatim(to.as_str())) "." } },
                None => section.card.shown {
                    h2 { "Copy now" }
                    p { "The new recovery code of the wallet. It is shown only now." }
                    p { (layout::copyable(rotation.code.reveal())) }
                },
            }
            p { a href=(back) { "Go on" } }
        };
        Tab::Wallets.page(&request, &project, "The code was replaced", &body)
    };
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    form.answer(replace, &back, shown).await
}

//! Replaces the recovery code of an anonymous wallet. The new one is shown once, or mailed to the buyer whose payment
//! created the wallet, or to an address that the operator enters.

use actors::{Address, WalletView};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::text::Email;
use edge::Support;
use identity::Privilege;
use maud::{Markup, html};
use outbound::code_replacement::{Recipient, code_receiver, in_words, replace_code};
use uuid::Uuid;
use wire::{Error, ErrorCode};

use super::{
    confirm::confirm,
    fields::{CONFIRMED, Fields, KEY},
    form,
    layout::{self, At, Tab},
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{name, path, wallet},
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

/// Who gets the new code, and their address; `None`: it is shown.
async fn receiver(
    app: &App,
    project: &ProjectCatalog,
    address: &Address,
    fields: &Fields,
) -> Result<(Recipient, Option<Email>), Error> {
    match fields.text("to") {
        "page" => return Ok((Recipient::Caller, None)),
        "mail" => {}
        _ => return Err(Error::missing("to")),
    }
    if !app.mailer.is_configured() {
        return Err(Error::new(ErrorCode::MailNotConfigured));
    }
    let typed = fields.text("address");
    if !typed.is_empty() {
        let invalid = |_| Error::invalid("address", "This is no e-mail address.");
        let named = Email::new(typed).map_err(invalid)?;
        return Ok((Recipient::Named, Some(named)));
    }
    let buyer = code_receiver(&app.handle, project, address).await?;
    Ok((Recipient::FirstBuyer, Some(buyer)))
}

/// `POST …/wallets/{wallet}/replace-code`: replaces the code, once that was confirmed.
pub(super) async fn replace(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let (scope, address, page_path) = (&project.scope, Address::Stored(key), path(&project, key));
    let refused = |error| Error::from_wallet(error, &project);
    let view = app.handle.read(scope, &address).await.map_err(refused)?;
    if view.external_user.is_some() {
        return Err(Error::new(ErrorCode::NoRecoveryCode));
    }
    let (recipient, to) = receiver(&app, &project, &address, &fields).await?;
    let once = fields.key()?;
    let at = At::Project(&project, Tab::Wallets);
    if !fields.is_on(CONFIRMED) {
        let title = "Replace the recovery code?";
        let paths = (&*format!("{page_path}/replace-code"), &*page_path);
        let facts = facts(&view, recipient, to.as_ref());
        return Ok(confirm(&request, at, &fields, paths, title, &facts));
    }
    let of = (&*project, &address);
    let replaced = replace_code(&app.handle, &app.mailer, of, to.clone(), Some(&once)).await?;
    let body = html! {
        h1 { "The code was replaced" }
        @if replaced.replayed { p.done role="status" { "This was done before; nothing was done twice." } }
        @match &to {
            Some(to) => section.card { p { "The new code is on its way to " (verbatim(to.as_str())) "." } },
            None => section.card.shown {
                h2 { "Copy now" }
                p { "The new recovery code of the wallet. It is shown only now." }
                p { (layout::copyable(replaced.code.reveal())) }
            },
        }
        p { a href=(page_path) { "Go on" } }
    };
    let page = Tab::Wallets.page(&request, &project, "The code was replaced", &body);
    let what = in_words(&replaced, &view.id, recipient);
    Ok(request.audited(page, what))
}

fn facts(view: &WalletView, recipient: Recipient, to: Option<&Email>) -> Markup {
    html! { dl {
        div { dt { "Wallet" } dd { (name(view)) } }
        div { dt { "What ends" } dd { "The present code and all former ones stop working, and sessions that they began end. Open holds that publishable keys placed are released." } }
        div { dt { "What stays" } dd { "Credits, features, subscriptions, orders and notes." } }
        div { dt { "The new code" } dd {
            @match to {
                Some(to) => {
                    "is mailed to " (verbatim(to.as_str()))
                    @if recipient == Recipient::FirstBuyer { ", the buyer whose payment created the wallet" }
                    ", and not shown here"
                },
                None => "is shown once, on the next page: give it to the owner only",
            }
        } }
    } }
}

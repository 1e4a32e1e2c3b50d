//! Freezes a wallet, with a reason, and unfreezes it. A confirmation says what that stops.

use actors::{Address, WalletView};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    text::FreezeReason,
    wallet::{Freeze, freeze::SetFrozen},
};
use edge::Support;
use identity::Privilege;
use maud::{Markup, html};
use operations::audit::Proof;
use wire::Error;

use super::{
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab},
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{head, name, owner, path, wallet},
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
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let (scope, address) = (&project.scope, Address::Stored(key));
    let refused = |error| Error::from_wallet(error, &project);
    let view = app.handle.read(scope, &address).await.map_err(refused)?;
    let command = match command(&fields) {
        Ok(command) => command,
        Err(error) => return Ok(again(&request, &project, &view, &fields, &error)),
    };
    let page_path = path(&project, key);
    let (message, is_frozen) = match &command {
        SetFrozen::Freeze(_) => ("frozen", true),
        SetFrozen::Unfreeze => ("unfrozen", false),
    };
    let verb = if is_frozen { "Freeze" } else { "Unfreeze" };
    if view.frozen.is_some() == is_frozen {
        return Ok(request.done_before(&page_path));
    }
    if !fields.is_on(CONFIRMED) {
        let title = format!("{verb} {}?", owner(&view));
        let paths = (&*format!("{page_path}/freeze"), &*page_path);
        let at = At::Project(&project, Tab::Wallets);
        let facts = facts(&view, &command);
        return Ok(confirm(&request, at, &fields, paths, &title, &facts));
    }
    let words = format!("{verb} {}", view.id);
    let proof = Proof::Freeze {
        wallet: key,
        frozen: is_frozen,
    };
    // Others may change it before a later try: only the wallet itself shows this one's outcome.
    let once = app.edge.clock.now().0.to_string();
    request
        .announce_once(&app, &words, Some(proof), &once)
        .await?;
    let what = match &command {
        SetFrozen::Freeze(Some(reason)) => format!("Froze {}: {}", view.id, reason.as_str()),
        SetFrozen::Freeze(None) => format!("Froze {}", view.id),
        SetFrozen::Unfreeze => format!("Unfroze {}", view.id),
    };
    let set = app.handle.set_frozen(scope, &address, command);
    set.await.map_err(refused)?;
    Ok(request.done(&page_path, message, what))
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

fn facts(view: &WalletView, command: &SetFrozen) -> Markup {
    let former = view.frozen.as_ref().and_then(|it| it.reason.as_ref());
    html! { dl {
        div { dt { "Wallet" } dd { (name(view)) } }
        @match command {
            SetFrozen::Freeze(reason) => {
                div { dt { "Reason" } dd { @match reason { Some(reason) => (verbatim(reason.as_str())), None => "None" } } }
                div { dt { "What stops" } dd { "Deductions, new holds, draws and checkouts are refused. The recovery code alone does not replace it." } }
                div { dt { "What goes on" } dd { "Reading it, grants and refunds; payments under way are fulfilled, subscriptions renewed; open holds are settled for what they set aside, or released; credits expire." } }
            },
            SetFrozen::Unfreeze => {
                @if let Some(reason) = former { div { dt { "It was frozen because" } dd { (verbatim(reason.as_str())) } } }
                div { dt { "What goes on again" } dd { "Deductions, holds, draws and checkouts." } }
            },
        }
    } }
}

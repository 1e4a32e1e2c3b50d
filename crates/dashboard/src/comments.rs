//! Operators' notes about a wallet, for each other.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::id::WalletKey;
use edge::Support;
use identity::Privilege;
use maud::{Markup, html};
use operations::wallet_notes::{self, Comment, MAX_COMMENT_CHARS};
use wire::{Error, ErrorCode};

use super::{
    confirm::confirm,
    fields::CONFIRMED,
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab},
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{head, path, wallet},
};
use crate::state::App;

pub(super) async fn of(app: &App, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
    app.wallet_notes.of(wallet).await.map_err(refused)
}

pub(super) async fn remove_all(app: &App, wallet: WalletKey) -> Result<usize, Error> {
    app.wallet_notes.remove_all(wallet).await.map_err(refused)
}

fn refused(error: wallet_notes::Error) -> Error {
    match error {
        wallet_notes::Error::TooMany => {
            Error::invalid("text", "This wallet has 100 notes: delete some first.")
        }
        wallet_notes::Error::Unreadable(error) => {
            tracing::error!(%error, "Notes about a wallet cannot be read");
            Error::new(ErrorCode::InternalError)
        }
        wallet_notes::Error::Log(_) => Error::new(ErrorCode::Unavailable),
    }
}

pub(super) fn card(
    request: &PageRequest,
    project: &ProjectCatalog,
    key: WalletKey,
    comments: &[Comment],
    form: Form<'_>,
) -> Markup {
    let action = format!("{}/notes", path(project, key));
    let may = request.may(Privilege::Support);
    html! {
        section.card #notes {
            h2 { "Notes" }
            @for comment in comments.iter().rev() {
                div.comment {
                    (text(comment))
                    @if may { form method="post" action={ (action) "/delete" } {
                        (form::token(request))
                        input type="hidden" name="at" value=(comment.at);
                        button.link type="submit" { "Delete this note…" }
                    } }
                }
            }
            @if may {
                (form.alert(&["text"]))
                form method="post" action=(action) {
                    (form::token(request))
                    (form.area(&FieldLabel("text", "Add a note", "For operators only: the wallet's owner does not see it.")))
                    button type="submit" { "Add" }
                }
            } @else if comments.is_empty() { p.empty { "None." } }
        }
    }
}

fn text(comment: &Comment) -> Markup {
    let lines = comment.text.lines().enumerate();
    html! {
        p { @for (at, line) in lines { @if at > 0 { br; } (verbatim(line)) } }
        p.hint { (verbatim(&comment.who)) ", " (layout::when(domain::Timestamp(comment.at.cast_signed()))) }
    }
}

/// `POST …/wallets/{wallet}/notes`: adds a comment.
pub(super) async fn add(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    // The wallet exists and is of this project.
    let address = actors::Address::Stored(key);
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let page_path = path(&project, key);
    let added = async {
        let text = fields.owned("text");
        let text = text.filter(|text| text.chars().count() <= MAX_COMMENT_CHARS);
        let text = text.ok_or_else(|| Error::invalid("text", "Enter 1 to 1,000 characters."))?;
        let now = app.handle.now_in(&project.scope);
        let who = request.authority.name();
        let added = app.wallet_notes.add(key, who, now, text);
        added.await.map_err(refused)
    };
    match added.await {
        Ok(()) => Ok(request.done(
            &page_path,
            "saved",
            format!("Added a note about {}", view.id),
        )),
        Err(error) => {
            let form = Form::new(&fields, Some(&error));
            let body = html! { (head(&project, &view, "Notes")) (card(&request, &project, key, &[], form)) };
            Ok(form.response(Tab::Wallets.page(&request, &project, "Notes", &body)))
        }
    }
}

/// `POST …/wallets/{wallet}/notes/delete`: removes a comment.
pub(super) async fn delete(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let address = actors::Address::Stored(key);
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let at = fields.parsed("at", "an instant")?;
    let at = at.ok_or_else(|| Error::missing("at"))?;
    if !fields.is_on(CONFIRMED) {
        let known = of(&app, key).await?;
        let page_path = path(&project, key);
        let Some(known) = known.iter().find(|known| known.at == at) else {
            return Ok(request.done_before(&page_path));
        };
        let facts = html! { div.comment { (text(known)) } p { "This cannot be undone." } };
        let paths = (&*format!("{page_path}/notes/delete"), &*page_path);
        let at = At::Project(&project, Tab::Wallets);
        return Ok(confirm(
            &request,
            at,
            &fields,
            paths,
            "Delete this note?",
            &facts,
        ));
    }
    let removed = app.wallet_notes.remove(key, at).await;
    if !removed.map_err(refused)? {
        return Ok(request.done_before(&path(&project, key)));
    }
    let what = format!("Deleted a note about {}", view.id);
    Ok(request.done(&path(&project, key), "deleted", what))
}

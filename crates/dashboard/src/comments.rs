//! Operators' notes about a wallet, for each other.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::id::WalletKey;
use identity::Privilege;
use maud::{Markup, html};
use operations::wallet_notes::Comment;
use operator::{AddNote, DeleteNote};
use wire::Error;

use super::{
    confirm::ActionForm,
    form::{self, FieldLabel, Form},
    layout::{self, Tab},
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{head, path, wallet},
};
use crate::state::App;

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
    posted: FormPost<AddNote>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let text = fields.text("text").to_owned();
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    let added = form
        .run(AddNote { wallet, text }, &path(&project, wallet), "saved")
        .await;
    let error = match added {
        Ok(added) => return Ok(added),
        Err(error) => error,
    };
    // The wallet exists and is of this project.
    let address = actors::Address::Stored(wallet);
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let form = Form::new(&fields, Some(&error));
    let body =
        html! { (head(&project, &view, "Notes")) (card(&request, &project, wallet, &[], form)) };
    Ok(form.response(Tab::Wallets.page(&request, &project, "Notes", &body)))
}

/// `POST …/wallets/{wallet}/notes/delete`: removes a comment.
pub(super) async fn delete(
    State(app): State<App>,
    posted: FormPost<DeleteNote>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let at = fields.parsed("at", "an instant")?;
    let at = at.ok_or_else(|| Error::missing("at"))?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    let back = path(&project, wallet);
    form.run(DeleteNote { wallet, at }, &back, "deleted").await
}

//! Who a user is at the identity provider: an owner binds and unbinds them.

use axum::{extract::State, response::Response};
use edge::{Own, refused};
use identity::{BoundIdentity, User, UserChange};
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    confirm::confirm,
    fields::CONFIRMED,
    form,
    layout::At,
    page_request::{FormPost, PageRequest},
    people_page::{named, path},
    verbatim::verbatim,
};
use crate::state::App;

/// The card on a user's page; nothing where no provider is set and nobody bound.
pub(super) fn card(request: &PageRequest, app: &App, user: &User) -> Markup {
    let oidc = app.oidc.as_ref().filter(|_| user.identity.is_none());
    let action = format!("{}/identity", path(user));
    html! { @if user.identity.is_some() || oidc.is_some() { section.card {
        h2 { "Identity provider" }
        @if let Some(bound) = &user.identity {
            p { "Signs in as subject " (verbatim(&bound.subject)) " of " (verbatim(&bound.issuer)) "." }
            form method="post" action=(action) {
                (form::token(request))
                button.danger type="submit" { "Unbind…" }
            }
        } @else if let Some(oidc) = oidc {
            p.hint { "The first sign-in by " (verbatim(&oidc.name())) " with the verified address " (verbatim(&user.email)) " binds this user. Or bind them by hand:" }
            form method="post" action=(action) {
                (form::token(request))
                div.field {
                    label for="subject" { "Subject at " (verbatim(oidc.issuer())) }
                    input #subject name="subject" type="text" required maxlength="255" autocomplete="off";
                }
                button type="submit" { "Bind…" }
            }
        }
    } } }
}

/// `POST /dashboard/people/{user}/identity`: binds a user to a subject, or unbinds them, once it was confirmed.
pub(super) async fn save(State(app): State<App>, posted: FormPost<Own>) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let user = named(&request, &app)?;
    let page_path = path(&user);
    let identity = match fields.some("subject") {
        None => None,
        Some(subject) => {
            let oidc = app.oidc.as_ref();
            let oidc = oidc.ok_or_else(|| Error::new(ErrorCode::RouteNotFound))?;
            Some(BoundIdentity {
                issuer: oidc.issuer().to_owned(),
                subject: subject.to_owned(),
            })
        }
    };
    if identity == user.identity {
        return Ok(request.done_before(&page_path));
    }
    if !fields.is_on(CONFIRMED) {
        let (title, what) = match &identity {
            Some(_) => (
                "Bind this user?",
                "The person with this subject at the identity provider signs in as this user.",
            ),
            None => (
                "Unbind this user?",
                "Their subject no longer signs in. The next subject that signs in with their verified address is bound. Sessions continue.",
            ),
        };
        let facts = html! { dl {
            div { dt { "User" } dd { (verbatim(&user.name)) ", " (verbatim(&user.email)) } }
            @if let Some(identity) = &identity { div { dt { "Subject" } dd { (verbatim(&identity.subject)) } } }
            div { dt { "What it does" } dd { (what) } }
        } };
        let paths = (&*format!("{page_path}/identity"), &*page_path);
        return Ok(confirm(&request, At::People, &fields, paths, title, &facts));
    }
    let who = format!("{} ({})", user.name, user.id);
    let did = match &identity {
        Some(it) => format!(
            "Bound user {who} to subject {} of {}",
            it.subject, it.issuer
        ),
        None => format!("Unbound user {who} from the identity provider"),
    };
    let change = UserChange {
        identity: Some(identity),
        ..UserChange::default()
    };
    let changed = app.edge.people.change(user.id, change, None).await;
    changed.map_err(refused)?;
    Ok(request.done(&page_path, "saved", did))
}

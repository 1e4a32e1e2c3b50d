//! A project's API keys: lists, creates and revokes them. A new secret key is shown once.

use axum::{extract::State, response::Response};
use domain::{
    catalog::{ApiKey, KeyKind},
    id::KeyId,
};
use edge::Manage;
use maud::{Markup, html};
use people::{NewKey, Privilege};
use wire::{Error, ErrorCode};

use super::{
    confirm::confirm,
    fields::CONFIRMED,
    form,
    layout::{self, At, Tab, base},
    page_request::{FormPost, PageRequest},
};
use crate::state::App;

/// `GET …/keys`: the keys, and new ones to be copied.
pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let new = app
        .edge
        .people
        .sessions
        .take_keys(&request.signed, project.project.id);
    let page_path = format!("{}/keys", base(&project));
    let may = request.may(Privilege::Manage);
    let body = html! {
        h1 { "Keys" }
        (copy_now(&new, "A secret key is shown only this once."))
        div.scroll tabindex="0" role="region" aria-label="Keys" { table {
            thead { tr { th { "Kind" } th { "Key" } th { "Created" } th { "State" } th { span.hidden { "Revoke" } } } }
            tbody { @for key in project.keys() { tr {
                td { @if key.kind == KeyKind::Secret { "Secret" } @else { "Publishable" } }
                td { code { @match &key.public { Some(key) => (key), None => (key.id) } } }
                td.time { (layout::when(key.created_at)) }
                td { @match key.revoked_at {
                    Some(_) => span.badge { "Revoked" },
                    None => span.badge.good { "Active" },
                } }
                td { @if key.revoked_at.is_none() && may {
                    form method="post" action={ (page_path) "/" (key.id) "/revoke" } {
                        (form::token(&request))
                        button.danger.small type="submit" { "Revoke…" }
                    }
                } }
            } } }
        } }
        @if may { section.card {
            h2 { "New key" }
            p { "A publishable key may be used in a browser: it can read the catalog and use wallets by their recovery codes. A secret key belongs only on your server." }
            form.row method="post" action=(page_path) {
                (form::token(&request))
                button name="kind" value="publishable" type="submit" { "Create a publishable key" }
                button name="kind" value="secret" type="submit" { "Create a secret key" }
            }
        } }
    };
    Ok(Tab::Keys.page(&request, &project, "Keys", &body))
}

/// The card with keys that were just made, if there are any.
pub(super) fn copy_now(new: &[NewKey], hint: &str) -> Markup {
    html! {
        @if !new.is_empty() {
            section.card.shown {
                h2 { "Copy now" }
                p { (hint) }
                dl { @for key in new { div { dt { (key.label) } dd { code.key { (key.plain) } } } } }
            }
        }
    }
}

/// `POST …/keys`: creates a key.
pub(super) async fn create(
    State(app): State<App>,
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let kind: KeyKind = fields.choice("kind")?;
    let name = match kind {
        KeyKind::Secret => "Secret key",
        KeyKind::Publishable => "Publishable key",
    };
    let minted = app.catalog.create_key(project.project.id, kind).await?;
    let what = format!(
        "Created {} {} of {}",
        name.to_lowercase(),
        minted.key.id,
        project.project.id
    );
    let new = NewKey {
        project: project.project.id,
        label: name,
        plain: minted.plain,
    };
    app.edge
        .people
        .sessions
        .keep_keys(&request.signed, vec![new]);
    let page_path = format!("{}/keys", base(&project));
    Ok(request.done(&page_path, "made", what))
}

/// Which key is revoked, and what that does.
fn revocation(key: &ApiKey) -> Markup {
    html! { dl {
        div { dt { "Key" } dd { code { @match &key.public { Some(public) => (public), None => (key.id) } } } }
        div { dt { "Created" } dd { (layout::when(key.created_at)) } }
        div { dt { "What stops" } dd { "Requests with it are refused from now on. This cannot be undone." } }
    } }
}

/// `POST …/keys/{key}/revoke`: revokes a key.
pub(super) async fn revoke(
    State(app): State<App>,
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key: KeyId = request.named("key", ErrorCode::KeyNotFound)?;
    if !fields.is_on(CONFIRMED) {
        let known = project.keys().find(|known| known.id == key);
        let known = known.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))?;
        let page_path = format!("{}/keys", base(&project));
        let paths = (&*format!("{page_path}/{key}/revoke"), &*page_path);
        let at = At::Project(&project, Tab::Keys);
        let title = "Revoke this key?";
        return Ok(confirm(
            &request,
            at,
            &fields,
            paths,
            title,
            &revocation(known),
        ));
    }
    let key = app.catalog.revoke_key(project.project.id, key).await?;
    let what = format!("Revoked key {} of {}", key.id, project.project.id);
    let page_path = format!("{}/keys", base(&project));
    Ok(request.done(&page_path, "revoked", what))
}

//! A project's keys: made, shown once, revoked.

use axum::{extract::State, response::Response};
use domain::catalog::KeyKind;
use maud::html;

use super::{
    audit::deed,
    form,
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    http::{Code, Error},
    state::App,
};

/// `GET …/keys`
pub(super) async fn list(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let new = app.dashboard.take_keys(&visit.signed);
    let here = format!("{}/keys", base(&project));
    let body = html! {
        h1 { "Keys" }
        @if !new.is_empty() {
            section.card.shown {
                h2 { "Copy now" }
                p { "A secret key is shown only this once." }
                dl { @for (name, key) in &new { div { dt { (name) } dd { code.key { (key) } } } } }
            }
        }
        div.scroll tabindex="0" role="region" aria-label="Keys" { table {
            thead { tr { th { "Kind" } th { "Key" } th { "Made" } th { "State" } th { span.hidden { "Revoke" } } } }
            tbody { @for key in project.keys() { tr {
                td { @if key.kind == KeyKind::Secret { "Secret" } @else { "Publishable" } }
                td { code { @match &key.public { Some(key) => (key), None => (key.id) } } }
                td.time { (shell::when(key.created_at)) }
                td { @match key.revoked_at {
                    Some(_) => span.badge { "Revoked" },
                    None => span.badge.good { "Works" },
                } }
                td { @if key.revoked_at.is_none() {
                    details {
                        summary { "Revoke…" }
                        form method="post" action={ (here) "/" (key.id) "/revoke" } {
                            (form::token(&visit))
                            p { "Whoever uses it is refused from now on, for good." }
                            button.danger type="submit" { "Revoke this key" }
                        }
                    }
                } }
            } } }
        } }
        section.card {
            h2 { "New key" }
            p { "A publishable key may be in a browser: it reads the catalog and uses wallets by their recovery codes. A secret key belongs on your server alone." }
            form.row method="post" action=(here) {
                (form::token(&visit))
                button name="kind" value="publishable" type="submit" { "Make a publishable key" }
                button name="kind" value="secret" type="submit" { "Make a secret key" }
            }
        }
    };
    Ok(shell::page(
        &visit,
        At::Project(&project, Tab::Keys),
        "Keys",
        &body,
    ))
}

/// `POST …/keys`
pub(super) async fn create(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let (kind, name) = match fields.text("kind") {
        "secret" => (KeyKind::Secret, "Secret key"),
        "publishable" => (KeyKind::Publishable, "Publishable key"),
        _ => return Err(Error::missing("kind")),
    };
    let minted = app.catalog.create_key(project.project.id, kind).await?;
    let what = format!(
        "Made {} {} of {}",
        name.to_lowercase(),
        minted.key.id,
        project.project.id
    );
    app.dashboard
        .keep_keys(&visit.signed, vec![(name, minted.plain)]);
    let response = shell::done(&format!("{}/keys", base(&project)), "made");
    Ok(deed(response, &visit.signed, what))
}

/// `POST …/keys/{key}/revoke`
pub(super) async fn revoke(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let visit = posted.visit;
    let project = visit.project(&app)?;
    let key = visit.named("key", Code::KeyNotFound)?;
    let key = app.catalog.revoke_key(project.project.id, key).await?;
    let what = format!("Revoked key {} of {}", key.id, project.project.id);
    let response = shell::done(&format!("{}/keys", base(&project)), "revoked");
    Ok(deed(response, &visit.signed, what))
}

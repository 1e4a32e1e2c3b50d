//! A project's API keys: lists, creates, changes and revokes them. A new secret key is shown once.

use axum::{extract::State, response::Response};
use catalog::{KeyChange, MintedKey, NewKey, ProjectCatalog};
use domain::{
    Timestamp,
    catalog::{ApiKey, KeyKind},
};
use edge::Manage;
use identity::{NewKey as ShownKey, Privilege};
use maud::{Markup, html};
use operator::{CreateKey, RevokeKey, UpdateKey};
use wire::{Error, ErrorCode, view::Day};

use super::{
    approval_request::notice,
    confirm::ActionForm,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, Tab, base},
    page_request::{FormPost, PageFor, PageRequest},
    time_zone,
    verbatim::verbatim,
};
use crate::state::App;

/// `GET …/keys`: the keys, and new ones to be copied.
pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let form = Fields::default();
    Ok(page(&app, &request, &project, Form::new(&form, None)))
}

fn page(app: &App, request: &PageRequest, project: &ProjectCatalog, form: Form<'_>) -> Response {
    let sessions = &app.edge.people.sessions;
    let new = sessions.take_keys(&request.signed, project.project.id);
    let page_path = path(project);
    let may = request.may(Privilege::Manage);
    let now = app.edge.clock.now();
    let body = html! {
        h1 { "Keys" }
        (copy_now(&new, "A secret key is shown only this once."))
        @if !project.has_provider() {
            p.note { "Nothing can be sold yet. " a href=(base(project)) { "See the steps to the first sale" } }
        }
        div.scroll tabindex="0" role="region" aria-label="Keys" { table {
            thead { tr { th { "Name" } th { "Key" } th { "Last used" } th { "Created" } th { "State" } th { span.hidden { "Change" } } } }
            tbody { @for key in project.keys() { tr {
                td.break { @match &key.name { Some(name) => (verbatim(name)), None => span.hint { "No name" } } br; code.small { (key.id) } }
                td.break { @if key.kind == KeyKind::Secret { "Secret" } @else { "Publishable" } br; code { @match &key.public { Some(key) => (key), None => { (key.first) "…" (key.last) } } } }
                td.time { @match project.key_last_used(&key.id) { Some(day) => (Day(day)), None => "Never" } }
                td.time { (layout::when(key.created_at)) }
                td { (state(key, now)) }
                td { @if key.revoked_at.is_none() && may {
                    form.row.nowrap method="post" action={ (page_path) "/" (key.id) "/revoke" } {
                        (form::token(request))
                        a.button.small href={ (page_path) "/" (key.id) } { "Change" }
                        button.danger.small type="submit" { "Revoke…" }
                    }
                } }
            } } }
        } }
        p.hint { "The last use is a UTC day." }
        @if may { section.card {
            h2 { "New key" }
            p { "A publishable key may be used in a browser: it can read the catalog and use wallets by their recovery codes. A secret key belongs only on your server." }
            (form.alert(&["name", "expiresAt"]))
            (notice(request, project, "Secret keys"))
            form method="post" action=(page_path) {
                (form::token(request))
                (inputs(&form))
                div.row {
                    button name="kind" value="publishable" type="submit" { "Create a publishable key" }
                    button name="kind" value="secret" type="submit" { "Create a secret key" }
                }
            }
        } }
    };
    form.response(Tab::Keys.page(request, project, "Keys", &body))
}

fn path(project: &ProjectCatalog) -> String {
    format!("{}/keys", base(project))
}

fn inputs(form: &Form<'_>) -> Markup {
    html! {
        (form.text(&FieldLabel("name", "Name", "What uses it, such as “Web server”. May be empty.")))
        (form.day(&FieldLabel("expiresAt", "Last day", "In your time zone. Empty: it works until it is revoked.")))
    }
}

fn state(key: &ApiKey, now: Timestamp) -> Markup {
    html! {
        @match (key.revoked_at, key.expires_at) {
            (Some(_), _) => span.badge { "Revoked" },
            (None, Some(end)) if end <= now => { span.badge { "Expired" } br; span.small { (layout::when(end)) } }
            (None, Some(end)) => { span.badge.good { "Active" } br; span.small { "until " (layout::when(end)) } }
            (None, None) => span.badge.good { "Active" },
        }
    }
}

pub(super) fn copy_now(new: &[ShownKey], hint: &str) -> Markup {
    html! {
        @if !new.is_empty() {
            section.card.shown {
                h2 { "Copy now" }
                p { (hint) }
                dl { @for key in new { div { dt { (key.label) } dd { (layout::copyable(&key.plain)) } } } }
            }
        }
    }
}

/// `POST …/keys`: creates a key.
pub(super) async fn create(
    State(app): State<App>,
    posted: FormPost<CreateKey>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Keys);
    let made = async {
        let page = |minted, _| hand_out(&app, &request, &project, minted);
        form.answer(CreateKey(new(&fields)?), &path(&project), page)
            .await
    };
    Ok(made.await.unwrap_or_else(|error| {
        let form = Form::new(&fields, Some(&error));
        page(&app, &request, &project, form)
    }))
}

/// Leads to the page that shows a new key once.
pub(super) fn hand_out(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    minted: MintedKey,
) -> Response {
    let label = match minted.key.kind {
        KeyKind::Secret => "Secret key",
        KeyKind::Publishable => "Publishable key",
    };
    let new = ShownKey {
        project: project.project.id,
        label,
        plain: minted.plain,
    };
    let sessions = &app.edge.people.sessions;
    sessions.keep_keys(&request.signed, vec![new]);
    layout::done(&path(project), "created")
}

fn new(fields: &Fields) -> Result<NewKey, Error> {
    Ok(NewKey {
        kind: fields.choice("kind")?,
        name: fields.owned("name"),
        expires_at: fields.day_end("expiresAt")?,
    })
}

/// `GET …/keys/{key}`: the form to change a key.
pub(super) async fn edit(page: PageFor<Manage>, State(app): State<App>) -> Result<Response, Error> {
    let request = page.request;
    let project = request.project(&app)?;
    let key = named(&request, &project)?;
    let fields = stored(key);
    Ok(edit_page(&request, &project, key, Form::new(&fields, None)))
}

fn edit_page(
    request: &PageRequest,
    project: &ProjectCatalog,
    key: &ApiKey,
    form: Form<'_>,
) -> Response {
    let body = html! {
        h1 { "Key " code { (key.first) "…" (key.last) } }
        section.card {
            (form.alert(&["name", "expiresAt"]))
            @if form.error.is_some_and(|error| error.code() == ErrorCode::ChangedMeanwhile) {
                (form::conflict(form.fields, &stored(key)))
            }
            form method="post" action={ (path(project)) "/" (key.id) } {
                (form::token(request))
                (form::version(&stored(key)))
                (inputs(&form))
                button.primary type="submit" { "Save" }
            }
        }
        p { a href=(path(project)) { "All keys" } }
    };
    form.response(Tab::Keys.page(request, project, "Key", &body))
}

/// `POST …/keys/{key}`: changes a key.
pub(super) async fn update(
    State(app): State<App>,
    posted: FormPost<UpdateKey>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let _saving = app.edge.saving.lock().await;
    let project = request.project(&app)?;
    let key = named(&request, &project)?;
    let before = stored(key);
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Keys);
    let changed = async {
        let update = UpdateKey(key.id, change(&before, &fields)?);
        form.run(update, &path(&project), "saved").await
    };
    Ok(changed.await.unwrap_or_else(|error| {
        let form = Form::new(&fields, Some(&error));
        edit_page(&request, &project, key, form)
    }))
}

fn change(stored: &Fields, sent: &Fields) -> Result<KeyChange, Error> {
    form::refuse_stale(sent, stored)?;
    // An end within a day, which only the API sets, stays as long as its day does.
    let same = sent.text("expiresAt") == stored.text("expiresAt");
    Ok(KeyChange {
        name: Some(sent.owned("name")),
        expires_at: match same {
            true => None,
            false => Some(sent.day_end("expiresAt")?),
        },
    })
}

fn stored(key: &ApiKey) -> Fields {
    written(key.name.as_deref(), key.expires_at)
}

pub(super) fn written(name: Option<&str>, expires_at: Option<Timestamp>) -> Fields {
    let last = |end: Timestamp| time_zone::day(Timestamp(end.0.saturating_sub(1)));
    Fields::default()
        .with_some("name", name)
        .with_some("expiresAt", expires_at.and_then(last))
}

fn named<'p>(request: &PageRequest, project: &'p ProjectCatalog) -> Result<&'p ApiKey, Error> {
    let key = project.key(&request.named("key", ErrorCode::KeyNotFound)?);
    key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))
}

/// `POST …/keys/{key}/revoke`: revokes a key.
pub(super) async fn revoke(
    State(app): State<App>,
    posted: FormPost<RevokeKey>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = request.named("key", ErrorCode::KeyNotFound)?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Keys);
    form.run(RevokeKey(key), &path(&project), "revoked").await
}

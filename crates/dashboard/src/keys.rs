//! A project's API keys: lists, creates, changes and revokes them. A new secret key is shown once.

use axum::{extract::State, response::Response};
use catalog::{KeyChange, MintedKey, NewKey, ProjectCatalog};
use domain::{
    Timestamp,
    catalog::{ApiKey, KeyKind},
};
use edge::Manage;
use identity::{CatalogChange, NewKey as ShownKey, Privilege};
use maud::{Markup, html};
use wire::{Error, ErrorCode, view::Day};

use super::{
    approval_request::{ask_for_change, guards_changes, key_terms, notice},
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab, base},
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
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let id = project.project.id;
    let made: Result<Response, Error> = async {
        let new = new(&fields)?;
        if new.kind == KeyKind::Secret && guards_changes(&request, &project) {
            app.catalog.draft().create_key(id, new.clone()).await?;
            let what = match &new.name {
                Some(name) => format!("create a secret key “{name}”"),
                None => "create a secret key".into(),
            };
            let change = CatalogChange::NewKey(new);
            return ask_for_change(&app, &request, &project, change, what).await;
        }
        let minted = app.catalog.create_key(id, new).await?;
        Ok(hand_out(&app, &request, &project, minted, ""))
    }
    .await;
    Ok(made.unwrap_or_else(|error| {
        let form = Form::new(&fields, Some(&error));
        page(&app, &request, &project, form)
    }))
}

/// Leads to the page that shows a new key once; `why` ends the audit log's sentence.
pub(super) fn hand_out(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    minted: MintedKey,
    why: &str,
) -> Response {
    let id = project.project.id;
    let label = match minted.key.kind {
        KeyKind::Secret => "Secret key",
        KeyKind::Publishable => "Publishable key",
    };
    let (kind, title) = (label.to_lowercase(), minted.key.title());
    let what = format!("Created {kind} {title} of {id}{why}");
    let new = ShownKey {
        project: id,
        label,
        plain: minted.plain,
    };
    let sessions = &app.edge.people.sessions;
    sessions.keep_keys(&request.signed, vec![new]);
    request.done(&path(project), "created", what)
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
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let _saving = app.edge.saving.lock().await;
    let project = request.project(&app)?;
    let key = named(&request, &project)?;
    let before = stored(key);
    let id = project.project.id;
    let changed: Result<Response, Error> = async {
        let change = change(&before, &fields)?;
        let draft = app.catalog.draft();
        let drafted = draft.update_key(id, key.id, change.clone()).await?;
        // A secret key that works for longer is as good as a new one.
        let end = |key: &ApiKey| key.expires_at.unwrap_or(Timestamp::NEVER);
        let is_longer = key.kind == KeyKind::Secret && end(&drafted) > end(key);
        if is_longer && guards_changes(&request, &project) {
            let changes = form::changes(&before, &stored(&drafted));
            let what = format!("change secret key {}: {changes}", key.title());
            let change = CatalogChange::Key {
                key: key.id,
                before: key_terms(key),
                after: key_terms(&drafted),
            };
            return ask_for_change(&app, &request, &project, change, what).await;
        }
        let after = app.catalog.update_key(id, key.id, change).await?;
        let changes = form::changes(&before, &stored(&after));
        let what = format!("Changed key {}: {changes}", after.title());
        let is_done = changes != form::NOTHING;
        Ok(request.done_if(is_done, &path(&project), "saved", what))
    }
    .await;
    Ok(changed.unwrap_or_else(|error| {
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

fn revocation(project: &ProjectCatalog, key: &ApiKey) -> Markup {
    html! { dl {
        @if let Some(name) = &key.name { div { dt { "Name" } dd { (verbatim(name)) } } }
        div { dt { "Key" } dd { code { (key.first) "…" (key.last) } } }
        div { dt { "Created" } dd { (layout::when(key.created_at)) } }
        div { dt { "Last used" } dd { @match project.key_last_used(&key.id) { Some(day) => { (Day(day)) " (UTC)" }, None => "Never" } } }
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
    let key = named(&request, &project)?;
    if key.revoked_at.is_some() {
        return Ok(request.done_before(&path(&project)));
    }
    if !fields.is_on(CONFIRMED) {
        let page_path = path(&project);
        let paths = (&*format!("{page_path}/{}/revoke", key.id), &*page_path);
        let at = At::Project(&project, Tab::Keys);
        let (title, what) = ("Revoke this key?", revocation(&project, key));
        return Ok(confirm(&request, at, &fields, paths, title, &what));
    }
    let key = app.catalog.revoke_key(project.project.id, key.id).await?;
    let what = format!("Revoked key {} of {}", key.title(), project.project.id);
    Ok(request.done(&path(&project), "revoked", what))
}

//! A project's API keys: lists, creates, changes and revokes them. A new secret key is shown once.

use catalog::{KeyChange, MintedKey, NewKey};
use domain::catalog::{Ability, ApiKey, KeyKind};
use edge::Manage;
use identity::NewKey as ShownKey;
use operator::{CreateKey, RevokeKey, UpdateKey};
use wire::view::Day;

use super::{prelude::*, time_zone};

pub(super) async fn list(request: PageRequest) -> PageResult {
    let form = Fields::default();
    Ok(page(&request, Form::new(&form, None)))
}

fn page(request: &PageRequest, form: Form<'_>) -> Response {
    let sessions = &request.app.edge.people.sessions;
    let new = sessions.take_keys(&request.signed, request.project.project.id);
    let page_path = path(&request.project);
    let may = request.may(Privilege::Manage);
    let now = request.app.edge.clock.now();
    let abilities = Ability::ALL.map(|(_, name, opens)| (name, format!("{name}: {opens}")));
    let body = html! {
        h1 { "Keys" }
        (copy_now(&new, "A secret key is shown only this once."))
        @if !request.project.has_provider() {
            p.note { "Nothing can be sold yet. " a href=(base(&request.project)) { "See the steps to the first sale" } }
        }
        (table("Keys", &["Name", "Key", "Last used", "Created", "State", "~Change"], &html! { @for key in request.project.keys() { tr {
            td.break { @match &key.name { Some(name) => (verbatim(name)), None => span.hint { "No name" } } br; code.small { (key.id) } }
            td.break { (kind(key.kind)) br; @for ability in &key.can { span.badge { (ability.as_str()) } " " } @if !key.can.is_empty() { br; } code { @match &key.public { Some(key) => (key), None => { (key.first) "…" (key.last) } } } }
            td.time { @match request.project.key_last_used(&key.id) { Some(day) => (Day(day)), None => "Never" } }
            td.time { (layout::when(key.created_at)) }
            td { (state(key, now)) }
            td { @if key.revoked_at.is_none() && may {
                form.row.nowrap method="post" action={ (page_path) "/" (key.id) "/revoke" } {
                    (form::token(request))
                    a.button.small href={ (page_path) "/" (key.id) } { "Change" }
                    button.danger.small type="submit" { "Revoke…" }
                }
            } }
        } } }))
        p.hint { "The last use is a UTC day." }
        @if may { section.card {
            h2 { "New key" }
            p { "A publishable key may be used in a browser: it can read the catalog and use wallets by their recovery codes. A secret key belongs only on your server. A restricted key belongs there too, and does only what you tick." }
            (form.alert(&["name", "expiresAt", "can"]))
            (form::approval_notice(request, &request.project, "Keys for servers"))
            form method="post" action=(page_path) {
                (form::token(request))
                (inputs(&form))
                (form.ticks(&FieldLabel("can", "What a restricted key can do", "At least one. The other kinds do all that theirs may."), &abilities))
                div.row {
                    button name="kind" value="publishable" type="submit" { "Create a publishable key" }
                    button name="kind" value="secret" type="submit" { "Create a secret key" }
                    button name="kind" value="restricted" type="submit" { "Create a restricted key" }
                }
            }
        } }
    };
    form.response(request.show("Keys", &body))
}

fn kind(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Publishable => "Publishable key",
        KeyKind::Secret => "Secret key",
        KeyKind::Restricted => "Restricted key",
    }
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

pub(super) async fn create(request: FormPost<CreateKey>) -> PageResult {
    let made = async {
        let page = |minted, _| hand_out(&request, minted);
        request
            .answer(
                CreateKey(new(&request.fields)?),
                &path(&request.project),
                page,
            )
            .await
    };
    Ok(made.await.unwrap_or_else(|error| {
        let form = Form::new(&request.fields, Some(&error));
        page(&request, form)
    }))
}

/// Leads to the page that shows a new key once.
pub(super) fn hand_out(request: &PageRequest, minted: MintedKey) -> Response {
    let label = kind(minted.stored.kind);
    let project = request.project.project.id;
    request.keep(&request.app, project, [(label, minted.plain)]);
    layout::done(&path(&request.project), "created")
}

fn new(fields: &Fields) -> Result<NewKey, Error> {
    let kind = fields.choice("kind")?;
    // The boxes are in the same form as the buttons of the other kinds.
    let is_ticked = |name| kind == KeyKind::Restricted && fields.all("can").any(|it| it == name);
    let can = Ability::ALL.into_iter();
    let can = can.filter(|(_, name, _)| is_ticked(*name));
    Ok(NewKey {
        kind,
        can: can.map(|(ability, ..)| ability).collect(),
        name: fields.owned("name"),
        expires_at: fields.day_end("expiresAt")?,
    })
}

pub(super) async fn edit(request: PageFor<Manage>) -> PageResult {
    let key = named(&request)?;
    let fields = stored(key);
    Ok(edit_page(&request, key, Form::new(&fields, None)))
}

fn edit_page(request: &PageRequest, key: &ApiKey, form: Form<'_>) -> Response {
    let body = html! {
        h1 { "Key " code { (key.first) "…" (key.last) } }
        section.card {
            (form.alert(&["name", "expiresAt"]))
            (form::conflict_of(form, &stored(key)))
            form method="post" action={ (path(&request.project)) "/" (key.id) } {
                (form::token(request))
                (form::version(&stored(key)))
                (inputs(&form))
                button.primary type="submit" { "Save" }
            }
        }
        p { a href=(path(&request.project)) { "All keys" } }
    };
    form.response(request.show("Key", &body))
}

pub(super) async fn update(mut request: FormPost<UpdateKey>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let key = named(&request)?;
    let before = stored(key);
    let changed = async {
        let update = UpdateKey(key.id, change(&before, &request.fields)?);
        request.run(update, &path(&request.project), "saved").await
    };
    Ok(changed.await.unwrap_or_else(|error| {
        let form = Form::new(&request.fields, Some(&error));
        edit_page(&request, key, form)
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
    let last = |end: Timestamp| time_zone::day(Timestamp(end.0.saturating_sub(1)));
    Fields::default()
        .with_some("name", key.name.as_deref())
        .with_some("expiresAt", key.expires_at.and_then(last))
}

fn named(request: &PageRequest) -> Result<&ApiKey, Error> {
    let key = request
        .project
        .key(&request.named("key", ErrorCode::KeyNotFound)?);
    key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))
}

pub(super) async fn revoke(mut request: FormPost<RevokeKey>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let key = request.named("key", ErrorCode::KeyNotFound)?;
    request
        .run(RevokeKey(key), &path(&request.project), "revoked")
        .await
}

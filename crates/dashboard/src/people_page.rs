//! `/dashboard/people`: an owner invites users, changes what they may do, and ends their sessions.

use std::{collections::BTreeMap, sync::Arc};

use axum::{extract::State, response::Response};
use domain::id::{ProjectId, SessionId, UserId};
use edge::{Own, refused};
use identity::{NewUser, ProjectScope, Role, User, UserChange, UserState};
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    account::{ending, session_facts, session_table},
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    form::{self, FieldLabel, Form},
    layout::{self, At},
    page_request::{FormPost, PageFor, PageRequest},
    people_identity, projects,
    verbatim::verbatim,
};
use crate::state::App;

const PEOPLE: &str = "/dashboard/people";
const VERSION: &str = "version";
const FIELDS: [&str; 6] = [
    "name",
    "email",
    "role",
    "projects",
    "grantLimitPerDay",
    "refundLimitCentsPerDay",
];
const ROLES: [(&str, &str); 4] = [
    ("viewer", "Viewer: reads, but no codes and no secrets"),
    (
        "support",
        "Support: helps customers, grants, refunds, replaces codes",
    ),
    (
        "operator",
        "Operator: also catalog, keys, webhooks and settings",
    ),
    ("owner", "Owner: everything, in all projects"),
];

pub(super) fn path(user: &User) -> String {
    format!("{PEOPLE}/{}", user.id)
}

/// `GET /dashboard/people`: all users.
pub(super) async fn list(page: PageFor<Own>, State(app): State<App>) -> Response {
    let fields = Fields::default().with("role", "support");
    all(&page.request, &app, Form::new(&fields, None)).await
}

async fn all(request: &PageRequest, app: &App, form: Form<'_>) -> Response {
    let (users, choices) = (app.edge.people.users(), choices(request, app, form).await);
    let body = html! {
        h1 { "People" }
        @if users.is_empty() { p.empty { "Nobody has an account of their own yet: everybody signs in with the administrator's token. Invite an owner first." } } @else {
            div.scroll tabindex="0" role="region" aria-label="People" { table {
                thead { tr { th { "Name" } th { "E-mail" } th { "Role" } th { "Projects" } th { "State" } } }
                tbody { @for user in &users { tr {
                    td { a href=(path(user)) { (verbatim(&user.name)) } }
                    td { (verbatim(&user.email)) }
                    td { (user.role.name()) }
                    td { @match &user.projects { ProjectScope::All => "All", ProjectScope::Some(some) => (some.len()) } }
                    td { (state(user)) }
                } } }
            } }
        }
        section.card {
            h2 { "Invite somebody" }
            (form.alert(&FIELDS))
            form method="post" action=(PEOPLE) {
                (form::token(request))
                (inputs(form, &choices))
                button.primary type="submit" { "Invite" }
            }
        }
    };
    form.response(layout::page(request, At::People, "People", &body))
}

fn state(user: &User) -> Markup {
    html! { @match user.state() {
        UserState::Invited => span.badge.wait { "Invited" },
        UserState::Active => span.badge.good { "Active" },
        UserState::Disabled => span.badge.bad { "Disabled" },
    } }
}

/// The projects of all cells, and any others that the form names, as value and text.
async fn choices(request: &PageRequest, app: &App, form: Form<'_>) -> Vec<(String, String)> {
    let (lines, _) = projects::all_lines(app, request.client()).await;
    let known = lines.into_iter().map(|it| (it.id.to_string(), it.name));
    let mut all: BTreeMap<String, String> = known.collect();
    for id in named_projects(form.fields) {
        all.entry(id.clone()).or_insert(id);
    }
    all.into_iter().collect()
}

fn inputs(form: Form<'_>, choices: &[(String, String)]) -> Markup {
    html! {
        (form.text(&FieldLabel("name", "Name", "")))
        (form.text(&FieldLabel("email", "E-mail address", "They sign in with it.")))
        (form.choice(&FieldLabel("role", "Role", ""), &ROLES))
        (form.ticks(&FieldLabel("projects", "Projects", "None ticked: all. They do not see any others."), choices))
        (form.number(&FieldLabel("grantLimitPerDay", "Credits that they may grant in a day", "UTC. Empty: no limit.")))
        (form.number(&FieldLabel("refundLimitCentsPerDay", "Cents that they may refund in a day", "UTC, in the currency's smallest unit. Empty: no limit.")))
    }
}

fn role(fields: &Fields) -> Result<Role, Error> {
    fields.choice("role")
}

fn named_projects(fields: &Fields) -> Vec<String> {
    let all = fields.all("projects").flat_map(str::split_whitespace);
    all.map(ToOwned::to_owned).collect()
}

fn scope(fields: &Fields) -> Result<Option<Vec<ProjectId>>, Error> {
    let named = named_projects(fields);
    let read = named.iter().map(|id| {
        id.parse()
            .map_err(|_| Error::invalid("projects", "These must be projects' identifiers, proj_…."))
    });
    let read: Vec<_> = read.collect::<Result<_, _>>()?;
    Ok((!read.is_empty()).then_some(read))
}

fn current(user: &User) -> Fields {
    let projects = match &user.projects {
        ProjectScope::All => Vec::new(),
        ProjectScope::Some(some) => some.iter().collect(),
    };
    let fields = Fields::default()
        .with("name", &user.name)
        .with("email", &user.email)
        .with("role", user.role.name());
    let fields = projects
        .iter()
        .fold(fields, |fields, id| fields.with("projects", id));
    fields
        .with_some("grantLimitPerDay", user.grant_limit_per_day)
        .with_some("refundLimitCentsPerDay", user.refund_limit_cents_per_day)
}

/// `POST /dashboard/people`: invites a user, and shows the link once.
pub(super) async fn invite(
    State(app): State<App>,
    posted: FormPost<Own>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let invited = async {
        let new = NewUser {
            name: fields.text("name").to_owned(),
            email: fields.text("email").to_owned(),
            role: role(&fields)?,
            projects: scope(&fields)?,
            grant_limit_per_day: fields.whole("grantLimitPerDay")?,
            refund_limit_cents_per_day: fields.whole("refundLimitCentsPerDay")?,
        };
        let now = app.edge.clock.now();
        app.edge.people.invite(new, now).await.map_err(refused)
    };
    Ok(match invited.await {
        Ok(invited) => link(&request, &app, &invited),
        Err(error) => all(&request, &app, Form::new(&fields, Some(&error))).await,
    })
}

fn link(request: &PageRequest, app: &App, invited: &identity::Invited) -> Response {
    let (user, link) = (&invited.user, app.invitations.announce(invited));
    let body = html! {
        h1 { "Invited" }
        section.card.shown {
            h2 { "Copy now" }
            p { "Give this link to " (verbatim(&user.name)) ". It is valid for seven days and once, and shown only now. Where mail is set up, it is on its way to " (verbatim(&user.email)) ", too." }
            p { (layout::copyable(&link)) }
        }
        p { a href=(path(user)) { "Go on" } }
    };
    let what = format!(
        "Invited {} ({}) as {}",
        user.name,
        user.id,
        user.role.name()
    );
    request.audited(layout::page(request, At::People, "Invited", &body), what)
}

pub(super) fn named(request: &PageRequest, app: &App) -> Result<Arc<User>, Error> {
    let id: UserId = request.named("user", ErrorCode::UserNotFound)?;
    app.edge.people.user(id).map_err(refused)
}

/// `GET /dashboard/people/{user}`: a user and their sessions.
pub(super) async fn show(page: PageFor<Own>, State(app): State<App>) -> Result<Response, Error> {
    let user = named(&page.request, &app)?;
    Ok(one(&page.request, &app, &user, None).await)
}

async fn one(
    request: &PageRequest,
    app: &App,
    user: &User,
    refused: Option<(&Fields, &Error)>,
) -> Response {
    let stored = current(user);
    let form = Form::new(
        refused.map_or(&stored, |(fields, _)| fields),
        refused.map(|(_, error)| error),
    );
    let choices = choices(request, app, form).await;
    let sessions = app.edge.people.sessions.list(app.edge.clock.now());
    let sessions: Vec<_> = sessions
        .into_iter()
        .filter(|it| it.user == Some(user.id))
        .collect();
    let act = |action: &str, class: Option<&str>, label: &str| {
        html! { form method="post" action={ (path(user)) "/" (action) } {
            (form::token(request))
            button class=[class] type="submit" { (label) }
        } }
    };
    let body = html! {
        div.head { h1 { (verbatim(&user.name)) } (state(user)) }
        p.hint { code { (user.id) } }
        section.card {
            (form.alert(&FIELDS))
            @if let Some((sent, _)) = refused { (form::conflict(sent, &stored)) }
            form method="post" action=(path(user)) {
                (form::token(request))
                input type="hidden" name=(VERSION) value=(user.version);
                (inputs(form, &choices))
                button.primary type="submit" { "Save" }
            }
        }
        section.card {
            h2 { "Sessions" }
            (session_table(request, &sessions, &format!("{}/end", path(user))))
        }
        (people_identity::card(request, app, user))
        section.card {
            h2 { "Access" }
            div.row {
                (act("invitation", None, "New invitation"))
                @if user.disabled { (act("enable", None, "Restore access")) } @else { (act("disable", Some("danger"), "Remove access…")) }
            }
            p.hint { "A new invitation lets a user who lost their password or device set both again. Removing access ends the user's sessions immediately." }
            (act("remove", Some("danger"), "Remove this user…"))
        }
    };
    form.response(layout::page(request, At::People, &user.name, &body))
}

/// `POST /dashboard/people/{user}`: changes a user.
pub(super) async fn save(State(app): State<App>, posted: FormPost<Own>) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let user = named(&request, &app)?;
    let saved = async {
        let change = UserChange {
            name: Some(fields.text("name").to_owned()),
            email: Some(fields.text("email").to_owned()),
            role: Some(role(&fields)?),
            projects: Some(scope(&fields)?),
            grant_limit_per_day: Some(fields.whole("grantLimitPerDay")?),
            refund_limit_cents_per_day: Some(fields.whole("refundLimitCentsPerDay")?),
            ..UserChange::default()
        };
        let version = fields.parsed(VERSION, "a version")?;
        let changed = app.edge.people.change(user.id, change, version).await;
        changed.map_err(refused)
    };
    match saved.await {
        Ok(changed) => {
            let changes = form::changes(&current(&user), &current(&changed));
            let what = format!("Changed user {} ({}): {changes}", changed.name, changed.id);
            let is_done = changes != form::NOTHING;
            Ok(request.done_if(is_done, &path(&user), "saved", what))
        }
        Err(error) => {
            let user = named(&request, &app)?;
            Ok(one(&request, &app, &user, Some((&fields, &error))).await)
        }
    }
}

/// The question before an action that takes something away, and what that is.
fn before(
    app: &App,
    user: &User,
    action: &str,
    fields: &Fields,
) -> Result<Option<(&'static str, Markup)>, Error> {
    let who =
        html! { div { dt { "User" } dd { (verbatim(&user.name)) ", " (verbatim(&user.email)) } } };
    let facts = |what: &str| html! { dl { (who) div { dt { "What goes" } dd { (what) } } } };
    Ok(match action {
        "disable" => Some((
            "Remove this user's access?",
            facts(
                "Their sessions end immediately, and they cannot sign in until access is restored.",
            ),
        )),
        "remove" => Some((
            "Remove this user?",
            facts(
                "Their password, second factor and sessions. They can only come back by a new invitation. The audit log keeps their name.",
            ),
        )),
        "end" => {
            let sessions = app.edge.people.sessions.list(app.edge.clock.now());
            let mut sessions = sessions;
            sessions.retain(|it| it.user == Some(user.id));
            let facts = session_facts(&sessions, fields)?;
            Some((ending(fields), html! { dl { (who) } (facts) }))
        }
        _ => None,
    })
}

/// `POST /dashboard/people/{user}/{action}`: invites again, removes or restores access, removes, or ends sessions.
pub(super) async fn act(State(app): State<App>, posted: FormPost<Own>) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let user = named(&request, &app)?;
    let (people, now) = (&app.edge.people, app.edge.clock.now());
    let action: String = request.named("action", ErrorCode::RouteNotFound)?;
    let disabled = |disabled| UserChange {
        disabled: Some(disabled),
        ..UserChange::default()
    };
    let who = format!("{} ({})", user.name, user.id);
    if (&*action, user.disabled) == ("disable", true)
        || (&*action, user.disabled) == ("enable", false)
    {
        return Ok(request.done_before(&path(&user)));
    }
    if !fields.is_on(CONFIRMED)
        && let Some((title, facts)) = before(&app, &user, &action, &fields)?
    {
        let page_path = path(&user);
        let paths = (&*format!("{page_path}/{action}"), &*page_path);
        return Ok(confirm(&request, At::People, &fields, paths, title, &facts));
    }
    let (did, back) = match action.as_str() {
        "invitation" => {
            let invited = people.invite_again(user.id, now).await.map_err(refused)?;
            return Ok(link(&request, &app, &invited));
        }
        "disable" => {
            people
                .change(user.id, disabled(true), None)
                .await
                .map_err(refused)?;
            (format!("Removed the access of user {who}"), path(&user))
        }
        "enable" => {
            people
                .change(user.id, disabled(false), None)
                .await
                .map_err(refused)?;
            (format!("Restored the access of user {who}"), path(&user))
        }
        "remove" => {
            people.remove(user.id).await.map_err(refused)?;
            (format!("Removed user {who}"), PEOPLE.to_owned())
        }
        "end" => {
            let ends: Option<SessionId> = fields.parsed("session", "a session")?;
            let open = people.sessions.list(now).into_iter();
            let mut open = open.filter(|it| it.user == Some(user.id));
            if !open.any(|it| ends.is_none_or(|ends| it.id == ends)) {
                return Ok(request.done_before(&path(&user)));
            }
            let did = match ends {
                Some(session) => {
                    people.sessions.end(&[session]).await.map_err(refused)?;
                    format!("Ended session {session} of {who}")
                }
                None => {
                    people
                        .end_sessions_of(Some(user.id), now)
                        .await
                        .map_err(refused)?;
                    format!("Ended all sessions of {who}")
                }
            };
            (did, path(&user))
        }
        _ => return Err(Error::new(ErrorCode::RouteNotFound)),
    };
    Ok(request.done(&back, "saved", did))
}

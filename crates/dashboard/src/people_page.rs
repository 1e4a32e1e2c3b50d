//! `/dashboard/people`: an owner invites users, changes what they may do and who they are at the identity provider, and ends
//! their sessions.

use std::collections::BTreeMap;

use domain::id::{ProjectId, UserId};
use edge::{Own, refused};
use identity::{BoundIdentity, NewUser, ProjectScope, User, UserChange, UserState};
use operator::{
    EndSession, EndSessionsOfUser, InviteUser, InviteUserAgain, RemoveUser, SentInvitation,
    UpdateUser,
};

use super::{
    account::{session_table, sessions_of},
    prelude::*,
    projects,
};

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

pub(super) async fn list(request: PageFor<Own, NoProject>) -> Response {
    let fields = Fields::default().with("role", "support");
    all(&request, Form::new(&fields, None)).await
}

async fn all(request: &PageRequest<NoProject>, form: Form<'_>) -> Response {
    let (users, choices) = (
        request.app.edge.people.users(),
        choices(request, form).await,
    );
    let body = html! {
        h1 { "People" }
        @if users.is_empty() { p.empty { "Nobody has an account of their own yet: everybody signs in with the administrator's token. Invite an owner first." } } @else {
            (table("People", &["Name", "E-mail", "Role", "Projects", "State"], &html! { @for user in &users { tr {
                td { a href=(path(user)) { (verbatim(&user.name)) } }
                td { (verbatim(&user.email)) }
                td { (user.role.name()) }
                td { @match &user.projects { ProjectScope::All => "All", ProjectScope::Some(some) => (some.len()) } }
                td { (state(user)) }
            } } }))
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
    form.response(request.show("People", &body))
}

fn state(user: &User) -> Markup {
    html! { @match user.state() {
        UserState::Invited => span.badge.wait { "Invited" },
        UserState::Active => span.badge.good { "Active" },
        UserState::Disabled => span.badge.bad { "Disabled" },
    } }
}

/// The projects of all cells, and any others that the form names, as value and text.
async fn choices(request: &PageRequest<NoProject>, form: Form<'_>) -> Vec<(String, String)> {
    let (lines, _) = projects::all_lines(request).await;
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

pub(super) async fn invite(request: FormPost<InviteUser, NoProject>) -> PageResult {
    let fields = &request.fields;
    let invited = async {
        let new = NewUser {
            name: fields.text("name").to_owned(),
            email: fields.text("email").to_owned(),
            role: fields.choice("role")?,
            projects: scope(fields)?,
            grant_limit_per_day: fields.whole("grantLimitPerDay")?,
            refund_limit_cents_per_day: fields.whole("refundLimitCentsPerDay")?,
        };
        let page = |sent, _| link(&request, &sent);
        request.answer(InviteUser(new), PEOPLE, page).await
    };
    match invited.await {
        Ok(invited) => Ok(invited),
        Err(error) => Ok(all(&request, Form::new(fields, Some(&error))).await),
    }
}

fn link(
    request: &PageRequest<NoProject>,
    SentInvitation { user, link }: &SentInvitation,
) -> Response {
    let body = html! {
        h1 { "Invited" }
        section.card.shown {
            h2 { "Copy now" }
            p { "Give this link to " (verbatim(&user.name)) ". It is valid for seven days and once, and shown only now. Where mail is set up, it is on its way to " (verbatim(&user.email)) ", too." }
            p { (layout::copyable(link)) }
        }
        p { a href=(path(user)) { "Go on" } }
    };
    request.show("Invited", &body)
}

pub(super) fn named(request: &PageRequest<NoProject>) -> Result<Arc<User>, Error> {
    let id: UserId = request.named("user", ErrorCode::UserNotFound)?;
    request.app.edge.people.user(id).map_err(refused)
}

pub(super) async fn show(request: PageFor<Own, NoProject>) -> PageResult {
    let user = named(&request)?;
    Ok(one(&request, &user, None).await)
}

async fn one(request: &PageRequest<NoProject>, user: &User, refused: RejectedForm<'_>) -> Response {
    let stored = current(user);
    let form = Form::of(refused, &stored);
    let choices = choices(request, form).await;
    let sessions = sessions_of(request, Some(user.id));
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
        (identity_card(request, user))
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
    form.response(request.show(&user.name, &body))
}

pub(super) async fn save(request: FormPost<UpdateUser, NoProject>) -> PageResult {
    let (user, fields) = (named(&request)?, &request.fields);
    let saved = async {
        let change = UserChange {
            name: Some(fields.text("name").to_owned()),
            email: Some(fields.text("email").to_owned()),
            role: Some(fields.choice("role")?),
            projects: Some(scope(fields)?),
            grant_limit_per_day: Some(fields.whole("grantLimitPerDay")?),
            refund_limit_cents_per_day: Some(fields.whole("refundLimitCentsPerDay")?),
            ..UserChange::default()
        };
        let update = UpdateUser {
            user: user.id,
            change,
            version: fields.parsed(VERSION, "a version")?,
        };
        request.run(update, &path(&user), "saved").await
    };
    match saved.await {
        Ok(saved) => Ok(saved),
        Err(error) => Ok(one(&request, &*named(&request)?, Some((fields, &error))).await),
    }
}

/// The card on a user's page; nothing where no provider is set and nobody bound.
fn identity_card(request: &PageRequest<NoProject>, user: &User) -> Markup {
    let oidc = request
        .app
        .oidc
        .as_ref()
        .filter(|_| user.identity.is_none());
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

pub(super) async fn bind(request: FormPost<UpdateUser, NoProject>) -> PageResult {
    let user = named(&request)?;
    let identity = match (request.fields.owned("subject"), &request.app.oidc) {
        (None, _) => None,
        (Some(subject), Some(oidc)) => Some(BoundIdentity {
            issuer: oidc.issuer().to_owned(),
            subject,
        }),
        (Some(_), None) => return Err(Error::new(ErrorCode::RouteNotFound)),
    };
    let change = UserChange {
        identity: Some(identity),
        ..UserChange::default()
    };
    change_user(&request, &user, change).await
}

async fn change_user<P>(
    request: &FormPost<P, NoProject>,
    user: &User,
    change: UserChange,
) -> PageResult {
    let update = UpdateUser {
        user: user.id,
        change,
        version: None,
    };
    request.run(update, &path(user), "saved").await
}

pub(super) async fn act(request: FormPost<UpdateUser, NoProject>) -> PageResult {
    let user = named(&request)?;
    let action: String = request.named("action", ErrorCode::RouteNotFound)?;
    let page_path = path(&user);
    let access = |disabled| UserChange {
        disabled: Some(disabled),
        ..UserChange::default()
    };
    match action.as_str() {
        "invitation" => {
            let page = |sent, _| link(&request, &sent);
            request
                .answer(InviteUserAgain(user.id), &page_path, page)
                .await
        }
        "disable" => change_user(&request, &user, access(true)).await,
        "enable" => change_user(&request, &user, access(false)).await,
        "remove" => {
            let page = |(), _| layout::done(PEOPLE, "saved");
            request.answer(RemoveUser(user.id), &page_path, page).await
        }
        "end" => match request.fields.parsed("session", "a session")? {
            None => {
                let all = EndSessionsOfUser(user.id);
                request.run(all, &page_path, "saved").await
            }
            Some(session) => {
                let mut own = sessions_of(&request, Some(user.id)).into_iter();
                if !own.any(|it| it.id == session) {
                    return Err(Error::new(ErrorCode::SessionNotFound));
                }
                request.run(EndSession(session), &page_path, "saved").await
            }
        },
        _ => Err(Error::new(ErrorCode::RouteNotFound)),
    }
}

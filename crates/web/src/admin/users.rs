//! The people who work with the dashboard: invite, list, show, change, remove.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use domain::id::ProjectId;
use edge::{Authorized, Context, Own, body::Body, refused};
use identity::{NewUser, ProjectScope, Role, UserChange, UserState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, choice,
    field::{BoundedInteger, EmailText, FromText, NameText, ObjectBuilder, Text, line},
    view::instant,
};

use super::{
    path::Segments,
    user_identity::{Identity, IdentityToBind},
};
use crate::{
    admin::App,
    http::{
        etag::{IfMatch, NOTHING, changes, tagged},
        patch::Field,
    },
};

/// A daily limit.
type DayLimit = BoundedInteger<0, 9_007_199_254_740_991>;

/// What somebody may do.
struct RoleName(Role);

type RoleText = Text<RoleName>;

choice!(RoleName, "Role":
    "owner" => Self(Role::Owner), "operator" => Self(Role::Operator),
    "support" => Self(Role::Support), "viewer" => Self(Role::Viewer));

/// A project that somebody works with. Whether there is such a one is not looked at: it may be in another cell.
struct NamedProject(ProjectId);

type ProjectText = Text<NamedProject>;

impl FromText for NamedProject {
    const NAME: &'static str = "ProjectId";
    const WANTED: &'static str = "a project's identifier";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .pattern(Some("^proj_[0-7][0-9a-hjkmnp-tv-z]{25}$"))
            .examples(["proj_01jd3v8q6pf6r9x3v1m2k4c5d7"])
    }
}

fn named(projects: Vec<ProjectText>) -> Vec<ProjectId> {
    projects
        .into_iter()
        .map(|Text(NamedProject(id))| id)
        .collect()
}

/// A user to invite.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewUser)]
pub(super) struct Create {
    name: NameText,
    /// By which they sign in. No two users have the same, in any case.
    email: EmailText,
    role: RoleText,
    /// The projects that they work with; null or left out: all. An owner works with all.
    #[schema(min_items = 1, max_items = 100)]
    projects: Option<Vec<ProjectText>>,
    /// The most credits that they may grant in a day, UTC; null or left out: no limit.
    grant_limit_per_day: Option<DayLimit>,
    /// The most that they may refund in a day, UTC, in the currencies' minor units; null or left out: no limit.
    refund_limit_cents_per_day: Option<DayLimit>,
}

/// What to change of a user. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserChange)]
pub(super) struct Update {
    #[schema(value_type = Option<NameText>, nullable = false)]
    #[serde(default)]
    name: Field<NameText>,
    /// By which they sign in.
    #[schema(value_type = Option<EmailText>, nullable = false)]
    #[serde(default)]
    email: Field<EmailText>,
    #[schema(value_type = Option<RoleText>, nullable = false)]
    #[serde(default)]
    role: Field<RoleText>,
    /// The projects that they work with; null: all.
    #[schema(value_type = Option<Vec<ProjectText>>, min_items = 1, max_items = 100)]
    #[serde(default)]
    projects: Field<Vec<ProjectText>>,
    /// The most credits that they may grant in a day, UTC; null: no limit.
    #[schema(value_type = Option<DayLimit>)]
    #[serde(default)]
    grant_limit_per_day: Field<DayLimit>,
    /// The most that they may refund in a day, UTC, in the currencies' minor units; null: no limit.
    #[schema(value_type = Option<DayLimit>)]
    #[serde(default)]
    refund_limit_cents_per_day: Field<DayLimit>,
    /// Whether they are kept out. Their sessions end at once.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    disabled: Field<bool>,
    /// Who they are at the identity provider; null: none, until the next sign-in by their e-mail address.
    #[schema(value_type = Option<IdentityToBind>)]
    #[serde(default)]
    identity: Field<IdentityToBind>,
}

/// Somebody who works with the dashboard.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    /// The identifier of the user.
    #[schema(example = "usr_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    id: String,
    name: String,
    email: String,
    #[schema(value_type = RoleText)]
    role: &'static str,
    /// The projects that they work with; null: all.
    projects: Option<Vec<String>>,
    grant_limit_per_day: Option<i64>,
    refund_limit_cents_per_day: Option<i64>,
    /// `invited` until they have set a password or come in by the identity provider, then `active`, or `disabled`.
    status: &'static str,
    /// Who they are at the identity provider by which they sign in.
    identity: Option<Identity>,
    /// When they were invited.
    created_at: String,
}

/// A user who was invited.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InvitedUser {
    #[serde(flatten)]
    user: User,
    /// The page where they set a password. Valid for seven days and once; shown only here.
    invitation_url: String,
}

/// Everybody who works with the dashboard.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Users {
    /// In the order in which they were invited.
    users: Vec<User>,
}

impl User {
    fn of(user: &identity::User) -> Self {
        let state: UserState = user.state();
        Self {
            id: user.id.to_string(),
            name: user.name.clone(),
            email: user.email.clone(),
            role: user.role.name(),
            projects: match &user.projects {
                ProjectScope::All => None,
                ProjectScope::Some(some) => Some(some.iter().map(ToString::to_string).collect()),
            },
            grant_limit_per_day: user.grant_limit_per_day,
            refund_limit_cents_per_day: user.refund_limit_cents_per_day,
            status: state.name(),
            identity: user.identity.as_ref().map(Identity::of),
            created_at: instant(domain::Timestamp(user.created_at)).to_string(),
        }
    }
}

fn invited(app: &App, invited: &identity::Invited) -> InvitedUser {
    InvitedUser {
        user: User::of(&invited.user),
        invitation_url: app.invitations.announce(invited),
    }
}

pub(super) async fn create(
    caller: Authorized<Own>,
    State(app): State<App>,
    context: Context,
    body: Body,
) -> Result<Response, Error> {
    let Create {
        name,
        email: Text(email),
        role: Text(RoleName(role)),
        projects,
        grant_limit_per_day,
        refund_limit_cents_per_day,
    } = body.parse()?;
    let new = NewUser {
        name: line(name),
        email: email.as_str().to_owned(),
        role,
        projects: projects.map(named),
        grant_limit_per_day: grant_limit_per_day.map(|it| it.0),
        refund_limit_cents_per_day: refund_limit_cents_per_day.map(|it| it.0),
    };
    let made = app
        .edge
        .people
        .invite(new, context.now)
        .await
        .map_err(refused)?;
    caller.did(format!(
        "Invited {} ({}) as {}",
        made.user.name,
        made.user.id,
        role.name()
    ));
    Ok((StatusCode::CREATED, Json(invited(&app, &made))).into_response())
}

pub(super) async fn list(_: Authorized<Own>, State(app): State<App>) -> Json<Users> {
    let users = app.edge.people.users();
    Json(Users {
        users: users.iter().map(|user| User::of(user)).collect(),
    })
}

pub(super) async fn show(
    _: Authorized<Own>,
    State(app): State<App>,
    path: Segments,
) -> Result<Response, Error> {
    let user = app.edge.people.user(path.user()?).map_err(refused)?;
    Ok(tagged(&User::of(&user)))
}

pub(super) async fn update(
    caller: Authorized<Own>,
    State(app): State<App>,
    path: Segments,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let update: Update = body.parse()?;
    let text = |Text(email): EmailText| email.as_str().to_owned();
    let change = UserChange {
        name: update.name.not_null("name")?.map(line),
        email: update.email.not_null("email")?.map(text),
        role: update
            .role
            .not_null("role")?
            .map(|Text(RoleName(role))| role),
        projects: update.projects.nullable().map(|some| some.map(named)),
        grant_limit_per_day: limit(update.grant_limit_per_day),
        refund_limit_cents_per_day: limit(update.refund_limit_cents_per_day),
        disabled: update.disabled.not_null("disabled")?,
        identity: update.identity.nullable().map(|it| it.map(Into::into)),
    };
    let people = &app.edge.people;
    let user = people.user(path.user()?).map_err(refused)?;
    if_match.check(&User::of(&user))?;
    let version = if_match.is_sent().then_some(user.version);
    let changed = people.change(user.id, change, version).await;
    let (before, after) = (User::of(&user), User::of(&*changed.map_err(refused)?));
    let who = format!("{} ({})", before.name, before.id);
    let changed = changes(&before, &after);
    caller.did_if(changed != NOTHING, format!("Changed user {who}: {changed}"));
    Ok(tagged(&after))
}

fn limit(field: Field<DayLimit>) -> Option<Option<i64>> {
    field.nullable().map(|limit| limit.map(|it| it.0))
}

pub(super) async fn delete(
    caller: Authorized<Own>,
    State(app): State<App>,
    path: Segments,
) -> Result<StatusCode, Error> {
    let removed = app.edge.people.remove(path.user()?).await;
    let user = removed.map_err(refused)?;
    caller.did(format!("Removed user {} ({})", user.name, user.id));
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn invite_again(
    _: Authorized<Own>,
    State(app): State<App>,
    context: Context,
    path: Segments,
) -> Result<Json<InvitedUser>, Error> {
    let made = app
        .edge
        .people
        .invite_again(path.user()?, context.now)
        .await;
    Ok(Json(invited(&app, &made.map_err(refused)?)))
}

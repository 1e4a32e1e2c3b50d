//! The people who work with the dashboard: invite, list, show, change, remove.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use domain::id::ProjectId;
use edge::{Own, body::Body, refused};
use identity::{NewUser, ProjectScope, Role, UserChange, UserState};
use operator::{InviteUser, InviteUserAgain, NoProject, RemoveUser, SentInvitation, UpdateUser};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, choice,
    field::{BoundedInteger, EmailText, FromText, NameText, ObjectBuilder, Text, line},
    view::instant,
};

use super::{
    call::AdminCall,
    user_identity::{Identity, IdentityToBind},
};
use crate::http::{
    etag::{IfMatch, tagged},
    patch::Field,
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

impl From<SentInvitation> for InvitedUser {
    fn from(sent: SentInvitation) -> Self {
        Self {
            user: User::of(&sent.user),
            invitation_url: sent.link,
        }
    }
}

pub(super) async fn create(call: AdminCall<InviteUser>, body: Body) -> Result<Response, Error> {
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
    let sent = call.run(NoProject, InviteUser(new)).await?;
    Ok((StatusCode::CREATED, Json(InvitedUser::from(sent))).into_response())
}

pub(super) async fn list(call: AdminCall<Own>) -> Json<Users> {
    let users = call.app.edge.people.users();
    Json(Users {
        users: users.iter().map(|user| User::of(user)).collect(),
    })
}

pub(super) async fn show(call: AdminCall<Own>) -> Result<Response, Error> {
    let user = call
        .app
        .edge
        .people
        .user(call.path.user()?)
        .map_err(refused)?;
    Ok(tagged(&User::of(&user)))
}

pub(super) async fn update(
    call: AdminCall<UpdateUser>,
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
    let user = call
        .app
        .edge
        .people
        .user(call.path.user()?)
        .map_err(refused)?;
    if_match.check(&User::of(&user))?;
    let update = UpdateUser {
        user: user.id,
        change,
        version: if_match.is_sent().then_some(user.version),
    };
    let after = call.run(NoProject, update).await?;
    Ok(tagged(&User::of(&after)))
}

fn limit(field: Field<DayLimit>) -> Option<Option<i64>> {
    field.nullable().map(|limit| limit.map(|it| it.0))
}

pub(super) async fn delete(call: AdminCall<RemoveUser>) -> Result<StatusCode, Error> {
    call.run(NoProject, RemoveUser(call.path.user()?)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn invite_again(
    call: AdminCall<InviteUserAgain>,
) -> Result<Json<InvitedUser>, Error> {
    let again = InviteUserAgain(call.path.user()?);
    let sent = call.run(NoProject, again).await?;
    Ok(Json(sent.into()))
}

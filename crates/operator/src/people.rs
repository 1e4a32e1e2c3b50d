//! The people who work with the dashboard: invites, changes and removes them, and ends their sessions.

use std::sync::Arc;

use domain::id::{SessionId, UserId};
use edge::{audit::AuditEvent, refused};
use identity::{Invited, NewUser, ProjectScope, SessionView, User, UserChange};
use serde_json::{Value, json};
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, NoProject, Operator,
    changes::{changes, event_of},
};

needs!(Own: InviteUser, InviteUserAgain, UpdateUser, RemoveUser, EndSession, EndSessionsOfUser);
needs!(Read: EndOwnSessions);

/// Invites a user.
#[derive(Debug)]
pub struct InviteUser(pub NewUser);

/// Invites a user again, who lost their password or second factor.
#[derive(Debug)]
pub struct InviteUserAgain(pub UserId);

/// A user who was invited.
#[derive(Debug)]
pub struct SentInvitation {
    /// Who was invited.
    pub user: Arc<User>,
    /// The page where they set a password. To be shown once.
    pub link: String,
}

/// Changes a user, removes or restores their access, binds or unbinds them at the identity provider.
#[derive(Debug)]
pub struct UpdateUser {
    /// Who it is.
    pub user: UserId,
    /// What changes of them.
    pub change: UserChange,
    /// The version that was read, if the change is to be of no other.
    pub version: Option<u64>,
}

/// Removes a user.
#[derive(Debug)]
pub struct RemoveUser(pub UserId);

/// Ends a session of anybody.
#[derive(Debug)]
pub struct EndSession(pub SessionId);

/// Ends all sessions of a user.
#[derive(Debug)]
pub struct EndSessionsOfUser(pub UserId);

/// Ends one of one's own sessions, or all.
#[derive(Debug)]
pub struct EndOwnSessions(pub Option<SessionId>);

type ServerOperator<'a> = Operator<'a, NoProject>;

impl ServerOperator<'_> {
    fn user(&self, user: UserId) -> Result<Arc<User>, Error> {
        self.app.edge.people.user(user).map_err(refused)
    }

    fn sessions(&self, of: impl Fn(&SessionView) -> bool) -> Vec<SessionView> {
        let mut all = self
            .app
            .edge
            .people
            .sessions
            .list(self.app.edge.clock.now());
        all.retain(of);
        all
    }

    async fn end(&self, sessions: &[SessionView]) -> Result<(), Error> {
        let ids: Vec<_> = sessions.iter().map(|it| it.id).collect();
        let ended = self.app.edge.people.sessions.end(&ids).await;
        ended.map_err(refused)
    }

    fn invited(&self, invited: &Invited, again: &str) -> (SentInvitation, AuditEvent) {
        let user = &invited.user;
        let what = format!("Invited {}{again} as {}", who(user), user.role.name());
        let sent = SentInvitation {
            link: self.app.invitations.announce(invited),
            user: Arc::clone(user),
        };
        (sent, AuditEvent::Did(what))
    }
}

fn who(user: &User) -> String {
    format!("{} ({})", user.name, user.id)
}

fn user_fact(user: &User) -> (&'static str, Fact) {
    (
        "User",
        Fact::Verbatim(format!("{}, {}", user.name, user.email)),
    )
}

/// What a change can change of a user, but for their access and their identity.
fn fields(user: &User) -> Value {
    json!({
        "name": user.name,
        "email": user.email,
        "role": user.role.name(),
        "projects": match &user.projects {
            ProjectScope::All => None,
            ProjectScope::Some(some) => Some(some.iter().map(ToString::to_string).collect::<Vec<_>>()),
        },
        "grantLimitPerDay": user.grant_limit_per_day,
        "refundLimitCentsPerDay": user.refund_limit_cents_per_day,
    })
}

impl Action<NoProject> for InviteUser {
    type Answer = SentInvitation;

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<SentInvitation> {
        let (people, now) = (&by.app.edge.people, by.app.edge.clock.now());
        let invited = people.invite(self.0, now).await.map_err(refused)?;
        Ok(by.invited(&invited, ""))
    }
}

impl Action<NoProject> for InviteUserAgain {
    type Answer = SentInvitation;

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<SentInvitation> {
        let (people, now) = (&by.app.edge.people, by.app.edge.clock.now());
        let invited = people.invite_again(self.0, now).await.map_err(refused)?;
        Ok(by.invited(&invited, " again"))
    }
}

impl Action<NoProject> for UpdateUser {
    type Answer = Arc<User>;

    async fn confirmation(&self, by: &ServerOperator<'_>) -> ConfirmationResult {
        let user = by.user(self.user)?;
        let mut facts = vec![user_fact(&user)];
        let identity = self.change.identity.as_ref();
        let title = match identity.filter(|new| **new != user.identity) {
            Some(Some(bound)) => {
                facts.extend([
                    ("Subject", Fact::verbatim(&bound.subject)),
                    ("What it does", "The person with this subject at the identity provider signs in as this user.".into()),
                ]);
                "Bind this user?"
            }
            Some(None) => {
                facts.push(("What it does", "Their subject no longer signs in. The next subject that signs in with their verified address is bound. Sessions continue.".into()));
                "Unbind this user?"
            }
            None if self.change.disabled == Some(true) && !user.disabled => {
                facts.push(("What goes", "Their sessions end immediately, and they cannot sign in until access is restored.".into()));
                "Remove this user's access?"
            }
            None => return Ok(None),
        };
        Confirmation::ask(title, facts)
    }

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<Arc<User>> {
        let _saving = by.app.edge.saving.lock().await;
        let before = by.user(self.user)?;
        let people = &by.app.edge.people;
        let changed = people.change(self.user, self.change, self.version).await;
        let after = changed.map_err(refused)?;
        let (who, mut sentences) = (who(&after), Vec::new());
        match (before.disabled, after.disabled) {
            (false, true) => sentences.push(format!("Removed the access of user {who}")),
            (true, false) => sentences.push(format!("Restored the access of user {who}")),
            _ => {}
        }
        if before.identity != after.identity {
            sentences.push(match &after.identity {
                Some(it) => format!(
                    "Bound user {who} to subject {} of {}",
                    it.subject, it.issuer
                ),
                None => format!("Unbound user {who} from the identity provider"),
            });
        }
        let changed = changes(&fields(&before), &fields(&after));
        sentences.extend(changed.map(|changed| format!("Changed user {who}: {changed}")));
        Ok((after, event_of(&sentences)))
    }
}

impl Action<NoProject> for RemoveUser {
    type Answer = ();

    async fn confirmation(&self, by: &ServerOperator<'_>) -> ConfirmationResult {
        let goes = "Their password, second factor and sessions. They can only come back by a new invitation. The audit log keeps their name.";
        let facts = vec![user_fact(&*by.user(self.0)?), ("What goes", goes.into())];
        Confirmation::ask("Remove this user?", facts)
    }

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<()> {
        let removed = by.app.edge.people.remove(self.0).await;
        let what = format!("Removed user {}", who(&*removed.map_err(refused)?));
        Ok(((), AuditEvent::Did(what)))
    }
}

/// The question before sessions end.
fn ending(title: &str, user: Option<&User>, sessions: Vec<SessionView>) -> Confirmation {
    let happens = "Its user has to sign in again; a form that was not sent is lost.";
    let mut facts: Vec<_> = user.map(user_fact).into_iter().collect();
    facts.push(("What happens", happens.into()));
    for session in sessions {
        let origin = format!("{}, {}", session.origin.address, session.origin.browser);
        facts.extend([
            ("Session", Fact::Verbatim(origin)),
            ("Last seen", session.seen.into()),
        ]);
    }
    let title = title.into();
    Confirmation { title, facts }
}

const END_ONE: &str = "End this session?";
const END_ALL: &str = "End all sessions?";

impl EndSession {
    fn session(&self, by: &ServerOperator<'_>) -> Result<SessionView, Error> {
        let session = by.sessions(|it| it.id == self.0).pop();
        session.ok_or_else(|| Error::new(ErrorCode::SessionNotFound))
    }
}

impl Action<NoProject> for EndSession {
    type Answer = ();

    async fn confirmation(&self, by: &ServerOperator<'_>) -> ConfirmationResult {
        let session = self.session(by)?;
        let user = session.user.map(|user| by.user(user)).transpose()?;
        Ok(Some(ending(END_ONE, user.as_deref(), vec![session])))
    }

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<()> {
        let _saving = by.app.edge.saving.lock().await;
        let session = self.session(by)?;
        let user = session.user.and_then(|user| by.user(user).ok());
        let of = user.map(|user| format!(" of {}", who(&user)));
        by.end(&[session]).await?;
        let what = format!("Ended session {}{}", self.0, of.unwrap_or_default());
        Ok(((), AuditEvent::Did(what)))
    }
}

impl Action<NoProject> for EndSessionsOfUser {
    type Answer = ();

    async fn confirmation(&self, by: &ServerOperator<'_>) -> ConfirmationResult {
        let user = by.user(self.0)?;
        let sessions = by.sessions(|it| it.user == Some(self.0));
        Ok(Some(ending(END_ALL, Some(&user), sessions)))
    }

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<()> {
        let _saving = by.app.edge.saving.lock().await;
        let user = by.user(self.0)?;
        let sessions = by.sessions(|it| it.user == Some(self.0));
        by.end(&sessions).await?;
        let what = format!("Ended all sessions of {}", who(&user));
        Ok(((), AuditEvent::once(sessions.is_empty(), what)))
    }
}

impl EndOwnSessions {
    fn sessions(&self, by: &ServerOperator<'_>) -> Result<Vec<SessionView>, Error> {
        let own = by
            .sessions(|it| it.user == by.authority.user() && self.0.is_none_or(|one| it.id == one));
        match own.is_empty() && self.0.is_some() {
            true => Err(Error::new(ErrorCode::SessionNotFound)),
            false => Ok(own),
        }
    }
}

impl Action<NoProject> for EndOwnSessions {
    type Answer = ();

    async fn confirmation(&self, by: &ServerOperator<'_>) -> ConfirmationResult {
        let title = if self.0.is_some() { END_ONE } else { END_ALL };
        Ok(Some(ending(title, None, self.sessions(by)?)))
    }

    async fn execute(self, by: &ServerOperator<'_>) -> Execution<()> {
        by.end(&self.sessions(by)?).await?;
        let what = match self.0 {
            Some(session) => format!("Ended session {session}"),
            None => "Signed out everywhere".into(),
        };
        Ok(((), AuditEvent::Did(what)))
    }
}

//! The users, as requests find them, and the one place that changes them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use actors::{Cipher, Handle, ServerKeys, notes};
use data_encoding::HEXLOWER;
use domain::{Timestamp, id::UserId};
use parking_lot::{Mutex, RwLock};

use crate::{
    ApprovalNote, Authority, Error, NewUser, Sessions, User, UserChange, UserNote, ValidSession,
    allowance::{DayCount, DayCountNote},
    approval::{Answering, Approvals},
    password::Passwords,
    user::{Invitation, address},
};

const MAX_USERS: usize = 1000;
const INVITATION_SECONDS: i64 = 7 * 24 * 3600;
/// Base62 characters that carry 256 bits.
const SECRET_LENGTH: usize = 43;

/// The users and their sessions.
pub struct People {
    pub(crate) handle: Handle,
    pub(crate) users: RwLock<BTreeMap<UserId, Arc<User>>>,
    /// Held over each change, from reading a user to its being durable.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pub sessions: Arc<Sessions>,
    pub(crate) passwords: Passwords,
    pub(crate) secrets: Cipher,
    pub(crate) tickets: Cipher,
    /// Daily totals of users.
    pub(crate) counts: Mutex<HashMap<UserId, DayCount>>,
    /// Pending requests for approval.
    pub(crate) approvals: Approvals,
    /// Those that somebody is answering.
    pub(crate) answering: Answering,
    /// Wrong codes of a second factor, with the start of their window.
    pub(crate) wrong_codes: Mutex<HashMap<UserId, (Timestamp, u32)>>,
}

/// A user who was invited, and the secret that the link has.
#[derive(Clone)]
pub struct Invited {
    /// Who was invited.
    pub user: Arc<User>,
    /// The link's secret. To be shown once and not logged.
    pub secret: String,
}

impl std::fmt::Debug for Invited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invited")
            .field("user", &self.user.id)
            .finish_non_exhaustive()
    }
}

impl People {
    /// Reads the users and sessions that were recovered at the start, which was now.
    /// # Errors
    /// [`notes::Error`] where one cannot be read.
    pub fn load(
        handle: Handle,
        server_keys: &ServerKeys,
        now: Timestamp,
    ) -> Result<Self, notes::Error> {
        let users = notes::all::<UserNote>(&handle)?.into_iter();
        Ok(Self {
            users: RwLock::new(users.map(|(id, user)| (id, Arc::new(user))).collect()),
            changing: tokio::sync::Mutex::default(),
            approvals: Mutex::new(notes::all::<ApprovalNote>(&handle)?.into_iter().collect()),
            answering: Mutex::default(),
            counts: Mutex::new(notes::all::<DayCountNote>(&handle)?.into_iter().collect()),
            sessions: Arc::new(Sessions::load(handle.clone(), now)?),
            passwords: Passwords::new(server_keys.first()),
            secrets: Cipher::new(server_keys, "scrip/second-factor/1"),
            tickets: Cipher::new(server_keys.newest(), "scrip/people-ticket/1"),
            wrong_codes: Mutex::default(),
            handle,
        })
    }

    /// All users, in the order in which they were invited.
    pub fn users(&self) -> Vec<Arc<User>> {
        self.users.read().values().cloned().collect()
    }

    /// A user.
    /// # Errors
    /// [`Error::UserNotFound`].
    pub fn user(&self, id: UserId) -> Result<Arc<User>, Error> {
        self.users
            .read()
            .get(&id)
            .cloned()
            .ok_or(Error::UserNotFound)
    }

    pub fn by_email(&self, email: &str) -> Option<Arc<User>> {
        let email = address(email);
        let users = self.users.read();
        users.values().find(|user| user.email == email).cloned()
    }

    /// What the holder of a session may do now; `None`: nothing any more.
    pub fn authority(&self, session: &ValidSession) -> Option<Authority> {
        match (&session.borrowed, session.user) {
            (Some(borrowed), _) => Some(borrowed.clone()),
            (None, None) => Some(Authority::administrator()),
            (None, Some(user)) => self.user(user).ok()?.authority(),
        }
    }

    /// Invites a user; returns once that is durable.
    /// # Errors
    /// A field cannot be taken; the e-mail address is taken; there are too many users; it could not be logged.
    pub async fn invite(&self, new: NewUser, now: Timestamp) -> Result<Invited, Error> {
        let _changing = self.changing.lock().await;
        let id = UserId(uuid::Uuid::now_v7().as_u128());
        let user = User::new(id, new, now.0)?;
        if self.users.read().len() >= MAX_USERS {
            return Err(Error::TooManyUsers);
        }
        self.refuse_taken(&user)?;
        self.put_invited(user, now).await
    }

    /// Invites a user again, who then sets another password and second factor. The present ones stay until then.
    /// # Errors
    /// There is no such user; it could not be logged.
    pub async fn invite_again(&self, id: UserId, now: Timestamp) -> Result<Invited, Error> {
        let _changing = self.changing.lock().await;
        let user = self.user(id)?;
        self.put_invited(User::clone(&user), now).await
    }

    async fn put_invited(&self, user: User, now: Timestamp) -> Result<Invited, Error> {
        let secret = catalog::random_text(SECRET_LENGTH)?;
        let invitation = Some(Invitation {
            hash: invitation_hash(&secret),
            until: now.plus_seconds(INVITATION_SECONDS).0,
        });
        let user = self.put(User { invitation, ..user }).await?;
        Ok(Invited { user, secret })
    }

    /// Changes a user; returns once that is durable. Removing access ends their sessions.
    /// # Errors
    /// There is no such user; they were changed since this version; a field cannot be taken; it could not be logged.
    pub async fn change(
        &self,
        id: UserId,
        change: UserChange,
        version: Option<u64>,
    ) -> Result<Arc<User>, Error> {
        let _changing = self.changing.lock().await;
        let user = self.user(id)?;
        if version.is_some_and(|version| version != user.version) {
            return Err(Error::ChangedMeanwhile);
        }
        let changed = user.changed(change)?;
        self.refuse_taken(&changed)?;
        let signs_out = changed.disabled && !user.disabled;
        let (ended, mut append) = match signs_out {
            true => self.sessions.of(id),
            false => Default::default(),
        };
        append.push(notes::put::<UserNote>(&id, &changed));
        self.handle.put_notes(append).await?;
        self.sessions.forget(&ended);
        Ok(self.keep(changed))
    }

    /// Removes a user and ends their sessions; returns once that is durable.
    /// # Errors
    /// There is no such user; it could not be logged.
    pub async fn remove(&self, id: UserId) -> Result<Arc<User>, Error> {
        let _changing = self.changing.lock().await;
        let user = self.user(id)?;
        let (ended, mut append) = self.sessions.of(id);
        append.push(notes::forget::<UserNote>(&id));
        append.push(notes::forget::<DayCountNote>(&id));
        self.handle.put_notes(append).await?;
        self.sessions.forget(&ended);
        self.users.write().remove(&id);
        Ok(user)
    }

    /// Ends all sessions of a user, or of the administrator's token; returns once that is durable.
    /// # Errors
    /// It could not be logged.
    pub async fn end_sessions_of(&self, user: Option<UserId>, now: Timestamp) -> Result<(), Error> {
        let all = self.sessions.list(now).into_iter();
        let own: Vec<_> = all.filter(|it| it.user == user).map(|it| it.id).collect();
        self.sessions.end(&own).await
    }

    fn refuse_taken(&self, user: &User) -> Result<(), Error> {
        let users = self.users.read();
        let others = || users.values().filter(|other| other.id != user.id);
        if others().any(|other| other.email == user.email) {
            return Err(Error::EmailTaken);
        }
        let is_taken = user.identity.is_some() && others().any(|it| it.identity == user.identity);
        match is_taken {
            true => Err(Error::IdentityTaken),
            false => Ok(()),
        }
    }

    pub(crate) async fn put(&self, user: User) -> Result<Arc<User>, Error> {
        let note = notes::put::<UserNote>(&user.id, &user);
        self.handle.put_notes(vec![note]).await?;
        Ok(self.keep(user))
    }

    pub(crate) fn keep(&self, user: User) -> Arc<User> {
        let user = Arc::new(user);
        self.users.write().insert(user.id, Arc::clone(&user));
        user
    }
}

pub(crate) fn invitation_hash(secret: &str) -> String {
    HEXLOWER.encode(&catalog::sha256(secret.trim().as_bytes()))
}

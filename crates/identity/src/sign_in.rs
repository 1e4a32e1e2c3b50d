//! Signing in, and accepting an invitation: two steps each, of which the first is about the password and the second about
//! the second factor. Between them nothing is kept here: the browser carries what the second step needs, encrypted.

use std::sync::Arc;

use actors::notes;
use data_encoding::BASE64URL_NOPAD;
use domain::{Timestamp, id::UserId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use subtle::ConstantTimeEq as _;

use crate::{
    Error, People, RecoveryCodes, TotpSecret, User, UserNote,
    password::{PasswordHash, Queued},
    second_factor::hash_of,
    store::invitation_hash,
    user::SecondFactor,
};

const STEP_SECONDS: i64 = 15 * 60;
/// How long a browser is known in which somebody signed in.
pub const KNOWN_BROWSER_SECONDS: i64 = 90 * 24 * 3600;
/// Wrong codes of a second factor within the window, before no more are looked at. Only who knows the password gets
/// here; recovery codes are looked at all the same, since they cannot be guessed.
const WRONG_CODES: u32 = 10;
const WRONG_CODES_WINDOW_SECONDS: i64 = 15 * 60;

/// The outcome of a second factor's code.
#[derive(Debug, Clone)]
pub enum SignIn {
    Done(Arc<User>),
    /// It was wrong, or used before, or too many wrong ones came.
    Wrong,
    /// The step took too long, or the user changed since: it begins again with the password.
    Over,
}

/// What a browser carries from one step of a form to the next, encrypted.
#[derive(Serialize, Deserialize)]
struct Ticket<T> {
    user: UserId,
    version: u64,
    until: i64,
    what: T,
}

/// That a password was right.
#[derive(Serialize, Deserialize)]
struct PasswordWasRight {
    second_factor: (),
}

/// That somebody signed in here before.
#[derive(Serialize, Deserialize)]
struct KnownBrowser {
    browser: (),
}

/// What was chosen with an invitation.
#[derive(Serialize, Deserialize)]
struct Acceptance {
    invitation: String,
    password: PasswordHash,
    totp: String,
}

/// The place in the queue for passwords of somebody who is known.
fn queued(user: &User) -> Queued {
    let number = u64::try_from(user.id.0 & u128::from(u64::MAX));
    Queued::Known(number.unwrap_or_default())
}

impl People {
    /// The first step of accepting an invitation: takes the password, and returns the secret for an authenticator app,
    /// with what the second step needs.
    /// # Errors
    /// The invitation is not valid; the password does not fit; too many are being hashed.
    pub async fn choose_password(
        &self,
        secret: &str,
        password: &str,
        now: Timestamp,
    ) -> Result<(Arc<User>, TotpSecret, String), Error> {
        let hash = invitation_hash(secret);
        let user = self.invited(&hash, now).ok_or(Error::NoInvitation)?;
        // No stranger has an invitation, so that none is waited for.
        let who = queued(&user);
        let totp = TotpSecret::draw()?;
        let chosen = Acceptance {
            invitation: hash,
            password: self.passwords.hash(password, who).await?,
            totp: totp.text(),
        };
        let ticket = self.ticket(&user, chosen, now);
        Ok((user, totp, ticket))
    }

    fn invited(&self, hash: &str, now: Timestamp) -> Option<Arc<User>> {
        let users = self.users.read();
        let mut invited = users.values().filter(|user| {
            let invitation = user.invitation.as_ref();
            let valid = invitation.filter(|it| it.until > now.0 && !user.disabled);
            valid.is_some_and(|it| it.hash.as_bytes().ct_eq(hash.as_bytes()).into())
        });
        invited.next().cloned()
    }

    /// The secret for an authenticator app that a ticket has, to show it again, and whose it is.
    pub fn chosen(&self, ticket: &str, now: Timestamp) -> Option<(Arc<User>, TotpSecret)> {
        let ticket: Ticket<Acceptance> = self.opened(ticket, now)?;
        let user = self.user(ticket.user).ok()?;
        Some((user, TotpSecret::read(&ticket.what.totp)?))
    }

    /// The second step of accepting an invitation: a code shows that the authenticator app has the secret. Uses up the
    /// invitation, ends all former sessions, and returns recovery codes to be shown once.
    /// # Errors
    /// The invitation was used since, or the step took too long; the code is wrong; it could not be logged.
    pub async fn accept(
        &self,
        ticket: &str,
        code: &str,
        now: Timestamp,
    ) -> Result<(Arc<User>, RecoveryCodes), Error> {
        let ticket: Ticket<Acceptance> = self.opened(ticket, now).ok_or(Error::NoInvitation)?;
        let _changing = self.changing.lock().await;
        let user = self.invited(&ticket.what.invitation, now);
        let user = user
            .filter(|user| user.id == ticket.user)
            .ok_or(Error::NoInvitation)?;
        let totp = TotpSecret::read(&ticket.what.totp).ok_or(Error::Secret)?;
        let step = totp.step_of(code, None, self.handle.wall());
        let step = step.ok_or(Error::WrongCode)?;
        let recovery = RecoveryCodes::draw()?;
        let accepted = User {
            password: Some(ticket.what.password),
            second_factor: Some(SecondFactor {
                sealed: BASE64URL_NOPAD.encode(&self.secrets.seal(totp.text().as_bytes())),
                used: Some(step),
                recovery: recovery.hashes(),
            }),
            invitation: None,
            version: user.version.saturating_add(1),
            ..User::clone(&user)
        };
        let (ended, mut append) = self.sessions.of(user.id);
        append.push(notes::put::<UserNote>(&user.id, &accepted));
        self.handle.put_notes(append).await?;
        self.sessions.forget(&ended);
        Ok((self.keep(accepted), recovery))
    }

    /// The first step of signing in. Returns what the second step needs if the password is right; its duration does not
    /// reveal whether there is such a user.
    /// # Errors
    /// Too many are being checked.
    pub async fn check_password(
        &self,
        email: &str,
        password: &str,
        who: Queued,
        now: Timestamp,
    ) -> Result<Option<String>, Error> {
        let user = self.by_email(email).filter(|user| !user.disabled);
        let stored = user.as_ref().and_then(|user| user.password.as_ref());
        let right = self.passwords.is(stored, password, who).await?;
        let user = user.filter(|_| right);
        let right = PasswordWasRight { second_factor: () };
        Ok(user.map(|user| self.ticket(&user, right, now)))
    }

    /// The second step of signing in: a code of the authenticator app, or a recovery code. Either is good once.
    /// # Errors
    /// It could not be logged.
    pub async fn check_code(
        &self,
        ticket: &str,
        code: &str,
        now: Timestamp,
    ) -> Result<SignIn, Error> {
        let Some(ticket) = self.opened::<PasswordWasRight>(ticket, now) else {
            return Ok(SignIn::Over);
        };
        let _changing = self.changing.lock().await;
        let user = self.user(ticket.user).ok();
        let user = user.filter(|user| user.version == ticket.version && !user.disabled);
        let Some((user, factor)) = user.and_then(|user| {
            let factor = user.second_factor.clone()?;
            Some((user, factor))
        }) else {
            return Ok(SignIn::Over);
        };
        let Some(used) = self.used(user.id, &factor, code, now)? else {
            self.count_wrong_code(user.id, now);
            return Ok(SignIn::Wrong);
        };
        self.wrong_codes.lock().remove(&user.id);
        let second_factor = Some(used);
        let user = self
            .put(User {
                second_factor,
                ..User::clone(&user)
            })
            .await?;
        Ok(SignIn::Done(user))
    }

    /// The second factor after a code was used; `None`: the code is not good.
    fn used(
        &self,
        user: UserId,
        factor: &SecondFactor,
        code: &str,
        now: Timestamp,
    ) -> Result<Option<SecondFactor>, Error> {
        let hash = hash_of(code);
        let is_this = |known: &String| known.as_bytes().ct_eq(hash.as_bytes()).into();
        if let Some(place) = factor.recovery.iter().position(is_this) {
            let mut used = factor.clone();
            used.recovery.remove(place);
            return Ok(Some(used));
        }
        if self.has_too_many_wrong_codes(user, now) {
            return Ok(None);
        }
        let totp = self.totp(factor).ok_or(Error::Secret)?;
        // The app shows its code by a clock of its own.
        let step = totp.step_of(code, factor.used, self.handle.wall());
        Ok(step.map(|step| SecondFactor {
            used: Some(step),
            ..factor.clone()
        }))
    }

    fn totp(&self, factor: &SecondFactor) -> Option<TotpSecret> {
        let sealed = BASE64URL_NOPAD.decode(factor.sealed.as_bytes()).ok()?;
        let plain = self.secrets.open(&sealed)?;
        TotpSecret::read(std::str::from_utf8(&plain).ok()?)
    }

    fn has_too_many_wrong_codes(&self, user: UserId, now: Timestamp) -> bool {
        let wrong = self.wrong_codes.lock();
        wrong.get(&user).is_some_and(|(since, count)| {
            *count >= WRONG_CODES && since.plus_seconds(WRONG_CODES_WINDOW_SECONDS) > now
        })
    }

    fn count_wrong_code(&self, user: UserId, now: Timestamp) {
        let mut wrong = self.wrong_codes.lock();
        let (since, count) = wrong.entry(user).or_insert((now, 0));
        if since.plus_seconds(WRONG_CODES_WINDOW_SECONDS) <= now {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
    }

    /// The token of a browser in which somebody signed in: strangers cannot keep its password from being checked.
    pub fn browser_token(&self, user: &User, now: Timestamp) -> String {
        let browser = KnownBrowser { browser: () };
        self.ticket_for(KNOWN_BROWSER_SECONDS, user, browser, now)
    }

    /// Whether the user with this e-mail address signed in before in the browser that has a token, and which they are.
    pub fn knows_browser(&self, token: &str, email: &str, now: Timestamp) -> Option<Queued> {
        let ticket: Ticket<KnownBrowser> = self.opened(token, now)?;
        let user = self.by_email(email).filter(|user| user.id == ticket.user)?;
        Some(queued(&user))
    }

    fn ticket<T: Serialize>(&self, user: &User, what: T, now: Timestamp) -> String {
        self.ticket_for(STEP_SECONDS, user, what, now)
    }

    fn ticket_for<T: Serialize>(
        &self,
        seconds: i64,
        user: &User,
        what: T,
        now: Timestamp,
    ) -> String {
        let ticket = Ticket {
            user: user.id,
            version: user.version,
            until: now.plus_seconds(seconds).0,
            what,
        };
        // Texts and numbers always become JSON.
        let json = serde_json::to_vec(&ticket).unwrap_or_default();
        BASE64URL_NOPAD.encode(&self.tickets.seal(&json))
    }

    fn opened<T: DeserializeOwned>(&self, ticket: &str, now: Timestamp) -> Option<Ticket<T>> {
        let sealed = BASE64URL_NOPAD.decode(ticket.as_bytes()).ok()?;
        let ticket: Ticket<T> = serde_json::from_slice(&self.tickets.open(&sealed)?).ok()?;
        (ticket.until > now.0).then_some(ticket)
    }
}

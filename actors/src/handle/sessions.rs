//! Wallet sessions, and watching a wallet.

use std::net::IpAddr;

use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
    session::{Permissions, SessionOwner, WalletSession},
};

use super::{Address, Handle, Scope};
use crate::{
    answer::Error,
    wallet::{Caller, CheckCaller, ReadWatched, RevokeSessions, StartSession, WatchedView},
    watches::{NotWatched, WalletWatcher},
};

impl Handle {
    /// The token of a new session of this wallet; creates a missing user's wallet. Nothing is stored.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`] for a code that opens none; else see [`Error`].
    pub async fn start_session(
        &self,
        scope: &Scope,
        owner: SessionOwner,
        can: Permissions,
        expires_at: Timestamp,
    ) -> Result<String, Error> {
        let address = match &owner {
            SessionOwner::User(user) => Address::External(user.clone()),
            SessionOwner::Code(code) => Address::Code(code.clone()),
        };
        let (wallet, epoch) = self.ask_at(scope, &address, StartSession).await?;
        Ok(self.inner.keyring.seal_session(&WalletSession {
            project: scope.project,
            wallet,
            epoch,
            can,
            expires_at,
            owner,
        }))
    }

    /// The session in a token, and the token's unique number; `None` if this server did not issue it. It may have
    /// ended.
    pub fn open_session(&self, token: &[u8]) -> Option<(WalletSession, u128)> {
        self.inner.keyring.open_session(token)
    }

    /// Checks that a session was not revoked.
    /// # Errors
    /// [`Error::SessionExpired`] if it was, or its wallet is gone; else see [`Error`].
    pub async fn check_session(&self, scope: &Scope, session: &WalletSession) -> Result<(), Error> {
        let place = (session.wallet, Caller::of_session(session));
        match self.ask(scope, place, CheckCaller).await {
            // A restored backup may be older than the session.
            Err(Error::Rejected(_)) => Err(Error::SessionExpired),
            answer => answer,
        }
    }

    /// Ends all sessions of a wallet.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn revoke_sessions(&self, scope: &Scope, address: &Address) -> Result<(), Error> {
        self.ask_at(scope, address, RevokeSessions).await
    }

    /// A watcher of this wallet, to be passed to [`Self::read_watched`] first. It counts for this project, and for this
    /// client unless that is the project's server.
    /// # Errors
    /// [`NotWatched`] when there are too many.
    pub fn watch(
        &self,
        wallet: WalletKey,
        (project, client): (ProjectId, Option<IpAddr>),
    ) -> Result<WalletWatcher, NotWatched> {
        let watches = &self.inner.registry.watches;
        watches.watch(wallet, (project, client))
    }

    /// Reads a watched wallet. The watcher is notified of everything after this answer.
    /// # Errors
    /// As for [`Self::read`].
    pub async fn read_watched(
        &self,
        scope: &Scope,
        address: &Address,
        watcher: &mut WalletWatcher,
    ) -> Result<WatchedView, Error> {
        watcher.seen();
        self.ask_at(scope, address, ReadWatched(watcher.watch()))
            .await
    }

    /// Ends all watching requests.
    pub fn stop_watching(&self) {
        self.inner.registry.watches.close();
    }
}

//! Starts and ends a wallet's sessions, and reads the wallet for watchers.

use std::sync::Arc;

use domain::{Timestamp, id::WalletKey, wallet::Change};

use super::{Command, Turn, read::view};
use crate::{
    answer::{Error, WalletView},
    watches::WalletWatch,
};

/// Answers the wallet's session epoch; creates a missing user's wallet.
pub(crate) struct StartSession;

impl Command for StartSession {
    type Answer = (WalletKey, u32);

    fn creates_user_wallet(&self) -> bool {
        true
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error> {
        let wallet = turn.wallet()?;
        Ok((wallet.key, wallet.session_epoch))
    }
}

pub(crate) struct RevokeSessions;

impl Command for RevokeSessions {
    type Answer = ();

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        turn.change(Change::SessionsRevoked)
    }
}

/// Reads the wallet, and notifies these watchers of changes from now on.
pub(crate) struct ReadWatched(pub(crate) Arc<WalletWatch>);

/// A wallet as its owner sees it, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedView {
    /// What it holds.
    pub view: WalletView,
    /// When it changes by itself, by the project's clock.
    pub until: Timestamp,
}

impl Command for ReadWatched {
    type Answer = WatchedView;

    fn run(self, turn: &mut Turn<'_>) -> Result<WatchedView, Error> {
        turn.watched_by(self.0);
        let wallet = turn.wallet()?;
        Ok(WatchedView {
            view: view(wallet, turn.now()),
            until: wallet.changes_by_itself_at(turn.free_grants(), turn.now()),
        })
    }
}

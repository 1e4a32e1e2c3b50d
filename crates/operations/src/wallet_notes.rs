//! Operators' comments on a wallet, for each other: its owner never sees them. Each is a note in the journal; a wallet's
//! are read when its page is shown.

use std::collections::HashMap;

use actors::{
    Handle,
    notes::{self, NoteKind},
};
use domain::{Timestamp, id::WalletKey};
use persistence::Note;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

/// Most comments about a wallet.
pub const MAX_COMMENTS: usize = 100;
/// Most characters of a comment.
pub const MAX_COMMENT_CHARS: usize = 1000;
/// Wallets whose comments are kept in memory because the books may not have them yet.
const UNFOLDED: usize = 1000;

/// A comment about a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// When it was written, in milliseconds since the epoch: unique among those of its wallet.
    pub at: u64,
    /// Who wrote it.
    pub who: String,
    /// The text as it was entered.
    pub text: String,
}

/// A comment, by its wallet's key and its instant.
#[derive(Debug)]
pub struct CommentNote;

impl NoteKind for CommentNote {
    const NUMBER: u8 = 17;
    const NAME: &'static str = "comment about a wallet";
    type Key = ([u8; 16], u64);
    type Body = Comment;
}

/// Why a comment was not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The wallet has as many as it may have.
    #[error("This wallet has 100 notes: delete some first.")]
    TooMany,
    /// The comments cannot be read.
    #[error(transparent)]
    Unreadable(#[from] notes::Error),
    /// The log did not take it, or may not have taken it.
    #[error(transparent)]
    Log(#[from] actors::Error),
}

/// The comments about all wallets.
pub struct WalletNotes {
    handle: Handle,
    /// Comments that were written since the books were last known to have all.
    unfolded: Mutex<HashMap<WalletKey, Vec<Comment>>>,
}

impl WalletNotes {
    /// The comments that the journal has.
    pub fn new(handle: Handle) -> Self {
        let unfolded = Mutex::default();
        Self { handle, unfolded }
    }

    /// A wallet's comments, oldest first.
    /// # Errors
    /// [`Error::Unreadable`].
    pub async fn of(&self, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
        let unfolded = self.unfolded.lock().await;
        match unfolded.get(&wallet) {
            Some(known) => Ok(known.clone()),
            None => self.stored(wallet).await,
        }
    }

    /// Adds a comment; returns once it is durable.
    /// # Errors
    /// See [`Error`].
    pub async fn add(
        &self,
        wallet: WalletKey,
        who: String,
        now: Timestamp,
        text: String,
    ) -> Result<(), Error> {
        self.change(wallet, |comments| {
            if comments.len() >= MAX_COMMENTS {
                return Err(Error::TooMany);
            }
            let next = comments.last().map_or(0, |last| last.at.saturating_add(1));
            let at = now.0.cast_unsigned().max(next);
            let comment = Comment { at, who, text };
            let note = notes::put::<CommentNote>(&(wallet.0, at), &comment);
            comments.push(comment);
            Ok(vec![note])
        })
        .await
    }

    /// Removes the comment of an instant; returns whether there was one.
    /// # Errors
    /// [`Error::Unreadable`], [`Error::Log`].
    pub async fn remove(&self, wallet: WalletKey, at: u64) -> Result<bool, Error> {
        let mut is_removed = false;
        self.change(wallet, |comments| {
            let before = comments.len();
            comments.retain(|comment| comment.at != at);
            is_removed = comments.len() < before;
            let gone = is_removed.then_some(at);
            let gone = gone.map(|at| notes::forget::<CommentNote>(&(wallet.0, at)));
            Ok(gone.into_iter().collect())
        })
        .await?;
        Ok(is_removed)
    }

    /// Removes all comments about a wallet; returns how many there were.
    /// # Errors
    /// [`Error::Unreadable`], [`Error::Log`].
    pub async fn remove_all(&self, wallet: WalletKey) -> Result<usize, Error> {
        let mut removed = 0;
        self.change(wallet, |comments| {
            removed = comments.len();
            let gone = comments.drain(..);
            let notes = gone.map(|comment| notes::forget::<CommentNote>(&(wallet.0, comment.at)));
            Ok(notes.collect())
        })
        .await?;
        Ok(removed)
    }

    async fn change(
        &self,
        wallet: WalletKey,
        change: impl FnOnce(&mut Vec<Comment>) -> Result<Vec<Note>, Error>,
    ) -> Result<(), Error> {
        let mut unfolded = self.unfolded.lock().await;
        let mut comments = match unfolded.get(&wallet) {
            Some(known) => known.clone(),
            None => self.stored(wallet).await?,
        };
        let notes = change(&mut comments)?;
        if notes.is_empty() {
            return Ok(());
        }
        self.handle.put_notes(notes).await?;
        if unfolded.len() >= UNFOLDED {
            self.handle.fold_all().await?;
            unfolded.clear();
        }
        unfolded.insert(wallet, comments);
        Ok(())
    }

    async fn stored(&self, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
        let handle = self.handle.clone();
        let read = move || notes::of::<CommentNote, _, _>(&handle, &wallet.0);
        let read = tokio::task::spawn_blocking(read).await;
        let read =
            read.map_err(|error| notes::Error::Store(persistence::Error::Io(error.to_string())))?;
        Ok(read?.into_iter().map(|(_, comment)| comment).collect())
    }
}

//! Operators' comments on a wallet, for each other: its owner never sees them. Each is a note in the journal; a wallet's
//! are read when its page is shown.

use std::{collections::HashMap, fmt::Display};

use actors::{Handle, notes};
use domain::{Timestamp, id::WalletKey};
use persistence::Note;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use wire::{Error, ErrorCode};

/// Most comments about a wallet.
const MAX_COMMENTS: usize = 100;
/// Most characters of a comment.
pub const MAX_COMMENT_CHARS: usize = 1000;
/// Wallets whose comments are kept in memory because the books may not have them yet.
const UNFOLDED: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// When it was written, in milliseconds since the epoch: unique among those of its wallet.
    pub at: u64,
    pub who: String,
    /// The text as it was entered.
    pub text: String,
}

actors::note_kinds! {
    /// A comment, by its wallet's key and its instant.
    pub struct CommentNote: 17, "comment about a wallet", ([u8; 16], u64) => Comment;
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
    /// The comments cannot be read.
    pub async fn of(&self, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
        let unfolded = self.unfolded.lock().await;
        match unfolded.get(&wallet) {
            Some(known) => Ok(known.clone()),
            None => self.stored(wallet).await,
        }
    }

    /// Adds a comment; returns once it is durable.
    /// # Errors
    /// The wallet has too many, they cannot be read, or the log did not take it or may not have.
    pub async fn add(
        &self,
        wallet: WalletKey,
        who: String,
        now: Timestamp,
        text: String,
    ) -> Result<(), Error> {
        self.change(wallet, |comments| {
            if comments.len() >= MAX_COMMENTS {
                let why = "This wallet has 100 notes: delete some first.";
                return Err(Error::invalid("text", why));
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

    /// Removes the comment of an instant, or all about a wallet; returns how many there were.
    /// # Errors
    /// As for [`WalletNotes::add`].
    pub async fn remove(&self, wallet: WalletKey, only: Option<u64>) -> Result<usize, Error> {
        let mut removed = 0;
        self.change(wallet, |comments| {
            let gone = comments.extract_if(.., |it| only.is_none_or(|at| at == it.at));
            let notes = gone.map(|it| notes::forget::<CommentNote>(&(wallet.0, it.at)));
            let notes: Vec<Note> = notes.collect();
            removed = notes.len();
            Ok(notes)
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
        let unavailable = |_| Error::new(ErrorCode::Unavailable);
        let kept = self.handle.put_notes(notes).await;
        kept.map_err(unavailable)?;
        if unfolded.len() >= UNFOLDED {
            self.handle.fold_all().await.map_err(unavailable)?;
            unfolded.clear();
        }
        unfolded.insert(wallet, comments);
        Ok(())
    }

    async fn stored(&self, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
        let handle = self.handle.clone();
        let read = move || notes::of::<CommentNote, _, _>(&handle, &wallet.0);
        let read = tokio::task::spawn_blocking(read).await;
        let unreadable = |error: &dyn Display| {
            tracing::error!(%error, "Notes about a wallet cannot be read");
            Error::new(ErrorCode::InternalError)
        };
        let read = read.map_err(|error| unreadable(&error))?;
        let read = read.map_err(|error| unreadable(&error))?;
        Ok(read.into_iter().map(|(_, comment)| comment).collect())
    }
}

//! Operators' notes about a wallet, for each other.

use domain::id::WalletKey;
use edge::audit::AuditEvent;
use operations::wallet_notes::{self, Comment, MAX_COMMENT_CHARS};
use wire::{Error, ErrorCode};

use crate::{Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, OperatorState};

/// Adds a note about a wallet.
#[derive(Debug)]
pub struct AddNote {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// The text as it was entered.
    pub text: String,
}

/// Deletes a note about a wallet.
#[derive(Debug)]
pub struct DeleteNote {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// When the note was written.
    pub at: u64,
}

impl Action for AddNote {
    type Answer = ();

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let Self { wallet, text } = self;
        let view = by.wallet(wallet).await?;
        if text.is_empty() || text.chars().count() > MAX_COMMENT_CHARS {
            return Err(Error::invalid("text", "Enter 1 to 1,000 characters."));
        }
        let (who, now) = (by.authority.name(), by.app.handle.now_in(&by.project.scope));
        let added = by.app.wallet_notes.add(wallet, who, now, text).await;
        added.map_err(refused)?;
        let what = format!("Added a note about {}", view.id);
        Ok(((), AuditEvent::Did(what)))
    }
}

impl Action for DeleteNote {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let notes = notes_of(by.app, self.wallet).await?;
        let known = notes.into_iter().find(|note| note.at == self.at);
        Ok(known.map(|note| Confirmation {
            title: "Delete this note?".into(),
            facts: vec![
                ("Note", Fact::Verbatim(note.text)),
                ("Written by", Fact::Verbatim(note.who)),
                ("What goes", "This cannot be undone.".into()),
            ],
        }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let view = by.wallet(self.wallet).await?;
        let removed = by.app.wallet_notes.remove(self.wallet, self.at).await;
        let is_removed = removed.map_err(refused)?;
        let what = format!("Deleted a note about {}", view.id);
        Ok(((), AuditEvent::once(!is_removed, what)))
    }
}

/// The notes about a wallet, oldest first.
/// # Errors
/// They cannot be read.
pub async fn notes_of(app: &OperatorState, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
    app.wallet_notes.of(wallet).await.map_err(refused)
}

pub(crate) fn refused(error: wallet_notes::Error) -> Error {
    match error {
        wallet_notes::Error::TooMany => Error::invalid("text", error.to_string()),
        wallet_notes::Error::Unreadable(error) => {
            tracing::error!(%error, "Notes about a wallet cannot be read");
            Error::new(ErrorCode::InternalError)
        }
        wallet_notes::Error::Log(_) => Error::new(ErrorCode::Unavailable),
    }
}

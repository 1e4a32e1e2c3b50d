//! Operators' notes about a wallet, for each other.

use domain::id::WalletKey;
use edge::audit::AuditEvent;
use operations::wallet_notes::{Comment, MAX_COMMENT_CHARS};
use wire::Error;

use crate::{Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, OperatorState};

needs!(Support: AddNote, DeleteNote);

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
        by.app.wallet_notes.add(wallet, who, now, text).await?;
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
        let notes = &by.app.wallet_notes;
        let removed = notes.remove(self.wallet, Some(self.at)).await?;
        let what = format!("Deleted a note about {}", view.id);
        Ok(((), AuditEvent::once(removed == 0, what)))
    }
}

/// The notes about a wallet, oldest first.
/// # Errors
/// They cannot be read.
pub async fn notes_of(app: &OperatorState, wallet: WalletKey) -> Result<Vec<Comment>, Error> {
    app.wallet_notes.of(wallet).await
}

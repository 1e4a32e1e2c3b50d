//! Where the owner of a wallet is reached.

use domain::id::WalletKey;

use super::{Handle, Scope};
use crate::{
    answer::Error,
    wallet::{Caller, FindMailContact, MailContact},
};

impl Handle {
    /// Where mails about a wallet go.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn mail_contact(
        &self,
        scope: &Scope,
        wallet: WalletKey,
    ) -> Result<MailContact, Error> {
        let place = (wallet, Caller::Administrator(scope.project));
        self.ask(scope, place, FindMailContact).await
    }
}

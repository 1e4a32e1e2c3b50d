//! Where mails about a wallet go, and in which language.

use domain::{catalog::MailLocale, text::Email};

use super::{Command, Turn};
use crate::answer::Error;

pub(crate) struct FindMailContact;

/// Where mails about a wallet go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailContact {
    /// The wallet's own address, or else that of its last buyer.
    pub email: Option<Email>,
    /// The buyer's language, if it is known.
    pub locale: Option<MailLocale>,
}

impl Command for FindMailContact {
    type Answer = MailContact;
    const READ_ONLY: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<MailContact, Error> {
        let wallet = turn.wallet()?;
        Ok(MailContact {
            email: wallet.mail_address().cloned(),
            locale: wallet.mail_locale(),
        })
    }
}

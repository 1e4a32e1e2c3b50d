//! Replaces the recovery code of an anonymous wallet. The new one is answered, or mailed to the buyer whose payment
//! created the wallet or to an address that the operator enters.

use actors::{Address, Rotation};
use domain::{
    id::WalletKey,
    text::{Email, IdempotencyKey},
};
use edge::audit::AuditEvent;
use outbound::recovery_mail::replacement_mail;
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, confirmation::wallet_fact,
};

needs!(Support: ReplaceCode);

/// Who receives a new code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeReceiver {
    /// The caller, who is shown it.
    Caller,
    /// The buyer whose payment made the wallet, by mail: a later buyer may know a former code only.
    FirstBuyer,
    /// An address that the operator entered, by mail.
    Named(Email),
}

/// Replaces a recovery code without the present one.
#[derive(Debug)]
pub struct ReplaceCode {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// Who receives the new code.
    pub receiver: CodeReceiver,
    /// The key under which it is done once.
    pub key: Option<IdempotencyKey>,
}

/// The code that opens the wallet from now on, and to whom it was mailed.
#[derive(Debug)]
pub struct ReplacedCode {
    /// The new code.
    pub rotation: Rotation,
    /// Whom it was mailed to; `None`: it is shown.
    pub mailed_to: Option<Email>,
}

impl ReplaceCode {
    /// Who gets a mail with the new code. Everything that mailing it needs comes first: else the new code would be lost.
    async fn mail_to(&self, by: &Operator<'_>) -> Result<Option<Email>, Error> {
        let to = match &self.receiver {
            CodeReceiver::Caller => return Ok(None),
            CodeReceiver::Named(to) => to.clone(),
            CodeReceiver::FirstBuyer => {
                let (handle, address) = (&by.app.handle, Address::Stored(self.wallet));
                let buyer = handle.first_buyer(&by.project.scope, &address).await;
                by.read(buyer)?.ok_or_else(|| {
                    let error = Error::new(ErrorCode::NoPurchase);
                    error.saying("No payment made this wallet, or its order has no address: say whom to mail the code to.")
                })?
            }
        };
        match by.app.mailer.is_configured() {
            true => Ok(Some(to)),
            false => Err(Error::new(ErrorCode::MailNotConfigured)),
        }
    }
}

impl Action for ReplaceCode {
    type Answer = ReplacedCode;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let view = by.wallet(self.wallet).await?;
        if view.external_user.is_some() {
            return Err(Error::new(ErrorCode::NoRecoveryCode));
        }
        let mut facts = vec![
            wallet_fact(&view),
            ("What ends", "The present code and all former ones stop working, and sessions that they began end. Open holds that publishable keys placed are released.".into()),
            ("What stays", "Credits, features, subscriptions, orders and notes.".into()),
        ];
        match self.mail_to(by).await? {
            Some(to) => {
                let whose = match self.receiver {
                    CodeReceiver::FirstBuyer => {
                        "The buyer whose payment created the wallet gets it by mail. It is not shown here."
                    }
                    CodeReceiver::Named(_) | CodeReceiver::Caller => {
                        "It is sent by mail, and not shown here."
                    }
                };
                facts.extend([
                    ("The new code", whose.into()),
                    ("Mailed to", Fact::verbatim(to.as_str())),
                ]);
            }
            None => facts.push((
                "The new code",
                "It is shown once, on the next page: give it to the owner only.".into(),
            )),
        }
        Confirmation::ask("Replace the recovery code?", facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<ReplacedCode> {
        let view = by.wallet(self.wallet).await?;
        if view.external_user.is_some() {
            return Err(Error::new(ErrorCode::NoRecoveryCode));
        }
        let to = self.mail_to(by).await?;
        if let Some(key) = &self.key {
            let attempt = format!("Replace the recovery code of {}", view.id);
            by.announce(&attempt, None, Some(key.as_str())).await?;
        }
        // The new code would be lost without a place for its mail.
        let place = to.is_some().then(|| by.app.mailer.expect());
        if place.as_ref().is_some_and(Option::is_none) {
            return Err(Error::new(ErrorCode::Overloaded));
        }
        let (scope, key) = (&by.project.scope, self.key.as_ref());
        let rotation = by.read(
            by.app
                .handle
                .replace_code(scope, &Address::Stored(self.wallet), key)
                .await,
        )?;
        if let Some(to) = to.clone() {
            drop(place);
            let name = &by.project.project.name;
            // Where it cannot be mailed now, repeating it under the same key mails it.
            if !by
                .app
                .mailer
                .enqueue(replacement_mail(name, to, rotation.code.clone()))
            {
                return Err(Error::new(ErrorCode::Unavailable));
            }
        }
        let sent = match self.receiver {
            CodeReceiver::FirstBuyer => "mailed it to the buyer whose payment made the wallet",
            CodeReceiver::Named(_) => "mailed it to an address that they named",
            CodeReceiver::Caller => "showed it",
        };
        let did = match rotation.replayed {
            true => "Asked again for the new recovery code",
            false => "Replaced the recovery code",
        };
        let what = format!("{did} of {} and {sent}", view.id);
        let answer = ReplacedCode {
            rotation,
            mailed_to: to,
        };
        Ok((answer, AuditEvent::Did(what)))
    }
}

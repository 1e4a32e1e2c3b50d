//! Replaces a wallet's recovery code for an operator, who is shown the new one or has it mailed.

use std::fmt::Display;

use actors::{Address, Handle, Rotation};
use catalog::ProjectCatalog;
use domain::text::{Email, IdempotencyKey};
use wire::{Error, ErrorCode};

use super::{mail::Mailer, recovery_mail::replacement_mail};

/// Whom a wallet's new code can be mailed to, unless an operator names an address: the buyer whose payment made it.
/// A later buyer may know a former code only.
///
/// # Errors
///
/// `no_purchase` where no payment made it, or its order has no address; else as a read of the wallet.
pub async fn code_receiver(
    handle: &Handle,
    project: &ProjectCatalog,
    address: &Address,
) -> Result<Email, Error> {
    let buyer = handle.first_buyer(&project.scope, address).await;
    let buyer = buyer.map_err(|error| Error::from_wallet(error, project))?;
    buyer.ok_or_else(|| {
        let error = Error::new(ErrorCode::NoPurchase);
        error.saying("No payment made this wallet, or its order has no address: say whom to mail the code to.")
    })
}

/// Who receives a new code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipient {
    /// The buyer whose payment made the wallet, by mail.
    FirstBuyer,
    /// An address that the caller names, by mail.
    Named,
    /// The caller, who is shown it.
    Caller,
}

/// Replaces the code, once for each key, and mails the new one to `to`, if that is somebody.
///
/// # Errors
///
/// `overloaded` where its mail has no place to wait in: nothing was done, since the new code would be lost;
/// `unavailable` where it was replaced and cannot be mailed: repeating it under the same key mails it.
pub async fn replace_code(
    handle: &Handle,
    mailer: &Mailer,
    (project, address): (&ProjectCatalog, &Address),
    to: Option<Email>,
    key: Option<&IdempotencyKey>,
) -> Result<Rotation, Error> {
    let place = to.is_some().then(|| mailer.expect());
    if place.as_ref().is_some_and(Option::is_none) {
        return Err(Error::new(ErrorCode::Overloaded));
    }
    let replaced = handle.replace_code(&project.scope, address, key).await;
    let replaced = replaced.map_err(|error| Error::from_wallet(error, project))?;
    if let Some(to) = to {
        drop(place);
        let mail = replacement_mail(&project.project.name, to, replaced.code.clone());
        if !mailer.enqueue(mail) {
            return Err(Error::new(ErrorCode::Unavailable));
        }
    }
    Ok(replaced)
}

/// What the audit log says of it, without the code and the address.
#[must_use]
pub fn in_words(replaced: &Rotation, wallet: &impl Display, recipient: Recipient) -> String {
    let sent = match recipient {
        Recipient::FirstBuyer => "mailed it to the buyer whose payment made the wallet",
        Recipient::Named => "mailed it to an address that they named",
        Recipient::Caller => "showed it",
    };
    match replaced.replayed {
        true => format!("Asked again for the new recovery code of {wallet} and {sent}"),
        false => format!("Replaced the recovery code of {wallet} and {sent}"),
    }
}

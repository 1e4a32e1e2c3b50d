//! Mails to a project's customers: sends one as a test, and sends to an address again that did not exist.

use domain::{
    catalog::{MailKind, MailLocale},
    text::Email,
};
use edge::audit::AuditEvent;
use outbound::customer_mail::AddressHash;
use wire::{Error, ErrorCode};

use crate::{Action, Execution, Operator};

needs!(Manage: ResumeMails, TestMail);

/// Lets mails be sent again to an address that the mail server did not know.
#[derive(Debug)]
pub struct ResumeMails(pub AddressHash);

/// Sends a mail with values that are made up to an operator.
#[derive(Debug)]
pub struct TestMail(pub MailKind, pub MailLocale, pub Email);

impl Action for ResumeMails {
    type Answer = ();

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let resumed = by.app.mails.resume(by.id(), self.0).await?;
        let what = "Mails are sent again to an address that was not known".to_owned();
        Ok(((), AuditEvent::once(!resumed, what)))
    }
}

impl Action for TestMail {
    type Answer = ();

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let Self(kind, locale, to) = self;
        let sent = by.app.mails.test(&by.project, (kind, locale), to).await;
        sent.map_err(|error| {
            let code = match error.is_transient() {
                true => ErrorCode::Unavailable,
                false => ErrorCode::InvalidRequest,
            };
            Error::about("to", code).saying(format!("It was not sent: {error}."))
        })?;
        Ok(((), AuditEvent::Did(format!("Sent a test mail: {kind:?}"))))
    }
}

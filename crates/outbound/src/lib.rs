//! What the service sends on its own: mails and webhooks. It must never delay a request, log an address or
//! a code, or wait without a bound.

#![allow(missing_docs, reason = "what a name says is not said again")]

pub mod customer_mail;
pub mod invitation_mail;
pub mod mail;
pub mod recovery_mail;
pub mod standard_webhooks;
pub mod webhooks;

pub use customer_mail::CustomerMails;
pub use mail::{Mail, Mailer};
pub use webhooks::{AttemptCounters, Webhooks};

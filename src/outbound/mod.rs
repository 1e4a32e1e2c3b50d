//! What leaves the service by itself: mails and webhooks. It must never hold a request up, log an address or a
//! code, or lose sight of how much waits.

pub mod mail;
pub mod recovery_mail;
pub(crate) mod standard_webhooks;
pub mod webhooks;

pub use mail::{Mail, Mailer};
pub use webhooks::Webhooks;

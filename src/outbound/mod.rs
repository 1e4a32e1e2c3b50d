//! What leaves the service by itself: mails. It must never hold a request up, log an address or a
//! code, or lose sight of how much waits.

pub mod mail;
pub mod recovery_mail;

pub use mail::{Mail, Mailer};

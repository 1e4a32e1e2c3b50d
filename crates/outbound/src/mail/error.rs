//! Why a mail was not sent. Servers often repeat addresses in their replies, so only the reply code is kept.

use std::error::Error as _;

use lettre::transport::smtp;

/// The status codes (RFC 3463, RFC 7505) that say that the receiver's address leads nowhere: no such mailbox, system or
/// syntax, moved, no mail accepted there at all, disabled. Others may be about the sender, the content, or a full mailbox; and a
/// reply without a status code may be, too.
const NO_MAILBOX: [&str; 6] = ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"];
/// The replies (RFC 5321, RFC 4954) that are about this service and no mail: not available, and those about its password.
const THIS_SERVICE: [u16; 6] = [421, 454, 530, 534, 535, 538];
/// The status of a sender who has sent too much.
const QUOTA: &str = "5.4.5";

/// Why a mail was not sent, or why none can be.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("mail.smtp_url cannot be used")]
    Settings,
    #[error("mails cannot be written: {0}")]
    Folder(#[from] std::io::Error),
    #[error("this mail cannot be sent")]
    Malformed,
    #[error("no mail server is set")]
    NoServer,
    #[error("the mail server rejected the mail with code {0}")]
    Refused(u16),
    #[error("the mail server knows no such mailbox: code {0}")]
    NoMailbox(u16),
    #[error("the mail server rejected the mail for now with code {0}")]
    Busy(u16),
    #[error("the mail server cannot be reached: {0}")]
    Unreachable(&'static str),
    /// It may have taken the mail all the same: RFC 5321, 4.5.3.2.6.
    #[error("the mail server did not answer in time")]
    TimedOut,
}

impl Error {
    /// Whether another attempt may succeed.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Unreachable(_) | Self::TimedOut | Self::Folder(_) => true,
            Self::Settings
            | Self::Malformed
            | Self::NoServer
            | Self::Refused(_)
            | Self::NoMailbox(_) => false,
        }
    }

    pub(super) fn of_attempt(error: &smtp::Error) -> Self {
        let code = error.status().map_or(0, u16::from);
        let reply = error.source().map(ToString::to_string).unwrap_or_default();
        let status = reply.split_whitespace().next().unwrap_or_default();
        if THIS_SERVICE.contains(&code) || status == QUOTA {
            Self::Unreachable("it refuses this service")
        } else if error.is_permanent() && NO_MAILBOX.contains(&status) {
            Self::NoMailbox(code)
        } else if error.is_permanent() {
            Self::Refused(code)
        } else if error.is_transient() {
            Self::Busy(code)
        } else if error.is_tls() {
            Self::Unreachable("TLS failed")
        } else if error.is_timeout() {
            Self::Unreachable("timed out")
        } else if error.is_client() {
            // STARTTLS, or a way to sign in.
            Self::Unreachable("it lacks a required extension")
        } else if error.is_response() {
            Self::Unreachable("it does not speak SMTP")
        } else {
            Self::Unreachable("no connection")
        }
    }
}

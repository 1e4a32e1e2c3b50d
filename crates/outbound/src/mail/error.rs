//! Why a mail was not sent. Servers often repeat addresses in their replies, so only the reply code is kept.

use lettre::transport::smtp;

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
    #[error("the mail server rejected the mail for now with code {0}")]
    Busy(u16),
    #[error("the mail server cannot be reached: {0}")]
    Unreachable(&'static str),
}

impl Error {
    /// Whether another attempt may succeed.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Unreachable(_) | Self::Folder(_) => true,
            Self::Settings | Self::Malformed | Self::NoServer | Self::Refused(_) => false,
        }
    }

    pub(super) fn of_attempt(error: &smtp::Error) -> Self {
        let code = error.status().map_or(0, u16::from);
        if error.is_permanent() {
            Self::Refused(code)
        } else if error.is_transient() {
            Self::Busy(code)
        } else if error.is_tls() {
            Self::Unreachable("TLS failed")
        } else if error.is_timeout() {
            Self::Unreachable("timed out")
        } else if error.is_client() {
            // Most often a non-ASCII address, or a server without STARTTLS.
            Self::Unreachable("it lacks a required extension")
        } else if error.is_response() {
            Self::Unreachable("it does not speak SMTP")
        } else {
            Self::Unreachable("no connection")
        }
    }
}

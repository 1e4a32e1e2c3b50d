//! Why a mail did not leave. Servers like to repeat addresses: what they say is kept out, but for
//! the number.

use lettre::transport::smtp;

/// A mail did not leave, or none ever will.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server cannot be spoken to as configured.
    #[error("mail.smtp_url cannot be used")]
    Settings,
    /// The folder for mails cannot be used.
    #[error("mails cannot be written: {0}")]
    Folder(#[from] std::io::Error),
    /// What it was addressed to or is made of is no mail.
    #[error("this is no mail that can be sent")]
    Malformed,
    /// There is no way to send any.
    #[error("no mail server is set")]
    NoServer,
    /// The server does not want it.
    #[error("the mail server refused with {0}")]
    Refused(u16),
    /// The server does not want it now.
    #[error("the mail server refused for now with {0}")]
    Busy(u16),
    /// The server was not reached, or did not speak as mail servers do.
    #[error("the mail server cannot be reached: {0}")]
    Unreachable(&'static str),
}

impl Error {
    /// Whether another attempt may succeed.
    #[must_use]
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
            Self::Unreachable("it took too long")
        } else if error.is_client() {
            // An address in another script, most often, or no STARTTLS.
            Self::Unreachable("it lacks an extension that is needed")
        } else if error.is_response() {
            Self::Unreachable("it does not speak SMTP")
        } else {
            Self::Unreachable("no connection")
        }
    }
}

//! How mails are sent. The address of the server holds a password: nothing shows it, errors
//! included.

use std::fmt;

use lettre::message::Mailbox;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de::Error as _};
use url::{Host, Url};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSettings {
    /// The SMTP server; `None`: mails are written as `files` says.
    #[serde(deserialize_with = "smtp_url")]
    pub smtp_url: Option<SmtpUrl>,
    /// Whether mails are written into the data directory where there is no server.
    pub files: bool,
    /// The name and address of the sender.
    #[serde(deserialize_with = "mailbox")]
    pub from: Mailbox,
}

/// The address of a mail server, with its kind of TLS and perhaps a password.
#[derive(Clone)]
pub struct SmtpUrl {
    /// The whole address.
    secret: SecretString,
    /// Scheme and host only: no password.
    shown: String,
}

impl PartialEq for SmtpUrl {
    fn eq(&self, other: &Self) -> bool {
        self.reveal() == other.reveal()
    }
}

impl Eq for SmtpUrl {}

impl SmtpUrl {
    /// The whole address, for the connection alone.
    pub fn reveal(&self) -> &str {
        self.secret.expose_secret()
    }

    fn parse(text: &str) -> Option<Self> {
        let url: Url = text.parse().ok()?;
        // Schemes other than the web's keep the host as it was written.
        let loopback = match url.host()? {
            // The mail library does not resolve IPv6 addresses, only names that lead to them.
            Host::Domain("") | Host::Ipv6(_) => return None,
            Host::Domain(name) => {
                name == "localhost"
                    || name
                        .parse::<std::net::Ipv4Addr>()
                        .is_ok_and(|ip| ip.is_loopback())
            }
            Host::Ipv4(address) => address.is_loopback(),
        };
        let secured = match (url.scheme(), url.query()) {
            ("smtps", None) | ("smtp", Some("tls=required")) => true,
            ("smtp", None | Some("tls=opportunistic")) => false,
            _ => return None,
        };
        let both = url.username().is_empty() == url.password().is_none();
        let fits = both
            && (secured || loopback || url.password().is_none())
            && matches!(url.path(), "" | "/")
            && url.fragment().is_none();
        fits.then(|| Self {
            shown: format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default()),
            secret: String::from(url).into(),
        })
    }
}

impl fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SmtpUrl({})", self.shown)
    }
}

/// An empty text means none. The error does not repeat the text.
fn smtp_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SmtpUrl>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    SmtpUrl::parse(&text).map(Some).ok_or_else(|| {
        D::Error::custom(
            "mail.smtp_url is smtps://USER:PASSWORD@HOST:PORT, \
             smtp://USER:PASSWORD@HOST:PORT?tls=required, or smtp://HOST:PORT without a password",
        )
    })
}

fn mailbox<'de, D: Deserializer<'de>>(from: D) -> Result<Mailbox, D::Error> {
    let text = String::deserialize(from)?;
    text.parse()
        .ok()
        .filter(|_| !text.contains(char::is_control))
        .ok_or_else(|| {
            D::Error::custom(format!(
                "mail.from: `{text}` is not of the form NAME <USER@HOST>"
            ))
        })
}

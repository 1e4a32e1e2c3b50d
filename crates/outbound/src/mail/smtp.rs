//! Sends mails over SMTP, with one connection each: mails are few, and servers have mostly cut an idle
//! connection by the time the next one is sent.

use std::time::Duration;

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor, message::Mailbox,
    transport::smtp::extension::ClientId,
};

use super::SmtpUrl;
use super::{compose, error::Error};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The configured server, as a transport of `lettre`.
pub(super) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    timeout: Duration,
}

impl Smtp {
    pub(super) fn new(url: &SmtpUrl, from: &Mailbox, timeout: Duration) -> Result<Self, Error> {
        // Fails only where a provider is installed already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        // Servers reject a HELO name that does not resolve; the sender's domain does.
        let hello = ClientId::Domain(compose::ascii_domain(from)?);
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.reveal())
            // The library's error might repeat the URL, which holds a password.
            .map_err(|_| Error::Settings)?
            .timeout(Some(CONNECT_TIMEOUT))
            .hello_name(hello)
            .build();
        Ok(Self { transport, timeout })
    }

    pub(super) async fn send(&self, message: &Message) -> Result<(), Error> {
        let envelope = message.envelope().clone();
        let is_ascii = envelope.to().iter().all(|to| to.user().is_ascii());
        let bytes = message.formatted();
        // The library bounds only connecting; this bounds a server that stalls later.
        let sent = self.transport.send_raw(&envelope, &bytes);
        match tokio::time::timeout(self.timeout, sent).await {
            Ok(Ok(_)) => Ok(()),
            // The server lacks what this address needs.
            Ok(Err(error)) if error.is_client() && !is_ascii => Err(Error::Malformed),
            Ok(Err(error)) => Err(Error::of_attempt(&error)),
            Err(_) => Err(Error::TimedOut),
        }
    }
}

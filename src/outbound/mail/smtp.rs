//! Mails over SMTP, one connection each: they are few, and a connection that was kept is mostly one
//! that was cut.

use std::time::Duration;

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor, message::Mailbox,
    transport::smtp::extension::ClientId,
};

use super::{Error, compose};
use crate::config::SmtpUrl;

/// The server.
pub(super) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    timeout: Duration,
}

impl Smtp {
    pub(super) fn new(url: &SmtpUrl, from: &Mailbox, timeout: Duration) -> Result<Self, Error> {
        // Refused only where one is chosen already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        // Servers reject names without a meaning; the sender's domain has one.
        let hello = ClientId::Domain(compose::ascii_domain(from)?);
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.reveal())
            // What the library says of it might repeat it.
            .map_err(|_| Error::Settings)?
            .timeout(Some(timeout))
            .hello_name(hello)
            .build();
        Ok(Self { transport, timeout })
    }

    pub(super) async fn send(&self, message: &Message) -> Result<(), Error> {
        let envelope = message.envelope().clone();
        let bytes = message.formatted();
        // The library bounds the connection; a server that stalls later is bounded here.
        let sent = self.transport.send_raw(&envelope, &bytes);
        match tokio::time::timeout(self.timeout, sent).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Error::of_attempt(&error)),
            Err(_) => Err(Error::Unreachable("it took too long")),
        }
    }
}

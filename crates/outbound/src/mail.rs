//! Mail: sent over SMTP where a server is configured, written as `.eml` files to the data directory where
//! that is configured, otherwise not sent.
//!
//! [`Mailer::enqueue`] never waits: when the queue is full, the mail is dropped and the drop is logged. The
//! queue is in memory only: after a crash the user has to ask for the mail again. Nothing here logs an
//! address, a subject or a body.

mod compose;
mod error;
mod folder;
mod message;
mod queue;
mod settings;
mod smtp;

use std::{path::Path, sync::Arc, time::Duration};

use folder::Folder;
use lettre::{Message, message::Mailbox};
use queue::Queue;
use smtp::Smtp;
use tokio::sync::OwnedSemaphorePermit;

pub(super) use compose::{can_receive, one_line};
pub use error::Error;
pub use message::{Mail, MailHeaders};
pub use settings::{MailSettings, SmtpUrl};

/// Timeouts, retries and the size of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailOptions {
    /// Limit for one attempt, from connecting to the server's final reply, for which some take long.
    pub attempt_timeout: Duration,
    /// Pauses before the second attempt, the third, …: there is one attempt more than there are pauses.
    pub pauses: Vec<Duration>,
    /// Most mails in progress, those that wait for a retry included; any beyond are dropped.
    pub queue: usize,
    /// Mails that are sent concurrently.
    pub at_once: usize,
}

impl Default for MailOptions {
    fn default() -> Self {
        Self {
            attempt_timeout: Duration::from_secs(60),
            pauses: [2, 15, 120].map(Duration::from_secs).to_vec(),
            queue: 1000,
            at_once: 4,
        }
    }
}

/// Sends mails. Cheap to clone.
#[derive(Clone)]
pub struct Mailer {
    post: Arc<Post>,
    queue: Arc<Queue>,
}

/// Sends one mail directly, without the queue.
struct Post {
    from: Mailbox,
    way: Way,
    options: MailOptions,
}

enum Way {
    Smtp(Smtp),
    Folder(Folder),
    Nowhere,
}

impl Mailer {
    /// Starts as configured. Must be called within a tokio runtime: it spawns the queue's task there.
    /// # Errors
    /// The server's address cannot be used, TLS cannot be set up, or the folder cannot be made.
    pub fn start(settings: &MailSettings, data_dir: &Path) -> Result<Self, Error> {
        Self::start_with(settings, data_dir, MailOptions::default())
    }

    /// Like [`Self::start`], with these timeouts, retries and bounds of the queue.
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(
        settings: &MailSettings,
        data_dir: &Path,
        options: MailOptions,
    ) -> Result<Self, Error> {
        let way = match &settings.smtp_url {
            Some(url) => Way::Smtp(Smtp::new(url, &settings.from, options.attempt_timeout)?),
            None if settings.files => {
                tracing::info!("No mail server is set: mails are written to files and not sent");
                Way::Folder(Folder::open(data_dir)?)
            }
            None => {
                tracing::info!("No mail server is set (mail.smtp_url): lost codes are not mailed");
                Way::Nowhere
            }
        };
        let from = settings.from.clone();
        let post = Arc::new(Post { from, way, options });
        let queue = Arc::new(Queue::start(Arc::clone(&post)));
        Ok(Self { post, queue })
    }

    /// Makes one attempt, now. Returns once the server has accepted the mail, or its file is durable.
    /// # Errors
    /// The mail was not accepted; [`Error::is_transient`] says whether another attempt makes sense.
    pub async fn send(&self, mail: Mail) -> Result<(), Error> {
        self.post.attempt(&self.post.compose(&mail)?).await
    }

    /// Queues a mail and returns at once. It is tried a few times; a final failure is logged. `false`: the
    /// queue was full or is shutting down, and the mail was dropped.
    pub fn enqueue(&self, mail: Mail) -> bool {
        self.queue.push(mail)
    }

    /// Reserves a place in the queue for a mail that may follow from a look-up; `None`: the queue is full. Drop
    /// it once the look-up is over and the mail, if any, is queued.
    pub fn expect(&self) -> Option<OwnedSemaphorePermit> {
        self.queue.expect()
    }

    /// Whether mails go anywhere.
    pub fn is_configured(&self) -> bool {
        !matches!(self.post.way, Way::Nowhere)
    }

    /// Mails queued and not yet sent or failed, reserved places included.
    pub fn under_way(&self) -> usize {
        self.queue.under_way()
    }

    /// Accepts no more mails, tries each queued one once more, and waits at most `grace` for that.
    pub async fn shut_down(&self, grace: Duration) {
        self.queue.shut_down(grace).await;
    }
}

impl Post {
    fn compose(&self, mail: &Mail) -> Result<Message, Error> {
        compose::message(&self.from, mail)
    }

    async fn attempt(&self, message: &Message) -> Result<(), Error> {
        match &self.way {
            Way::Smtp(smtp) => smtp.send(message).await,
            Way::Folder(folder) => folder.write(message.formatted()).await,
            Way::Nowhere => Err(Error::NoServer),
        }
    }
}

#[cfg(test)]
mod tests;

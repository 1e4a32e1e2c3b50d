//! Mails: over SMTP where a server is configured, as `.eml` files in the data directory where that was
//! asked for, else not at all.
//!
//! [`Mailer::enqueue`] never waits: a mail that finds the queue full is dropped and said so in the
//! log. What is queued lives in memory alone: a mail that a crash takes with it is asked for again.
//! Nothing here logs an address, a subject or a body.

mod compose;
mod error;
mod folder;
mod queue;
mod smtp;

use std::{fmt, path::Path, sync::Arc, time::Duration};

use domain::text::Email;
use lettre::{Message, message::Mailbox};

pub(super) use compose::one_line;
pub use error::Error;

use crate::config;
use folder::Folder;
pub use queue::Expected;
use queue::Queue;
use smtp::Smtp;

/// One mail to one person.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// Whom it is for.
    pub to: Email,
    /// One line; anything else in it becomes a space.
    pub subject: String,
    /// What it says.
    pub text: String,
    /// The same for programs that show HTML. Loads nothing.
    pub html: Option<String>,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mail(..)")
    }
}

/// How long and how often a mail is tried, and how many wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// For one attempt, from the connection to the server's word.
    pub attempt_timeout: Duration,
    /// Before the second attempt, the third, …: one attempt more than there are pauses.
    pub pauses: Vec<Duration>,
    /// Mails under way, those that wait for another attempt included; more are dropped.
    pub queue: usize,
    /// Mails that are tried at once.
    pub at_once: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            attempt_timeout: Duration::from_secs(20),
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

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mailer(..)")
    }
}

/// The way out, without the queue in front of it.
struct Post {
    from: Mailbox,
    way: Way,
    options: Options,
}

enum Way {
    Smtp(Smtp),
    Folder(Folder),
    Nowhere,
}

impl Mailer {
    /// As configured. To be called within the runtime, which then has the queue's task.
    ///
    /// # Errors
    ///
    /// The server's address cannot be used, TLS cannot be set up, or the folder cannot be made.
    pub fn start(settings: &config::Mail, data_dir: &Path) -> Result<Self, Error> {
        Self::with(settings, data_dir, Options::default())
    }

    /// The same, otherwise timed.
    ///
    /// # Errors
    ///
    /// As [`Self::start`].
    pub fn with(settings: &config::Mail, data_dir: &Path, options: Options) -> Result<Self, Error> {
        let way = match &settings.smtp_url {
            Some(url) => Way::Smtp(Smtp::new(url, &settings.from, options.attempt_timeout)?),
            None if settings.files => {
                tracing::info!("No mail server is set: mails become files and reach nobody");
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

    /// One attempt, now. Returns once the server has taken the mail over, or its file is durable.
    ///
    /// # Errors
    ///
    /// It was not taken; whether another attempt makes sense is said by [`Error::is_transient`].
    pub async fn send(&self, mail: Mail) -> Result<(), Error> {
        self.post.attempt(&self.post.compose(&mail)?).await
    }

    /// Hands a mail to the background and returns at once, whatever becomes of it. It is tried a few
    /// times; that it failed is logged. `false`: there were too many already, and it was dropped.
    pub fn enqueue(&self, mail: Mail) -> bool {
        self.queue.push(mail)
    }

    /// Counts a mail that may come of what is looked up for it, as if it waited already; `None`: too
    /// many wait. To be dropped when it is known and handed over.
    #[must_use]
    pub fn expect(&self) -> Option<Expected> {
        self.queue.expect()
    }

    /// Mails taken on and not yet sent or given up, and those that are expected.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.queue.under_way()
    }

    /// Takes no more mails, tries what is queued once more, and waits for that at most so long.
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

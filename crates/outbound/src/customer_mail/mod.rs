//! Mails to a project's customers: a low balance, an automatic top-up that stopped or has to be confirmed, a limit that was
//! reached, a receipt. Each follows from one event (`content.rs`), so that there is one for each crossing.
//!
//! The log is the outbox: a project's events are read from a cursor that is written behind the mails that were sent
//! (`worker.rs`). What waits for another attempt, or failed, is a note (`outbox.rs`). A crash repeats at most the mails under
//! way, with the same message ids. No address gets mails whose owner unsubscribed (`links.rs`) or that does not exist
//! (`suppressions.rs`). Texts are the project's own (`template.rs`) or built in, within one frame (`frame.rs`).

mod content;
mod frame;
mod links;
mod outbox;
mod suppressions;
mod template;
mod worker;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use actors::{
    Cipher, Handle,
    notes::{self, ErasedKind},
};
use catalog::{CatalogStore, ProjectCatalog};
use domain::{
    Timestamp,
    catalog::{MailChange, MailKind, MailLocale, MailSettings, MailTemplate},
    id::ProjectId,
    text::Email,
};
use parking_lot::Mutex;
use persistence::Note;
use tokio::task::JoinHandle;
use wire::Error;

use self::{
    content::{MailWriter, built_in},
    links::Links,
    outbox::{MailProgressNote, Outbox, OutboxNote},
    suppressions::{SuppressionNote, Suppressions},
    template::{Values, render},
};
use crate::mail::{self, Mail, MailHeaders, Mailer, can_receive, one_line};

pub use self::{
    links::MailSubscription,
    outbox::{MailProgress, QueuedMail},
    suppressions::{AddressHash, Suppression},
};

/// The kinds of notes that are kept here.
pub const NOTE_KINDS: [ErasedKind; 3] = [
    ErasedKind::of::<SuppressionNote>(),
    ErasedKind::of::<MailProgressNote>(),
    ErasedKind::of::<OutboxNote>(),
];

/// How often new events and retries are looked for.
const INTERVAL: Duration = Duration::from_secs(1);
/// The most characters of a subject as it is sent.
const MAX_SUBJECT: usize = 200;

/// The mails to the customers of all projects. Cheap to clone.
#[derive(Clone)]
pub struct CustomerMails(Arc<Inner>);

struct Inner {
    handle: Handle,
    catalog: Arc<CatalogStore>,
    mailer: Mailer,
    links: Links,
    suppressions: Suppressions,
    outboxes: Mutex<BTreeMap<ProjectId, Outbox>>,
    pause: Mutex<Pause>,
    /// Notes that could not be written yet.
    unwritten: Mutex<Vec<Note>>,
    /// Whether no more mails are begun.
    stopping: AtomicBool,
    /// Held by the round that runs: how many there were.
    turn: tokio::sync::Mutex<usize>,
}

/// While the mail server cannot be reached, mails are tried now and then.
#[derive(Debug, Clone, Copy, Default)]
struct Pause {
    failures: u32,
    since: Option<Timestamp>,
    until: Timestamp,
}

/// The state of a project's mails, for an operator.
#[derive(Debug)]
pub struct MailReport {
    /// Whether mails go anywhere.
    pub is_configured: bool,
    /// Since when the mail server has not been reached.
    pub unreachable_since: Option<Timestamp>,
    /// Mails that wait for another attempt.
    pub waiting: usize,
    pub progress: MailProgress,
    /// Mails that failed, newest first.
    pub failed: Vec<QueuedMail>,
}

/// A mail's subject and bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailText {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// Sends mails until it is stopped.
pub struct Sending {
    mails: CustomerMails,
    task: JoinHandle<()>,
}

impl Sending {
    /// Begins no more mails and waits at most `grace` for those under way.
    pub async fn stop(self, grace: Duration) {
        self.mails.0.stopping.store(true, Ordering::Relaxed);
        let turn = tokio::time::timeout(grace, self.mails.0.turn.lock()).await;
        if turn.is_err() {
            tracing::warn!(
                "Mails were under way at the shutdown: some may be sent again after the next start"
            );
        }
        // Before another round can take the turn. What is still under way ends with its task.
        self.task.abort();
        drop(turn);
    }
}

impl CustomerMails {
    /// Loads what an earlier process left. `base` is the address where customers reach this service.
    /// # Errors
    /// [`notes::Error`] where a note cannot be read.
    pub fn new(
        handle: &Handle,
        catalog: &Arc<CatalogStore>,
        mailer: Mailer,
        (cipher, base): (Cipher, String),
    ) -> Result<Self, notes::Error> {
        Ok(Self(Arc::new(Inner {
            handle: handle.clone(),
            catalog: Arc::clone(catalog),
            mailer,
            links: Links { cipher, base },
            suppressions: Suppressions::new(handle.clone()),
            outboxes: Mutex::new(outbox::stored(handle)?),
            pause: Mutex::default(),
            unwritten: Mutex::default(),
            stopping: AtomicBool::default(),
            turn: tokio::sync::Mutex::default(),
        })))
    }

    /// Starts to send, beginning with what an earlier process left.
    #[must_use]
    pub fn start(&self) -> Sending {
        self.0.stopping.store(false, Ordering::Relaxed);
        let mails = self.clone();
        let task = tokio::spawn(async move {
            loop {
                while mails.round().await {}
                tokio::time::sleep(INTERVAL).await;
            }
        });
        let mails = self.clone();
        Sending { mails, task }
    }

    /// Sends some of what is due; returns whether there is more to do at once.
    pub async fn round(&self) -> bool {
        let mut rounds = self.0.turn.lock().await;
        worker::round(&self.0, &mut rounds).await
    }

    /// What an operator sees of a project's mails.
    pub fn report(&self, project: ProjectId) -> MailReport {
        let outboxes = self.0.outboxes.lock();
        let outbox = outboxes.get(&project);
        MailReport {
            is_configured: self.0.mailer.is_configured(),
            unreachable_since: self.0.pause.lock().since,
            waiting: outbox.map_or(0, Outbox::waiting),
            progress: outbox
                .map(|outbox| outbox.progress.clone())
                .unwrap_or_default(),
            failed: outbox.map(Outbox::failed).unwrap_or_default(),
        }
    }

    /// A mail of this kind with values that are made up.
    pub fn preview(
        &self,
        project: &ProjectCatalog,
        kind: MailKind,
        locale: MailLocale,
    ) -> MailText {
        let writer = MailWriter { project, locale };
        let values = writer.sample(kind, self.0.handle.now());
        let leave = kind
            .is_optional()
            .then(|| format!("{}/mails", self.0.links.base));
        composed(&writer, kind, &values, leave.as_deref())
    }

    /// Sends such a mail to an operator, once.
    /// # Errors
    /// It was not accepted.
    pub async fn test(
        &self,
        project: &ProjectCatalog,
        (kind, locale): (MailKind, MailLocale),
        to: Email,
    ) -> Result<(), mail::Error> {
        let text = self.preview(project, kind, locale);
        let mail = addressed(&MailWriter { project, locale }, to, text);
        self.0.mailer.send(mail).await
    }

    /// Which mails the link with this token is about; `None`: it is not one of this project's.
    pub fn subscription(&self, project: ProjectId, token: &str) -> Option<MailSubscription> {
        self.0.links.read(project, token)
    }

    /// Unsubscribes an address from a kind of mails, or subscribes it again; returns once that is durable.
    /// # Errors
    /// `unavailable`: it could not be written, or may not have been.
    pub async fn subscribe(&self, to: &MailSubscription, wanted: bool) -> Result<(), Error> {
        let at = self.0.handle.now();
        let change = |before: Option<Suppression>| {
            let mut after = before.unwrap_or(Suppression::new(to.wallet, at));
            let is_news = match wanted {
                true => after.unsubscribed.remove(&to.kind),
                false => after.unsubscribed.insert(to.kind),
            };
            if is_news {
                after.at = at;
            }
            Some(after)
        };
        let suppressions = &self.0.suppressions;
        let changed = suppressions.change((to.project, to.address), change).await;
        changed.map(drop)
    }

    /// To which addresses a project does not send all mails, newest first.
    /// # Errors
    /// `unavailable`.
    pub async fn suppressions(
        &self,
        project: ProjectId,
    ) -> Result<Vec<(AddressHash, Suppression)>, Error> {
        self.0.suppressions.of(project).await
    }

    /// Lets mails be sent to an address again that was not known; returns whether it was. Who unsubscribed stays so.
    /// # Errors
    /// `unavailable`.
    pub async fn resume(&self, project: ProjectId, address: AddressHash) -> Result<bool, Error> {
        let known = |before| Suppression {
            no_mailbox: None,
            ..before
        };
        let change = |before: Option<Suppression>| before.map(known);
        self.0.suppressions.change((project, address), change).await
    }
}

/// The template of a mail: the project's own, or else the built-in one.
pub fn template(project: &ProjectCatalog, kind: MailKind, locale: MailLocale) -> MailTemplate {
    let own = project.project.mails.template(kind, locale);
    own.cloned().unwrap_or_else(|| {
        let (subject, text) = built_in(kind, locale);
        let [subject, text] = [subject, text].map(str::to_owned);
        MailTemplate {
            kind,
            locale,
            subject,
            text,
            html: None,
        }
    })
}

/// The names of values in a template.
pub fn names(project: &ProjectCatalog, kind: MailKind) -> Vec<&'static str> {
    let locale = MailLocale::default();
    let values = MailWriter { project, locale }.sample(kind, Timestamp::default());
    values.into_keys().collect()
}

/// Refuses settings that mails cannot be made of.
/// # Errors
/// `invalid_request` about the setting, with the line of a template that is at fault.
pub fn check(project: &ProjectCatalog, change: &MailChange) -> Result<(), Error> {
    if let Some(Some(address)) = &change.reply_to
        && !can_receive(address.as_str())
    {
        return Err(Error::invalid(
            "mails.replyTo",
            "This must be one e-mail address.",
        ));
    }
    for (at, own) in change.templates.iter().flatten().enumerate() {
        let locale = own.locale;
        let values = MailWriter { project, locale }.sample(own.kind, Timestamp::default());
        // Each branch of a condition is rendered once.
        let empty = values.keys().map(|name| (*name, String::new())).collect();
        for values in [values, empty] {
            let parts = [
                ("subject", Some(&own.subject), false),
                ("text", Some(&own.text), false),
                ("html", own.html.as_ref(), true),
            ];
            for (field, source, is_html) in parts {
                let rendered = source.map(|source| render(source, is_html, &values));
                if let Some(Err(error)) = rendered {
                    let param = format!("mails.templates[{at}].{field}");
                    return Err(Error::invalid(param, format!("In {error}.")));
                }
            }
        }
    }
    Ok(())
}

/// A mail in its frame, by the project's template or the built-in one.
fn composed(
    writer: &MailWriter<'_>,
    kind: MailKind,
    values: &Values,
    leave: Option<&str>,
) -> MailText {
    let settings: &MailSettings = &writer.project.project.mails;
    let render_all = |subject: &str, text: &str, html: Option<&str>| {
        let subject = one_line(&render(subject, false, values)?);
        let text = render(text, false, values)?;
        let html = match html {
            Some(html) => maud::PreEscaped(render(html, true, values)?),
            None => frame::paragraphs(&text),
        };
        Ok::<_, String>(MailText {
            subject: subject.chars().take(MAX_SUBJECT).collect(),
            text: frame::plain(writer, &text, leave),
            html: frame::page(writer, &html, leave),
        })
    };
    if let Some(own) = settings.template(kind, writer.locale) {
        match render_all(&own.subject, &own.text, own.html.as_deref()) {
            Ok(mail) => return mail,
            Err(error) => {
                tracing::warn!(%error, ?kind, "A template of a mail cannot be rendered: the built-in one is used");
            }
        }
    }
    let (subject, text) = built_in(kind, writer.locale);
    // Each is rendered by a test.
    render_all(subject, text, None).unwrap_or_else(|error| MailText {
        subject: String::new(),
        html: String::new(),
        text: error,
    })
}

/// The text as a mail from the project.
fn addressed(writer: &MailWriter<'_>, to: Email, text: MailText) -> Mail {
    Mail {
        to,
        subject: text.subject,
        text: text.text,
        html: Some(text.html),
        headers: MailHeaders {
            from_name: Some(writer.sender()),
            reply_to: writer.project.project.mails.reply_to.clone(),
            ..MailHeaders::default()
        },
    }
}

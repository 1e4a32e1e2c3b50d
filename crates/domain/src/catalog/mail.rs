//! The mails that a project's customers get: which are sent, how they look, and the templates that replace the built-in
//! ones. What a template may contain is checked where it is rendered.

use serde::{Deserialize, Serialize};

use super::{
    Refusal,
    rules::{self, MAX_NAME},
};
use crate::text::Email;

/// The most characters of a template's subject.
const MAX_SUBJECT: usize = 200;
/// The most bytes of all templates together, so that the project fits one append of the log.
const MAX_TEMPLATES: usize = 32_000;
const MAX_FOOTER: usize = 1000;

/// What a mail is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MailKind {
    /// A balance fell to the product's threshold.
    LowBalance,
    /// Automatic top-ups stopped.
    TopUpFailed,
    /// The bank wants the buyer to confirm an automatic top-up. Sent where [`Self::TopUpFailed`] is.
    ActionRequired,
    /// A limit refused a use for the first time in its window.
    LimitReached,
    /// An order was paid.
    Receipt,
}

impl MailKind {
    /// Every kind, in the order of the dashboard.
    pub const ALL: [Self; 5] = [
        Self::LowBalance,
        Self::TopUpFailed,
        Self::ActionRequired,
        Self::LimitReached,
        Self::Receipt,
    ];

    /// Whether its receiver may unsubscribe. Not from the proof of what they paid, nor from what they have to confirm for a
    /// payment that they ordered: those are part of a contract, and each has a payment of its own.
    pub const fn is_optional(self) -> bool {
        !matches!(self, Self::ActionRequired | Self::Receipt)
    }
}

/// A language that there are built-in templates in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say which")]
pub enum MailLocale {
    #[default]
    En,
    De,
    Fr,
}

impl MailLocale {
    /// Every language, in the order of the built-in texts.
    pub const ALL: [Self; 3] = [Self::En, Self::De, Self::Fr];

    /// The language of a tag such as `de-AT`; `None`: there are no mails in it.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let language = tag.split('-').next().unwrap_or_default();
        match language.to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "de" => Some(Self::De),
            "fr" => Some(Self::Fr),
            _ => None,
        }
    }
}

/// A project's own text of a mail, in place of the built-in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct MailTemplate {
    pub kind: MailKind,
    pub locale: MailLocale,
    /// A single line of text.
    pub subject: String,
    /// The plain text.
    pub text: String,
    /// The same as HTML; `None`: the plain text's paragraphs.
    pub html: Option<String>,
}

/// Which mails a project sends to its customers, and how they look. Of each kind it has the number of the log's last event
/// when the kind was switched on: later ones are mailed. `None`: it is off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are named as the kinds are")]
pub struct MailSettings {
    pub low_balance: Option<u64>,
    pub top_up_failed: Option<u64>,
    pub limit_reached: Option<u64>,
    pub receipt: Option<u64>,
    /// The language where the buyer's is not known.
    pub locale: MailLocale,
    /// The sender's name; `None`: the project's.
    pub name: Option<String>,
    /// The colour of the heading and of links, as `#rrggbb`.
    pub color: Option<String>,
    /// Where answers go.
    pub reply_to: Option<Email>,
    /// What every mail ends with, such as the sender's postal address.
    pub footer: Option<String>,
    pub templates: Vec<MailTemplate>,
}

impl MailSettings {
    /// No mails at all.
    pub const NONE: Self = Self {
        low_balance: None,
        top_up_failed: None,
        limit_reached: None,
        receipt: None,
        locale: MailLocale::En,
        name: None,
        color: None,
        reply_to: None,
        footer: None,
        templates: Vec::new(),
    };

    /// The number of the event after which mails of this kind are sent, if they are.
    pub const fn since(&self, kind: MailKind) -> Option<u64> {
        match kind {
            MailKind::LowBalance => self.low_balance,
            MailKind::TopUpFailed | MailKind::ActionRequired => self.top_up_failed,
            MailKind::LimitReached => self.limit_reached,
            MailKind::Receipt => self.receipt,
        }
    }

    /// The number of the event after which mails of any kind are sent, if they are.
    pub fn since_any(&self) -> Option<u64> {
        let since = MailKind::ALL
            .into_iter()
            .filter_map(|kind| self.since(kind));
        since.min()
    }

    /// Whether any mails are sent.
    pub fn is_on(&self) -> bool {
        self.since_any().is_some()
    }

    /// Whether mails of this kind are sent.
    pub const fn sends(&self, kind: MailKind) -> bool {
        self.since(kind).is_some()
    }

    /// Whether a mail of this kind is sent about the event with this number.
    pub fn sends_about(&self, kind: MailKind, event: u64) -> bool {
        self.since(kind).is_some_and(|since| event > since)
    }

    /// Lets kinds that a change switched on begin after this event, the log's last.
    pub fn begin_after(&mut self, event: u64) {
        let Self {
            low_balance,
            top_up_failed,
            limit_reached,
            receipt,
            ..
        } = self;
        for since in [low_balance, top_up_failed, limit_reached, receipt] {
            *since = since.map(|since| since.min(event));
        }
    }

    /// The project's own template, if it has one.
    pub fn template(&self, kind: MailKind, locale: MailLocale) -> Option<&MailTemplate> {
        let mut templates = self.templates.iter();
        templates.find(|it| it.kind == kind && it.locale == locale)
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        rules::optional_text("mails.name", self.name.as_deref(), MAX_NAME)?;
        let is_color = |text: &str| {
            let digits = text.strip_prefix('#').unwrap_or_default();
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        let fits = self.color.as_deref().is_none_or(is_color);
        rules::ensure(fits, "mails.color", "A colour is written as #1a2b3c.")?;
        let footer = self.footer.as_deref().unwrap_or_default();
        let fits = footer.chars().count() <= MAX_FOOTER && is_plain(footer);
        let message = format!("A footer has at most {MAX_FOOTER} characters.");
        rules::ensure(fits, "mails.footer", message)?;
        let mut bytes = 0_usize;
        for (at, template) in self.templates.iter().enumerate() {
            let param = |field: &str| format!("mails.templates[{at}]{field}");
            rules::text(&param(".subject"), &template.subject, MAX_SUBJECT)?;
            let html = template.html.as_deref();
            for (field, text) in [(".text", Some(template.text.as_str())), (".html", html)] {
                let Some(text) = text else { continue };
                let fits = !text.trim().is_empty() && is_plain(text);
                let message = "It is empty, or has control characters.";
                rules::ensure(fits, &param(field), message)?;
                bytes = bytes.saturating_add(text.len());
            }
            bytes = bytes.saturating_add(template.subject.len());
            let first = self.template(template.kind, template.locale);
            let fits = first.is_some_and(|first| std::ptr::eq(first, template));
            rules::ensure(
                fits,
                &param(""),
                "There is another of this kind and locale.",
            )?;
        }
        let message = format!("All templates together have at most {MAX_TEMPLATES} bytes.");
        rules::ensure(bytes <= MAX_TEMPLATES, "mails.templates", message)
    }
}

/// Whether a text has no control characters but line ends and tabs.
fn is_plain(text: &str) -> bool {
    let is_space = |c: char| matches!(c, '\n' | '\r' | '\t');
    !text.contains(|c: char| c.is_control() && !is_space(c))
}

/// A change of the settings; `None` leaves one as it is, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of MailSettings")]
pub struct MailChange {
    pub low_balance: Option<bool>,
    pub top_up_failed: Option<bool>,
    pub limit_reached: Option<bool>,
    pub receipt: Option<bool>,
    pub locale: Option<MailLocale>,
    pub name: Option<Option<String>>,
    pub color: Option<Option<String>>,
    pub reply_to: Option<Option<Email>>,
    pub footer: Option<Option<String>>,
    /// All of the project's own templates.
    pub templates: Option<Vec<MailTemplate>>,
}

impl MailChange {
    /// The settings after the change. Kinds that it switches on are sent about no event until
    /// [`MailSettings::begin_after`] is called.
    /// # Errors
    /// [`Refusal::Invalid`] for the first setting out of its bounds.
    pub fn decide(self, old: MailSettings) -> Result<MailSettings, Refusal> {
        let since = |is_on: Option<bool>, old: Option<u64>| match is_on {
            Some(true) => old.or(Some(u64::MAX)),
            Some(false) => None,
            None => old,
        };
        let mails = MailSettings {
            low_balance: since(self.low_balance, old.low_balance),
            top_up_failed: since(self.top_up_failed, old.top_up_failed),
            limit_reached: since(self.limit_reached, old.limit_reached),
            receipt: since(self.receipt, old.receipt),
            locale: self.locale.unwrap_or(old.locale),
            name: self.name.unwrap_or(old.name),
            color: self.color.unwrap_or(old.color),
            reply_to: self.reply_to.unwrap_or(old.reply_to),
            footer: self.footer.unwrap_or(old.footer),
            templates: self.templates.unwrap_or(old.templates),
        };
        mails.check()?;
        Ok(mails)
    }
}

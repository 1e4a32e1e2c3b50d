//! The mails of a project, as its change has them.

use domain::catalog::{MailChange, MailTemplate};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{EmailText, MailKindText, MailLocaleText, NameText, Object, Text, line},
};

use crate::http::patch::Field;

/// What to change of a project's mails. What is left out stays.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MailChange)]
pub(super) struct UpdateMails {
    /// Whether a balance that falls to its product's threshold is mailed.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    low_balance: Field<bool>,
    /// Whether automatic top-ups that stop, or that the buyer has to confirm, are mailed.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    top_up_failed: Field<bool>,
    /// Whether a limit that refuses a use for the first time in its window is mailed.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    limit_reached: Field<bool>,
    /// Whether each payment's receipt is mailed.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    receipt: Field<bool>,
    /// The language where the buyer's is not known.
    #[schema(value_type = Option<MailLocaleText>, nullable = false)]
    #[serde(default)]
    locale: Field<MailLocaleText>,
    /// The sender's name; null: the project's.
    #[schema(value_type = Option<NameText>)]
    #[serde(default)]
    name: Field<NameText>,
    /// The colour of the heading and of links; null: a dark grey.
    #[schema(value_type = Option<String>, pattern = "^#[0-9a-fA-F]{6}$", example = "#1a2b3c")]
    #[serde(default)]
    color: Field<String>,
    /// Where answers go; null: to the sender's address.
    #[schema(value_type = Option<EmailText>)]
    #[serde(default)]
    reply_to: Field<EmailText>,
    /// What every mail ends with.
    #[schema(value_type = Option<String>, max_length = 1000)]
    #[serde(default)]
    footer: Field<String>,
    /// All texts in place of built-in ones, of at most 32,000 bytes together.
    #[schema(value_type = Option<Vec<Template>>, nullable = false)]
    #[serde(default)]
    templates: Field<Vec<Object<Template>>>,
}

/// A text of a mail: with `{{ name }}` for a value, and `{% if name %}…{% endif %}`.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewMailTemplate)]
struct Template {
    kind: MailKindText,
    locale: MailLocaleText,
    /// A single line of text.
    subject: NameText,
    /// The plain text.
    text: String,
    /// The same as HTML; null: the plain text's paragraphs.
    html: Option<String>,
}

impl UpdateMails {
    /// The change, whose fields are named in errors as they are in a project.
    pub(super) fn read(self) -> Result<MailChange, Error> {
        let templates = self.templates.not_null("mails.templates")?;
        let template = |Object(it): Object<Template>| MailTemplate {
            kind: it.kind.0,
            locale: it.locale.0,
            subject: line(it.subject),
            text: it.text,
            html: it.html,
        };
        Ok(MailChange {
            low_balance: self.low_balance.not_null("mails.lowBalance")?,
            top_up_failed: self.top_up_failed.not_null("mails.topUpFailed")?,
            limit_reached: self.limit_reached.not_null("mails.limitReached")?,
            receipt: self.receipt.not_null("mails.receipt")?,
            locale: self.locale.not_null("mails.locale")?.map(|Text(it)| it),
            name: self.name.nullable().map(|name| name.map(line)),
            color: self.color.nullable(),
            reply_to: self.reply_to.nullable().map(|to| to.map(|Text(to)| to)),
            footer: self.footer.nullable(),
            templates: templates.map(|all| all.into_iter().map(template).collect()),
        })
    }
}

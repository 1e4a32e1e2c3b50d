//! What is mailed.

use domain::text::Email;

/// One mail to one recipient.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// The recipient's address.
    pub to: Email,
    /// One line; anything else in it becomes a space.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The same body as HTML. Loads nothing.
    pub html: Option<String>,
    pub headers: MailHeaders,
}

/// What else the head of a mail says.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MailHeaders {
    /// The sender's name, in place of the configured one.
    pub from_name: Option<String>,
    /// Where answers go.
    pub reply_to: Option<Email>,
    /// What its message id begins with, the same in each repeat; `None`: each mail has another.
    pub id: Option<String>,
    /// The page where its receiver unsubscribes from mails of its kind.
    pub unsubscribe: Option<String>,
}

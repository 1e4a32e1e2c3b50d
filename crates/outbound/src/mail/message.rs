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
}

//! Builds a mail as it is sent. Text from outside can never begin a header line.

use lettre::{
    Address, Message,
    message::{Mailbox, MultiPart},
};
use uuid::Uuid;

use super::{error::Error, message::Mail};

/// Builds the message with its date and message id. Both are the same in each attempt, so that a server
/// whose reply was lost can recognize a duplicate.
pub(super) fn message(from: &Mailbox, mail: &Mail) -> Result<Message, Error> {
    let id = format!("<{}@{}>", Uuid::now_v7().simple(), ascii_domain(from)?);
    let builder = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, address(mail.to.as_str())?))
        .subject(one_line(&mail.subject))
        .date_now()
        .message_id(Some(id));
    let message = match &mail.html {
        Some(html) => builder.multipart(MultiPart::alternative_plain_html(
            mail.text.clone(),
            html.clone(),
        )),
        None => builder.singlepart(lettre::message::SinglePart::plain(mail.text.clone())),
    };
    message.map_err(|_| Error::Malformed)
}

/// Control characters and line ends become spaces, and several spaces one.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|c| {
            let breaks = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
            if breaks { ' ' } else { c }
        })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A mail address with its domain in ASCII, which every server accepts.
fn address(text: &str) -> Result<Address, Error> {
    let (user, domain) = text.rsplit_once('@').ok_or(Error::Malformed)?;
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(Error::Malformed);
    }
    let domain = to_ascii(domain)?;
    Address::new(user, domain).map_err(|_| Error::Malformed)
}

pub(super) fn ascii_domain(from: &Mailbox) -> Result<String, Error> {
    to_ascii(from.email.domain())
}

fn to_ascii(domain: &str) -> Result<String, Error> {
    if domain.is_ascii() {
        return Ok(domain.to_owned());
    }
    match url::Host::parse(domain) {
        Ok(url::Host::Domain(name)) => Ok(name),
        _ => Err(Error::Malformed),
    }
}

//! A mail as it goes over the wire. No text that comes from outside can begin a line of the head.

use lettre::{
    Address, Message,
    message::{Mailbox, MultiPart},
};
use uuid::Uuid;

use super::{Error, Mail};

/// With a date and a name of its own, the same in each attempt: a server that was cut off before it
/// answered may tell that it has it already.
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

/// The domain in ASCII, which every server takes.
fn address(text: &str) -> Result<Address, Error> {
    let (user, domain) = text.rsplit_once('@').ok_or(Error::Malformed)?;
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(Error::Malformed);
    }
    let domain = to_ascii(domain)?;
    Address::new(user, domain).map_err(|_| Error::Malformed)
}

/// What stands behind the `@` of the sender.
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

//! Builds a mail as it is sent. Text from outside can never begin a header line.

use lettre::{
    Address, Message,
    message::{
        Mailbox, MultiPart,
        header::{HeaderName, HeaderValue},
    },
};
use uuid::Uuid;

use super::{error::Error, message::Mail};

/// Builds the message with its date and message id. Both are the same in each attempt, so that a server
/// whose reply was lost can recognize a duplicate.
pub(super) fn message(from: &Mailbox, mail: &Mail) -> Result<Message, Error> {
    let headers = &mail.headers;
    let local = match &headers.id {
        Some(id) => id.clone(),
        None => Uuid::now_v7().simple().to_string(),
    };
    let id = format!("<{local}@{}>", ascii_domain(from)?);
    let name = headers.from_name.as_deref().map(one_line);
    let mut builder = Message::builder()
        .from(Mailbox::new(
            name.or_else(|| from.name.clone()),
            from.email.clone(),
        ))
        .to(Mailbox::new(None, address(mail.to.as_str())?))
        .subject(one_line(&mail.subject))
        .date_now()
        .message_id(Some(id))
        // So that no absence notice answers it: RFC 3834.
        .raw_header(raw("Auto-Submitted", "auto-generated"));
    if let Some(reply_to) = &headers.reply_to {
        builder = builder.reply_to(Mailbox::new(None, address(reply_to.as_str())?));
    }
    if let Some(link) = headers.unsubscribe.as_deref().filter(|link| is_link(link)) {
        builder = builder.raw_header(raw("List-Unsubscribe", &format!("<{link}>")));
        // RFC 8058: over TLS alone.
        if link.starts_with("https:") {
            let post = raw("List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
            builder = builder.raw_header(post);
        }
    }
    let message = match &mail.html {
        Some(html) => builder.multipart(MultiPart::alternative_plain_html(
            mail.text.clone(),
            html.clone(),
        )),
        None => builder.singlepart(lettre::message::SinglePart::plain(mail.text.clone())),
    };
    message.map_err(|_| Error::Malformed)
}

/// A header as it is sent: of visible ASCII characters and spaces.
fn raw(name: &'static str, value: &str) -> HeaderValue {
    let name = HeaderName::new_from_ascii_str(name);
    HeaderValue::dangerous_new_pre_encoded(name, value.to_owned(), value.to_owned())
}

fn is_link(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>'))
}

/// Whether mails can be sent to an address.
pub(crate) fn can_receive(text: &str) -> bool {
    address(text).is_ok()
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

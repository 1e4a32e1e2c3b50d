//! Whether a text is an email address, as strictly as Stripe: ASCII, a domain with a dot, and no obsolete forms.

use crate::core::prelude::*;

const MAX_LOCAL: usize = 64;
const MAX_ALL: usize = 254;

pub(crate) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    text.len() <= MAX_ALL && is_local(local) && is_domain(domain)
}

fn is_local(local: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~-".contains(&byte);
    local.len() <= MAX_LOCAL
        && local
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(plain))
}

fn is_domain(domain: &str) -> bool {
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = domain.rsplit('.').next().unwrap_or_default();
    domain.contains('.')
        && domain.split('.').all(label)
        && last.len() >= 2
        && !last.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn checked(text: &str, param: &str) -> Result<()> {
    if is_email(text) {
        return Ok(());
    }
    let message = format!("Invalid email address: {text}");
    Err(Refusal::param(param, message).with_code("email_invalid"))
}

#[cfg(test)]
mod tests;

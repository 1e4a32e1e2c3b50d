//! Whether a text is an e-mail address, as strictly as Stripe: in ASCII, with a domain that has a dot,
//! and nothing that only old standards allow.

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

/// The address, if it is one.
pub(crate) fn checked(text: &str, param: &str) -> Result<()> {
    if is_email(text) {
        return Ok(());
    }
    let message = format!("Invalid email address: {text}");
    Err(Refusal::param(param, message).with_code("email_invalid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stripe_would_not_take_is_not_taken() {
        for good in ["a@b.co", "ann.lee+x@mail.example", "o'neil@a-b.example.com"] {
            assert!(is_email(good), "{good}");
        }
        for bad in [
            "",
            "ann",
            "ann@",
            "@b.example",
            "ann@localhost",
            "ann lee@b.example",
            "a@b@c.example",
            "a..b@c.example",
            ".a@c.example",
            "a.@c.example",
            "a@-b.example",
            "a@b..example",
            "a@b.e",
            "a@1.2.3.4",
            "\u{e4}nn@b.example",
            "ann@m\u{fc}ller.example",
            "a@b.example ",
        ] {
            assert!(!is_email(bad), "{bad}");
        }
        assert!(!is_email(&format!("{}@b.example", "a".repeat(65))));
    }
}

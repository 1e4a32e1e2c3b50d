//! What Stripe refuses to sell.

use super::{Form, Request, refusal::Refusal, settings::Unkindness};

/// What its pages speak, in its own order.
const LOCALES: [&str; 41] = [
    "auto", "bg", "cs", "da", "de", "el", "en", "en-GB", "es", "es-419", "et", "fi", "fil", "fr",
    "fr-CA", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "ms", "mt", "nb", "nl", "pl", "pt",
    "pt-BR", "ro", "ru", "sk", "sl", "sv", "th", "tr", "vi", "zh", "zh-HK", "zh-TW",
];
/// Eight digits.
const MOST_CENTS: u64 = 99_999_999;

/// Refuses what cannot be sold so.
pub(super) fn refuse(settings: &Unkindness, request: &Request<'_>) -> Option<Refusal> {
    if request.method != "POST" {
        return None;
    }
    let form = request.form;
    let locale = settings.unknown_locales_refused.then(|| locale(form));
    let email = settings.invalid_emails_refused.then(|| email(form));
    let amount = settings.large_amounts_refused.then(|| amount(form));
    locale
        .flatten()
        .or_else(|| email.flatten())
        .or_else(|| amount.flatten())
}

fn locale(form: &Form) -> Option<Refusal> {
    let locale = form.get("locale")?;
    if LOCALES.contains(&locale.as_str()) {
        return None;
    }
    let (last, others) = LOCALES.split_last()?;
    let message = format!(
        "Invalid locale: must be one of {}, or {last}",
        others.join(", ")
    );
    Some(Refusal::of_param("locale", None, message))
}

fn email(form: &Form) -> Option<Refusal> {
    let named = |name: &&str| form.contains_key(*name);
    let param = ["customer_email", "email"].into_iter().find(named)?;
    let email = form.get(param)?;
    if is_address(email) {
        return None;
    }
    let message = format!("Invalid email address: {email}");
    Some(Refusal::of_param(param, Some("email_invalid"), message))
}

/// Something in front, and a domain behind with a dot in it.
fn is_address(email: &str) -> bool {
    let Some((local, domain)) = email.rsplit_once('@') else {
        return false;
    };
    let is_label = |label: &str| {
        let mut bytes = label.bytes();
        !label.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_local = |byte: u8| byte.is_ascii_graphic() && !b"@<>()[],;:\\\"".contains(&byte);
    let dots = local.starts_with('.') || local.ends_with('.') || local.contains("..");
    let last = domain.rsplit('.').next().unwrap_or_default();
    !local.is_empty()
        && !dots
        && local.bytes().all(is_local)
        && domain.contains('.')
        && domain.split('.').all(is_label)
        && last.len() >= 2
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn amount(form: &Form) -> Option<Refusal> {
    let mut pairs = form.iter();
    let is_amount = |name: &str| name == "unit_amount" || name.ends_with("[unit_amount]");
    let (param, _) = pairs.find(|(name, text)| {
        is_amount(name) && text.parse::<u64>().is_ok_and(|cents| cents > MOST_CENTS)
    })?;
    let message = "Amount must be no more than $999,999.99";
    Some(Refusal::of_param(param, Some("amount_too_large"), message))
}

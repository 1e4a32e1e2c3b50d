//! Parameters that Stripe refuses: locales, email addresses and amounts.

use super::{exchange::Request, settings::Unkindness};
use crate::core::{
    checkout, email, money,
    refusal::{Refusal, Result},
};

/// Refuses a POST with such a parameter.
pub(super) fn refuse(settings: &Unkindness, request: &Request<'_>) -> Option<Refusal> {
    if request.method != "POST" {
        return None;
    }
    let is_amount = |name: &str| name == "unit_amount" || name.ends_with("[unit_amount]");
    let check = |name: &str, text: &str| -> Result<()> {
        match name {
            "locale" if settings.unknown_locales_refused => checkout::check_locale(text),
            "customer_email" | "email" if settings.invalid_emails_refused => {
                email::checked(text, name)
            }
            name if settings.large_amounts_refused && is_amount(name) => {
                let cents = text.parse().unwrap_or(0);
                money::amount(cents, name).map(drop)
            }
            _ => Ok(()),
        }
    };
    let mut pairs = request.form.iter();
    pairs.find_map(|(name, text)| check(name, text).err())
}

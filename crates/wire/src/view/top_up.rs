//! What callers see of cards on file and automatic top-ups.

use actors::TopUpDetail;
use api_types::{AutoTopUp, Consent, PaymentMethod};
use domain::top_up::{Ceiling, SavedCard, Suspension, TopUpSize};

use super::instant;

/// A card on file, as far as it is shown.
pub(super) fn payment_method(card: &SavedCard) -> PaymentMethod {
    PaymentMethod {
        brand: card.brand.as_str().to_owned(),
        last4: card.last4.as_str().to_owned(),
        exp_month: card.exp_month,
        exp_year: card.exp_year,
    }
}

/// A wallet's automatic top-up.
pub fn auto_top_up(detail: &TopUpDetail) -> AutoTopUp {
    let rule = detail.top_up.rule.as_ref();
    let size = rule.map(|rule| rule.size);
    let suspended = rule.and(detail.top_up.suspended.as_ref());
    let ceiling = detail.ceiling.map(|ceiling| match ceiling {
        Ceiling::Monthly => "monthly_limit",
        Ceiling::Daily => "daily_limit",
    });
    let reason = suspended.map(Suspension::name).or(ceiling);
    AutoTopUp {
        enabled: rule.is_some(),
        price_id: rule.map(|rule| rule.terms.price.to_string()),
        threshold: rule.map(|rule| rule.threshold),
        target: match size {
            Some(TopUpSize::Target(target)) => Some(target),
            _ => None,
        },
        quantity: match size {
            Some(TopUpSize::Quantity(quantity)) => Some(quantity.get()),
            _ => None,
        },
        monthly_limit_cents: rule.map(|rule| rule.monthly_limit_cents),
        currency: rule.map(|rule| rule.terms.currency.to_string()),
        max_per_day: rule.map(|rule| rule.max_per_day),
        consent: rule.map(|rule| Consent {
            text: rule.consent.text.to_string(),
            at: instant(rule.consent.at),
        }),
        state: detail.state.name().to_owned(),
        reason: reason.map(str::to_owned),
        action_url: match suspended {
            Some(Suspension::ActionRequired(page)) => Some(page.url.as_str().to_owned()),
            _ => None,
        },
        next_attempt_at: detail.next_attempt_at.map(instant),
        charged_this_month_cents: detail.charged_this_month,
        attempts_today: detail.attempts_today,
    }
}

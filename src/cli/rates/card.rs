//! A rate card on the server, and a change of it in words.

use api_types::Instant;
use domain::rate_card::{Rate, RateChange, RateChangeKind};
use serde::Deserialize;
use wire::visible::visible;

/// A version of a rate card.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct Card {
    pub(in crate::cli) slug: String,
    pub(in crate::cli) product_id: String,
    pub(in crate::cli) version: u32,
    pub(in crate::cli) rates: Vec<Rate>,
    pub(in crate::cli) effective_from: Instant,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct Cards {
    pub(in crate::cli) rate_cards: Vec<Card>,
}

/// A change as a line.
pub(in crate::cli) fn line(change: &RateChange) -> String {
    let sign = match change.kind {
        RateChangeKind::Added => '+',
        RateChangeKind::Removed => '-',
        RateChangeKind::Changed => '~',
    };
    let parts = change.pattern.iter();
    let parts = parts.map(|(name, value)| format!("{name} {}", visible(value)));
    let what = match change.pattern.is_empty() {
        true => "all".to_owned(),
        false => parts.collect::<Vec<_>>().join(", "),
    };
    let text = |term: &Option<String>| term.clone().unwrap_or_else(|| "none".into());
    let terms = change.terms.iter().map(|term| match change.kind {
        RateChangeKind::Changed => {
            format!("{} {} -> {}", term.name, text(&term.old), text(&term.new))
        }
        _ => format!("{} {}", term.name, text(&term.new)),
    });
    match change.kind {
        RateChangeKind::Removed => format!("{sign} {what}"),
        _ => format!("{sign} {what}: {}", terms.collect::<Vec<_>>().join(", ")),
    }
}

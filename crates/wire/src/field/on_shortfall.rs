//! What becomes of a cost that the balance does not cover.

use domain::wallet::shortfall::OnShortfall;

use super::text::Text;
use crate::choice;

/// What to do with such a cost, as callers send it.
pub type OnShortfallText = Text<OnShortfall>;

choice!(OnShortfall, "OnShortfall":
    "refuse" => OnShortfall::Refuse,
    "drain" => OnShortfall::Drain,
    "owe" => OnShortfall::Owe,
);

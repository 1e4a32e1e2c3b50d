//! What to do with a feature of a wallet.

use domain::wallet::feature::FeatureAction;

use super::text::Text;
use crate::choice;

/// What to do with a feature, as callers send it.
pub type FeatureActionText = Text<FeatureAction>;

choice!(FeatureAction, "FeatureAction":
    "grant" => FeatureAction::Grant,
    "revoke" => FeatureAction::Revoke,
);

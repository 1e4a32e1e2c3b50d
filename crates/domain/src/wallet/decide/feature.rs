//! Grants features by hand, and revokes such grants.

use crate::{
    text::Feature,
    wallet::state::{Wallet, event::Change},
};

/// What to do with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FeatureAction {
    /// Grant it by hand.
    #[default]
    Grant,
    /// Revoke a manual grant; what a subscription or purchase unlocks stays.
    Revoke,
}

impl Wallet {
    /// The change, or `None` if it makes no difference.
    #[must_use]
    pub fn set_feature(&self, feature: Feature, action: FeatureAction) -> Option<Change> {
        match (action, self.features.contains(&feature)) {
            (FeatureAction::Grant, false) => Some(Change::FeatureGranted { feature }),
            (FeatureAction::Revoke, true) => Some(Change::FeatureRevoked { feature }),
            (FeatureAction::Grant, true) | (FeatureAction::Revoke, false) => None,
        }
    }
}

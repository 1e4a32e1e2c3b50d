//! Manual grants of features.

use domain::{text::Feature, wallet::feature::FeatureAction};

use super::{Command, Turn, read::features};
use crate::answer::Error;

pub(crate) struct SetFeature {
    pub(crate) feature: Feature,
    pub(crate) action: FeatureAction,
}

impl Command for SetFeature {
    type Answer = Vec<String>;

    fn creates_user_wallet(&self) -> bool {
        self.action == FeatureAction::Grant
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<String>, Error> {
        if let Some(change) = turn.wallet()?.set_feature(self.feature, self.action) {
            turn.change(change)?;
        }
        Ok(features(turn.wallet()?, turn.now()))
    }
}

//! Unlocking features by hand.

use domain::{
    text::Feature,
    wallet::{Created, feature::FeatureAction},
};

use super::{Caller, Rules, state::WalletState};
use crate::answer::Error;

impl WalletState {
    pub(super) fn set_feature(
        &mut self,
        caller: Caller,
        rules: &Rules,
        feature: Feature,
        action: FeatureAction,
        created: Option<Created>,
    ) -> Result<Vec<String>, Error> {
        self.ensure(rules, created)?;
        let now = self.up_to_date(caller, rules)?;
        let change = self
            .wallet
            .as_ref()
            .and_then(|wallet| wallet.set_feature(feature, action));
        if let Some(change) = change {
            self.change(now, change)?;
        }
        self.view(rules).map(|view| view.features)
    }
}

//! Provider epochs: the time for which one account takes a project's money. An epoch lasts while the account and its mode
//! stay the same, with any key, and while no provider is set. When another account takes over, the orders and
//! subscriptions of the former one are ended.

use serde::{Deserialize, Serialize};

/// The provider epoch of one account as a project's provider.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProviderEpoch {
    /// How many epochs came before it.
    pub number: u32,
    /// The account; `None`: no provider was ever set.
    pub account: Option<ProviderAccount>,
    /// Whether the orders and subscriptions of the former account are still being ended.
    pub leaving: bool,
}

/// The account that a provider epoch belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProviderAccount {
    /// The sandbox, which is built in.
    Sandbox,
    /// A Stripe account; `None` if the key may not read which, or could not be tried.
    Stripe(Option<StripeAccount>),
}

/// A Stripe account in one of its modes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StripeAccount {
    /// Its identifier, `acct_…`.
    pub id: String,
    /// Whether it moves real money.
    pub livemode: bool,
}

/// What trying a provider's key showed before the provider is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountCheck {
    /// Whether the key was tried and works.
    pub verified: bool,
    /// Its account, if the key may read that.
    pub account: Option<StripeAccount>,
    /// Whether it seems to be another account or mode than that of the current epoch.
    pub other: bool,
}

impl ProviderAccount {
    /// Whether this is the same account in the same mode; `None` if that is not known.
    pub fn is(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Sandbox, Self::Sandbox) => Some(true),
            (Self::Stripe(one), Self::Stripe(two)) => Some(one.as_ref()? == two.as_ref()?),
            (Self::Sandbox, Self::Stripe(_)) | (Self::Stripe(_), Self::Sandbox) => Some(false),
        }
    }
}

impl ProviderEpoch {
    /// The epoch once this account is set: this one, or the next one if it is another account or the caller says so.
    pub(super) fn next(self, account: Option<ProviderAccount>, other: bool) -> Self {
        let both = self.account.as_ref().zip(account.as_ref());
        if both.is_some_and(|(old, new)| other || old.is(new) == Some(false)) {
            return Self {
                number: self.number.saturating_add(1),
                account,
                leaving: true,
            };
        }
        let account = match account {
            // A new key of a known account may not be permitted to read which it is.
            None | Some(ProviderAccount::Stripe(None)) => self.account.or(account),
            known => known,
        };
        Self { account, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripe(id: &str, livemode: bool) -> ProviderAccount {
        let id = id.into();
        ProviderAccount::Stripe(Some(StripeAccount { id, livemode }))
    }

    const UNKNOWN: ProviderAccount = ProviderAccount::Stripe(None);

    fn epoch(account: ProviderAccount) -> ProviderEpoch {
        ProviderEpoch {
            number: 3,
            account: Some(account),
            leaving: false,
        }
    }

    #[test]
    fn an_account_is_another_where_its_name_or_its_mode_is() {
        let ours = stripe("acct_1", false);
        for (other, is) in [
            (stripe("acct_1", false), Some(true)),
            (stripe("acct_2", false), Some(false)),
            (stripe("acct_1", true), Some(false)),
            (UNKNOWN, None),
            (ProviderAccount::Sandbox, Some(false)),
        ] {
            assert_eq!(ours.is(&other), is, "{other:?}");
            assert_eq!(other.is(&ours), is, "{other:?}");
        }
        let sandbox = ProviderAccount::Sandbox;
        assert_eq!(sandbox.is(&ProviderAccount::Sandbox), Some(true));
    }

    #[test]
    fn an_epoch_lasts_until_another_account_takes_over() {
        let first = epoch(stripe("acct_1", true));
        // A restricted key that may not read its account's name, which is known already.
        assert_eq!(first.clone().next(Some(UNKNOWN), false), first);
        // A name that becomes known later.
        let named = epoch(UNKNOWN).next(first.account.clone(), false);
        assert_eq!(named, first);
        // The caller claims that it is another account.
        let unknown = first.clone().next(Some(UNKNOWN), true);
        assert_eq!((unknown.number, unknown.leaving), (4, true));
        assert_eq!(unknown.account, Some(UNKNOWN));
        let sandbox = first.next(Some(ProviderAccount::Sandbox), false);
        assert_eq!((sandbox.number, sandbox.leaving), (4, true));
        // Without a former account there is nothing to end.
        let none = ProviderEpoch::default().next(Some(ProviderAccount::Sandbox), false);
        assert_eq!((none.number, none.leaving), (0, false));
    }

    #[test]
    fn what_is_being_ended_is_not_forgotten_by_another_change() {
        let leaving = epoch(ProviderAccount::Sandbox).next(Some(UNKNOWN), false);
        let still = leaving.clone().next(Some(stripe("acct_1", false)), false);
        assert_eq!((still.number, still.leaving), (4, true));
        let next = leaving.next(Some(ProviderAccount::Sandbox), false);
        assert_eq!((next.number, next.leaving), (5, true));
    }
}

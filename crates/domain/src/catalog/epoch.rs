//! Provider epochs: the provider account that takes a project's money. An epoch lasts while the account and its mode
//! stay the same, with any key, and while no provider is set. When another account takes over, the orders and
//! subscriptions of the former one are ended.

use super::{Account, Refusal};
use serde::{Deserialize, Serialize};

/// The most bytes of an account's identifier, longer than Stripe's.
const MAX_ACCOUNT: usize = 255;

/// The provider epoch of one account as a project's provider.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProviderEpoch {
    /// How many epochs came before it.
    pub number: u32,
    /// The account; `None`: no provider was ever set.
    pub provider_account: Option<ProviderAccount>,
    /// Whether the orders and subscriptions of the former account are still being ended.
    pub leaving: bool,
}

/// The account that a provider epoch belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProviderAccount {
    /// The sandbox, which is built in.
    Sandbox,
    /// A Stripe account, in one of its modes.
    Stripe {
        /// Its identifier, `acct_…`; `None` if the key may not read it, or could not be tried.
        account: Option<String>,
        /// Whether it moves real money; `None` if unknown.
        livemode: Option<bool>,
    },
}

/// What trying a provider's key showed before the provider is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountCheck {
    /// Whether the key was tried and works.
    pub verified: bool,
    /// The identifier of its account, if the key may read it.
    pub account: Option<String>,
    /// Whether the key moves real money, if it says so.
    pub livemode: Option<bool>,
    /// Whether it seems to be another account or mode than that of the current epoch.
    pub other: bool,
}

impl AccountCheck {
    /// The Stripe account of a provider epoch.
    #[must_use]
    pub fn provider_account(&self) -> ProviderAccount {
        let account = self.account.clone();
        ProviderAccount::Stripe {
            account: account.filter(|name| (1..=MAX_ACCOUNT).contains(&name.len())),
            livemode: self.livemode,
        }
    }
}

impl ProviderAccount {
    /// Whether this is the same account in the same mode; `None` if their identifiers and modes do not tell.
    #[must_use]
    pub fn is(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Sandbox, Self::Sandbox) => Some(true),
            (Self::Sandbox, Self::Stripe { .. }) | (Self::Stripe { .. }, Self::Sandbox) => {
                Some(false)
            }
            (
                Self::Stripe { account, livemode },
                Self::Stripe {
                    account: account_2,
                    livemode: livemode_2,
                },
            ) => {
                let same_mode = livemode.zip(*livemode_2).map(|(one, two)| one == two);
                let accounts = account.as_ref().zip(account_2.as_ref());
                match (same_mode, accounts.map(|(one, two)| one == two)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    (None, _) | (_, None) => None,
                }
            }
        }
    }

    /// Fills in from the existing account what a new key of it does not tell.
    fn merged_with(self, existing: Option<&Self>) -> Self {
        match (self, existing) {
            (
                Self::Stripe { account, livemode },
                Some(Self::Stripe {
                    account: existing,
                    livemode: known_mode,
                }),
            ) => Self::Stripe {
                account: account.or_else(|| existing.clone()),
                livemode: livemode.or(*known_mode),
            },
            (new, _) => new,
        }
    }
}

impl ProviderEpoch {
    /// The epoch once this account is set: this one, or the next one.
    pub(super) fn next(self, provider_account: Option<ProviderAccount>, other: bool) -> Self {
        let both = self
            .provider_account
            .as_ref()
            .zip(provider_account.as_ref());
        let changes = both.is_some_and(|(old, new)| other || old.is(new) == Some(false));
        if changes {
            return Self {
                number: self.number.saturating_add(1),
                provider_account,
                leaving: true,
            };
        }
        let provider_account =
            provider_account.map(|new| new.merged_with(self.provider_account.as_ref()));
        Self {
            provider_account,
            ..self
        }
    }

    ///  Adds the account's identifier once it could be read.
    #[must_use]
    pub fn with_account(self, account: Option<String>) -> Self {
        let with_account = |livemode| AccountCheck {
            account,
            livemode,
            ..AccountCheck::default()
        };
        let provider_account = match self.provider_account {
            Some(ProviderAccount::Stripe {
                account: None,
                livemode,
            }) => Some(with_account(livemode).provider_account()),
            existing => existing,
        };
        Self {
            provider_account,
            ..self
        }
    }

    /// Checks it against the rules and the account that is set.
    pub(super) fn check(&self, account: &Account) -> Result<(), Refusal> {
        let fits = match (account, &self.provider_account) {
            (Account::None, _) => true,
            (Account::Sandbox, provider_account) => {
                matches!(provider_account, Some(ProviderAccount::Sandbox))
            }
            (Account::Stripe(_), provider_account) => {
                matches!(provider_account, Some(ProviderAccount::Stripe { .. }))
            }
        };
        let bounded = match &self.provider_account {
            Some(ProviderAccount::Stripe {
                account: Some(name),
                ..
            }) => (1..=MAX_ACCOUNT).contains(&name.len()),
            _ => true,
        };
        if fits && bounded && (!self.leaving || self.number > 0) {
            return Ok(());
        }
        let message = "The provider is not the account that the epoch belongs to.";
        Err(Refusal::invalid("epoch", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripe(account: Option<&str>, livemode: Option<bool>) -> ProviderAccount {
        ProviderAccount::Stripe {
            account: account.map(Into::into),
            livemode,
        }
    }

    fn turn(provider_account: ProviderAccount) -> ProviderEpoch {
        ProviderEpoch {
            number: 3,
            provider_account: Some(provider_account),
            leaving: false,
        }
    }

    #[test]
    fn an_account_is_another_where_its_name_or_its_mode_is() {
        let test = Some(false);
        let ours = stripe(Some("acct_1"), test);
        for (other, is) in [
            (stripe(Some("acct_1"), test), Some(true)),
            (stripe(Some("acct_2"), test), Some(false)),
            (stripe(Some("acct_1"), Some(true)), Some(false)),
            (stripe(None, Some(true)), Some(false)),
            (stripe(None, test), None),
            (stripe(Some("acct_1"), None), None),
            (ProviderAccount::Sandbox, Some(false)),
        ] {
            assert_eq!(ours.is(&other), is, "{other:?}");
            assert_eq!(other.is(&ours), is, "{other:?}");
        }
        assert_eq!(
            ProviderAccount::Sandbox.is(&ProviderAccount::Sandbox),
            Some(true)
        );
    }

    #[test]
    fn a_turn_goes_on_until_another_has_its_own() {
        let first = turn(stripe(Some("acct_1"), Some(true)));
        // A restricted key that may not read its account's name, which is known already.
        let same = first.clone().next(Some(stripe(None, Some(true))), false);
        assert_eq!(same, first);
        // The caller claims that it is another account.
        let unknown = first.clone().next(Some(stripe(None, Some(true))), true);
        assert_eq!((unknown.number, unknown.leaving), (4, true));
        assert_eq!(unknown.provider_account, Some(stripe(None, Some(true))));
        let sandbox = first.next(Some(ProviderAccount::Sandbox), false);
        assert_eq!((sandbox.number, sandbox.leaving), (4, true));
        // Without a former account there is nothing to end.
        let none = ProviderEpoch::default().next(Some(ProviderAccount::Sandbox), false);
        assert_eq!((none.number, none.leaving), (0, false));
    }

    #[test]
    fn what_is_being_ended_is_not_forgotten_by_another_change() {
        let leaving = turn(ProviderAccount::Sandbox).next(Some(stripe(None, None)), false);
        let still = leaving
            .clone()
            .next(Some(stripe(Some("acct_1"), None)), false);
        assert_eq!((still.number, still.leaving), (4, true));
        let next = leaving.next(Some(ProviderAccount::Sandbox), false);
        assert_eq!((next.number, next.leaving), (5, true));
    }
}

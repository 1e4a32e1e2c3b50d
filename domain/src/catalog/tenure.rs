//! Whose turn it is to take a project's money. A turn lasts as long as the account and its mode, whatever
//! key it is called with, and goes on while no provider is set. When another account has its turn, what
//! was begun with the one before ends.

use super::{Account, Refusal};
use serde::{Deserialize, Serialize};

/// Longer than any name that Stripe gives.
const MAX_ACCOUNT: usize = 255;

/// One account's turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tenure {
    /// How many there were before it.
    pub number: u32,
    /// Whose it is; `None`: no provider was ever set.
    pub holder: Option<Holder>,
    /// Whether what was begun with the one before is still being ended.
    pub leaving: bool,
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holder {
    /// The one that is built in.
    Sandbox,
    /// A Stripe account, in one of its modes.
    Stripe {
        /// Its name there, `acct_…`; `None`: the key may not read it, or could not be tried.
        account: Option<String>,
        /// Whether it moves real money; `None`: the key does not say.
        livemode: Option<bool>,
    },
}

/// What was found out about a provider before it is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Whether the key was tried and works.
    pub verified: bool,
    /// The name of its account, where it may be read.
    pub account: Option<String>,
    /// Whether the key moves real money, where it says so.
    pub livemode: Option<bool>,
    /// Whether it is not the account and mode that has its turn, as far as anybody can tell.
    pub other: bool,
}

impl Found {
    /// Whose turn it would be, of a Stripe account.
    #[must_use]
    pub fn holder(&self) -> Holder {
        let account = self.account.clone();
        Holder::Stripe {
            account: account.filter(|name| (1..=MAX_ACCOUNT).contains(&name.len())),
            livemode: self.livemode,
        }
    }
}

impl Holder {
    /// Whether this is the same account in the same mode; `None`: that cannot be told by their names.
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

    /// The same as a key of the same account says it: what it does not say is known already.
    fn learning(self, known: Option<&Self>) -> Self {
        match (self, known) {
            (
                Self::Stripe { account, livemode },
                Some(Self::Stripe {
                    account: known,
                    livemode: known_mode,
                }),
            ) => Self::Stripe {
                account: account.or_else(|| known.clone()),
                livemode: livemode.or(*known_mode),
            },
            (new, _) => new,
        }
    }
}

impl Tenure {
    /// The turn of this holder after this one: the same one going on, or the next.
    pub(super) fn next(self, holder: Option<Holder>, other: bool) -> Self {
        let both = self.holder.as_ref().zip(holder.as_ref());
        let changes = both.is_some_and(|(old, new)| other || old.is(new) == Some(false));
        if changes {
            return Self {
                number: self.number.saturating_add(1),
                holder,
                leaving: true,
            };
        }
        let holder = holder.map(|new| new.learning(self.holder.as_ref()));
        Self { holder, ..self }
    }

    /// The same with the account's name, now that it could be read.
    #[must_use]
    pub fn named(self, account: Option<String>) -> Self {
        let named = |livemode| Found {
            account,
            livemode,
            ..Found::default()
        };
        let holder = match self.holder {
            Some(Holder::Stripe {
                account: None,
                livemode,
            }) => Some(named(livemode).holder()),
            known => known,
        };
        Self { holder, ..self }
    }

    /// Holds it against the rules, and against whom it is the turn of.
    pub(super) fn check(&self, account: &Account) -> Result<(), Refusal> {
        let fits = match (account, &self.holder) {
            (Account::None, _) => true,
            (Account::Sandbox, holder) => matches!(holder, Some(Holder::Sandbox)),
            (Account::Stripe(_), holder) => matches!(holder, Some(Holder::Stripe { .. })),
        };
        let bounded = match &self.holder {
            Some(Holder::Stripe {
                account: Some(name),
                ..
            }) => (1..=MAX_ACCOUNT).contains(&name.len()),
            _ => true,
        };
        if fits && bounded && (!self.leaving || self.number > 0) {
            return Ok(());
        }
        let message = "It is not the turn of this provider.";
        Err(Refusal::invalid("tenure", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripe(account: Option<&str>, livemode: Option<bool>) -> Holder {
        Holder::Stripe {
            account: account.map(Into::into),
            livemode,
        }
    }

    fn turn(holder: Holder) -> Tenure {
        Tenure {
            number: 3,
            holder: Some(holder),
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
            (Holder::Sandbox, Some(false)),
        ] {
            assert_eq!(ours.is(&other), is, "{other:?}");
            assert_eq!(other.is(&ours), is, "{other:?}");
        }
        assert_eq!(Holder::Sandbox.is(&Holder::Sandbox), Some(true));
    }

    #[test]
    fn a_turn_goes_on_until_another_has_its_own() {
        let first = turn(stripe(Some("acct_1"), Some(true)));
        // A restricted key that may not read its account's name: the name is known already.
        let same = first.clone().next(Some(stripe(None, Some(true))), false);
        assert_eq!(same, first);
        // Said to be another, as far as anybody could tell.
        let unknown = first.clone().next(Some(stripe(None, Some(true))), true);
        assert_eq!((unknown.number, unknown.leaving), (4, true));
        assert_eq!(unknown.holder, Some(stripe(None, Some(true))));
        let sandbox = first.next(Some(Holder::Sandbox), false);
        assert_eq!((sandbox.number, sandbox.leaving), (4, true));
        // Nothing was begun with nobody.
        let none = Tenure::default().next(Some(Holder::Sandbox), false);
        assert_eq!((none.number, none.leaving), (0, false));
    }

    #[test]
    fn what_is_being_ended_is_not_forgotten_by_another_change() {
        let leaving = turn(Holder::Sandbox).next(Some(stripe(None, None)), false);
        let still = leaving
            .clone()
            .next(Some(stripe(Some("acct_1"), None)), false);
        assert_eq!((still.number, still.leaving), (4, true));
        let next = leaving.next(Some(Holder::Sandbox), false);
        assert_eq!((next.number, next.leaving), (5, true));
    }
}

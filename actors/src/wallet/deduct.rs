//! Using credits up.

use domain::{
    history::Lookup,
    wallet::{Decision, deduct::Deduct},
};

use super::{Turn, Verb};
use crate::answer::{Applied, Error};

impl Verb for Deduct {
    type Answer = Applied;

    fn run(self, turn: &mut Turn<'_>) -> Result<Applied, Error> {
        let named = self.product;
        let prior = turn.prior(Lookup::Deduct(self.key.as_str()))?;
        let (product, applied) = match turn.wallet()?.deduct(self, prior.as_ref())? {
            Decision::Replay(product) => (product, false),
            Decision::Accept(change) => {
                turn.change(change)?;
                (named.resolve()?, true)
            }
        };
        Ok(Applied {
            balance: turn.wallet()?.available(product),
            applied,
            replayed: !applied,
        })
    }
}

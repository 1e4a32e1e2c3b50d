//! Subscriptions: they begin with a checkout, renew by the project's clock, retry a declined payment, switch
//! tiers, pause and end.

mod cancel;
mod change;
mod dunning;
mod finalize;
mod invoicing;
mod once;
mod pause;
mod renew;
mod schedule;
mod start;
mod switch;
mod trial;

pub(crate) use change::{Change, ProrationBehavior};
pub(crate) use switch::{SwitchTiming, how};
pub(crate) use trial::MAX_TRIAL_DAYS;

//! Subscriptions: they begin with a checkout, renew by the project's clock, are tried again when a
//! card declines, switch tiers, pause and end.

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

pub(crate) use cancel::{cancel_at_end, cancel_now};
pub(crate) use change::{Change, Prorate, change};
pub(crate) use dunning::pay_now;
pub(crate) use finalize::{finalize, pay, pay_part, void};
pub(crate) use invoicing::wait;
pub(crate) use once::invoice_once;
pub(crate) use pause::{collect_again, pause_collection, resume, suspend};
pub(crate) use renew::step;
pub(crate) use schedule::{call_off, plan, release, schedule};
pub(crate) use start::{fail_first, settle_first, start};
pub(crate) use switch::{How, how, switch};
pub(crate) use trial::{MAX_TRIAL_DAYS, set_trial_end};

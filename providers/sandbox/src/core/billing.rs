//! Subscriptions: they begin with a checkout, renew by the project's clock, are tried again when a
//! card declines, switch tiers and end.

mod cancel;
mod dunning;
mod invoicing;
mod renew;
mod start;
mod switch;

pub(crate) use cancel::{cancel_at_end, cancel_now};
pub(crate) use dunning::{pay_now, retry};
pub(crate) use renew::renew;
pub(crate) use start::{fail_first, settle_first, start};
pub(crate) use switch::{How, how, switch};

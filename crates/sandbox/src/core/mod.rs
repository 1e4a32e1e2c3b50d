//! The sandbox as a state machine: objects, clock and source of ids are passed in, responses and changed objects come
//! out. Never reads a clock, draws randomness or does I/O.

#[macro_use]
pub(crate) mod words;

pub(crate) mod api;
pub(crate) mod billing;
pub(crate) mod calendar;
pub(crate) mod cards;
pub(crate) mod checkout;
pub(crate) mod database;
pub(crate) mod disputes;
pub(crate) mod due;
pub(crate) mod email;
pub(crate) mod events;
pub(crate) mod faults;
pub(crate) mod ids;
pub(crate) mod money;
pub(crate) mod objects;
pub(crate) mod operations;
pub(crate) mod params;
pub(crate) mod payments;
pub(crate) mod promotions;
pub(crate) mod refunds;
pub(crate) mod refusal;
pub(crate) mod script;
pub(crate) mod shape;

/// Names that every module here uses.
pub(crate) mod prelude {
    pub(crate) use serde_json::{Value, json};

    pub(crate) use super::{
        calendar::{Interval, after, date},
        cards, checkout,
        database::{Database, StoredObject},
        disputes, email,
        money::{self, share, written},
        objects::*,
        params::{Metadata, Params},
        promotions, refunds,
        refusal::{Answer, Refusal, Result, card_error, need},
        shape,
        words::StripeEnum,
    };
}

#[cfg(test)]
pub(crate) mod tests;

//! Checkout: the actions of a buyer, or a script, on a session.

mod act;
mod complete;
mod create;
mod options;

pub(crate) use act::{Action, Buyer, act, close};
pub(crate) use create::{address, create};

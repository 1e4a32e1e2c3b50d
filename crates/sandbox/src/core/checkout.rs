//! Checkout: what a buyer, or a script in their place, does with a session.

mod act;
mod complete;
mod create;
mod options;

pub(crate) use act::{Action, Buyer, act, close};
pub(crate) use create::{address, create};

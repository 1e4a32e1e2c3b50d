//! Where Scrip's books are kept: a journal that everything goes through, and the state folded from
//! it. The only crate that names sled; `codec.rs` is the only file that names bincode.

pub mod codec;
pub mod contract;

pub use codec::{Append, Logged};
pub use contract::{Done, Error, History, Journal, Outcome, Refused, Stored, Ticket};

//! Where Scrip's books are kept: a journal that everything goes through, and the state folded from
//! it. The only crate that names sled; `codec.rs` is the only file that names bincode.

mod checkpoint;
pub mod codec;
mod commit;
pub mod contract;
mod database;
mod fold;
mod frame;
#[cfg(test)]
mod golden_tests;
mod guard;
mod index;
mod lock;
pub mod memory;
mod options;
mod progress;
mod queue;
mod recovery;
mod rounds;
mod shared;
mod space;
mod store;
mod tail;
pub mod verify;
mod watermark;

pub use codec::{Append, Logged, Note};
pub use contract::{
    Done, Error, History, Journal, KeptNote, OrderPlace, Outcome, Refused, Stored, Ticket,
};
pub use memory::MemoryJournal;
pub use options::{Completions, Faults, OnFatal, Options, Step};
pub use store::SledJournal;
pub use verify::verify;

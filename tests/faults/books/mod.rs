//! The tests' own books: what was sent, what was answered, and whether the server's ledgers agree.

pub(crate) mod audit;
pub(crate) mod diary;
pub(crate) mod diary_client;
pub(crate) mod load;
pub(crate) mod operation;

pub(crate) use self::{
    audit::Audit,
    diary::{Diary, Record},
    diary_client::{DiaryClient, Outcome},
    load::{Load, Work},
};

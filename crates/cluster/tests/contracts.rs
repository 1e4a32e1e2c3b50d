//! The contracts of `Log` and `Books` against a journal whose log is in PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

#[macro_use]
#[path = "../../../persistence/tests/conformance/clauses.rs"]
mod clauses;
#[path = "../../../persistence/tests/common/mod.rs"]
mod common;
#[path = "common/member.rs"]
mod member;

use clauses::InDirectory;
use common::options;
use member::{database, lead, member};

fn in_postgres() -> InDirectory {
    let url = database();
    InDirectory::new(move |dir, trouble| lead(options(dir, trouble), member(&url)))
}

conformance!(in_postgres());

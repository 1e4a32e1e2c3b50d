//! The server as a process: how it starts, listens and ends, what it writes to its log and to the disk, and what
//! it is limited to. Against the real binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod admin_address;
mod backup_schedule;
mod files;
mod logs;
mod many_rows;
mod metrics;
mod nginx;
mod offline;
mod packaging;
mod proxies;
mod release;
mod restart;
mod secrets;
mod start;
mod tls;

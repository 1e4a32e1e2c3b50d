//! Fault tests: what was acknowledged is there exactly once, when anything happens to the process, the disk or the
//! power. Each test drives the real binary from outside and judges by its own diary of what was sent and
//! answered, never by the product's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test that cannot go on must panic, and its numbers are small"
)]

mod audited;
mod backups;
mod books;
mod crash_point;
mod crowded_disk;
mod deliveries;
mod fault_settings;
mod full_disk;
mod instructions;
mod kill9;
mod powercut;
mod provider_change;
mod purchases;
mod restored_backup;
mod sandbox_crashes;
mod seed;
mod small_disk;
mod stalled;
mod strace;
mod subscribers;
mod unfulfilled;
mod writeback;

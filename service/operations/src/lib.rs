//! What an operator runs the service by: the log of who changed what, backups, metrics, and another provider for a
//! project. It knows no request.

pub mod audit;
pub mod audit_csv;
mod audit_failures;
pub mod audit_search;
pub mod backups;
pub mod cells;
pub mod cluster;
pub mod metrics;
pub mod outstanding;
pub mod provider_change;
pub mod wallet_notes;

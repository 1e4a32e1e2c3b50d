//! What an operator runs the service by: the log of who changed what, backups, metrics, and another provider for a
//! project. It knows no request.

#![allow(missing_docs, reason = "what a name says is not said again")]

pub mod audit;
pub mod audit_csv;
mod audit_entry;
mod audit_failures;
mod audit_pages;
mod audit_proofs;
pub mod audit_search;
pub mod backups;
pub mod data_dir;
pub mod duration;
pub mod metrics;
pub mod outstanding;
pub mod provider_change;
pub mod wallet_notes;

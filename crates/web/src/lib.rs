//! What others reach over HTTP: the API, its administration, the documentation, health checks, and the pages that
//! buyers see. Each takes a state of its own, with what it uses of the service.

pub mod admin;
pub mod api;
pub mod docs;
pub mod health;
mod http;
pub mod pages;

pub use http::{cors::CorsForBrowsers, openapi::QUERY_PARAMETERS};

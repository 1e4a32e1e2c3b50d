//! HTTP below every endpoint: [`connections`] are accepted and bounded, [`limits`] count how often each client may call,
//! [`client`] sets up outgoing requests.

pub mod client;
pub mod connections;
pub mod limits;

//! What the API and the administration share beyond the wire and the edge: how a request names a wallet, a hold or
//! an order, and how all of that is described. It knows no endpoint.

pub(crate) mod code_path;
pub(crate) mod cors;
pub(crate) mod etag;
pub(crate) mod freeze;
pub(crate) mod grant;
pub(crate) mod hold_path;
pub(crate) mod idempotency;
pub(crate) mod ledger;
pub(crate) mod limits;
pub(crate) mod metered;
pub(crate) mod openapi;
pub(crate) mod operation;
pub(crate) mod order_name;
pub(crate) mod orders;
pub(crate) mod patch;
pub(crate) mod query;
pub(crate) mod rate_card_path;
pub(crate) mod redirect;
pub(crate) mod reversal;
pub(crate) mod subject;

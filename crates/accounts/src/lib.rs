//! The payment provider of each project: the only place that names the providers. Their secrets and addresses come from
//! here; the sandbox is called like Stripe, at another address.

mod accounts;
mod change;
mod endpoints;
mod object_ids;
mod sandbox;

pub use self::{
    accounts::{Accounts, ProviderEnvironment, SandboxKeys},
    change::{ChangeError, KeyCheck},
    endpoints::{EndpointOutcome, Endpoints},
    object_ids::ObjectIdNote,
    sandbox::{AdvanceError, SandboxNote, Sandboxes},
};

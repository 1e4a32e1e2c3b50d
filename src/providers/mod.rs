//! Who takes each project's money: the one place that names the providers there are. Their secrets and
//! addresses come from here; the sandbox is called like Stripe, at another address.

mod accounts;
mod change;
mod endpoints;
mod object_ids;
mod sandbox;

pub use self::{
    accounts::{Accounts, Place, SandboxKeys},
    change::{ChangeError, Tried},
    endpoints::{Endpoint, Endpoints},
    object_ids::ObjectIdNote,
    sandbox::{AdvanceError, SandboxNote, Sandboxes},
};

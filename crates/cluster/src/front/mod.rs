//! The front of a process that is one of several over one log: it answers where this process leads, passes each request
//! on to the process that does where another leads, and holds it for a while where nobody is known to.
//!
//! It knows no endpoint but those that ask about the process itself, and nothing of the log: the follower says
//! through the [`FrontSwitch`] who leads. A request is sent a second time only if it cannot have been done the first.
//!
//! There may be several such logs, *cells*, each with a leader of its own and with some of the projects. The front of
//! every process takes any request: what it is about says a closure, where that is the [`Routes`].
//!
//! ```ignore
//! let forwarder = Forwarder::new(&server_key, settings)?;
//! let (front, switch) = Front::new(local, forwarder, cell, find);
//! tokio::spawn(switch.routes().clone().keep(list_cells));
//! switch.routes().refreshed().await;
//! tokio::spawn(Server::new(listener, front, http).run(stop, give_up));
//! switch.elsewhere("http://10.0.0.2:8787".parse()?);
//! switch.here_while(service, internal, place, whose, leads);
//! ```

mod body;
mod connector;
mod credentials;
mod forward;
mod headers;
mod hold;
mod origin;
mod pass_on;
mod refusal;
mod routes;
mod shared;
mod switch;
pub mod tls;
mod token;

pub use credentials::CredentialOwner;
pub use forward::{ForwardSettings, Forwarder};
pub use hold::FrontFigures;
pub use origin::{InvalidOrigin, Origin};
pub use routes::{
    Announcement, CellLeaders, FindRoutingKey, Neighbours, Routes, RoutingKey, Unreached,
};
pub(crate) use switch::FrontLink;
pub use switch::{Front, FrontSwitch};

#[cfg(test)]
mod tests;

//! The front of a process that is one of several over one log: it answers where this process leads, passes each request
//! on to the process that does where another leads, and holds it for a while where nobody is known to.
//!
//! It knows no endpoint but those that ask about the process itself, and nothing of the log: whoever follows it says
//! through the [`FrontSwitch`] who leads. A request is sent a second time only if it cannot have been done the first.
//!
//! ```ignore
//! let forwarder = Forwarder::new(&server_key, settings)?;
//! let (front, switch) = Front::new(local, forwarder);
//! tokio::spawn(Server::new(listener, front, http).run(stop, give_up));
//! switch.elsewhere("http://10.0.0.2:8787".parse()?);
//! switch.here(service);
//! ```

mod body;
mod forward;
mod front;
mod headers;
mod hold;
mod origin;
mod refusal;
pub mod tls;
mod token;

pub use forward::{ForwardSettings, Forwarder};
pub use front::{Front, FrontSwitch};
pub use hold::FrontFigures;
pub use origin::{InvalidOrigin, Origin};

#[cfg(test)]
mod tests;

//! The query parameters of the routes that a caller's key or token opens. One that a route does not have is refused: it
//! asks for something that would silently not be done.

use std::{collections::HashMap, sync::LazyLock};

use axum::{
    extract::MatchedPath,
    http::{Method, request::Parts},
};
use cluster::cells;
use wire::Error;

const CELL: &str = "cell";

/// The names of each route's query parameters, by its method and its path as the router has it.
pub type ParametersByRoute = HashMap<(Method, String), Vec<String>>;

/// The query parameters of all routes, gathered once somebody sends some.
#[derive(Debug)]
pub struct QueryParameters(LazyLock<ParametersByRoute>);

impl QueryParameters {
    /// Those that a function gathers.
    pub const fn gathered_by(gather: fn() -> ParametersByRoute) -> Self {
        Self(LazyLock::new(gather))
    }

    /// Refuses a parameter that the route of a request does not have.
    pub(crate) fn check(&self, parts: &Parts) -> Result<(), Error> {
        let Some(query) = parts.uri.query() else {
            return Ok(());
        };
        let method = match parts.method {
            Method::HEAD => Method::GET,
            ref method => method.clone(),
        };
        let path = parts.extensions.get::<MatchedPath>();
        let route = path.map(|path| (method, path.as_str().to_owned()));
        let known = route.and_then(|route| self.0.get(&route));
        let known = known.map(Vec::as_slice).unwrap_or_default();
        let sent = url::form_urlencoded::parse(query.as_bytes());
        let mut cells = 0_usize;
        for (name, _) in sent {
            if known.iter().all(|known| *known != name) {
                return Err(Error::invalid(name, "There is no such parameter here."));
            }
            cells += usize::from(name == CELL);
        }
        // The process that the request came to has read it, as it stands.
        match cells {
            0 => Ok(()),
            1 if cells::named(&parts.uri).is_some() => Ok(()),
            _ => Err(Error::invalid(CELL, "One cell's number is expected.")),
        }
    }
}

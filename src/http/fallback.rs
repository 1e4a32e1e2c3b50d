//! What is answered where nothing is served.

use super::{code::Code, error::Error};

/// Nothing is served under this path.
pub(crate) async fn route_not_found() -> Error {
    Error::new(Code::RouteNotFound)
}

/// Something is, but not by this method.
pub(crate) async fn method_not_allowed() -> Error {
    Error::new(Code::MethodNotAllowed)
}

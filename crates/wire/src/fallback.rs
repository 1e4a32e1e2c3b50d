//! The refusals of paths and methods that are not served.

use super::{code::ErrorCode, error::Error};

/// Answers a path that no route has.
pub async fn route_not_found() -> Error {
    Error::new(ErrorCode::RouteNotFound)
}

/// Answers a method that a route does not have.
pub async fn method_not_allowed() -> Error {
    Error::new(ErrorCode::MethodNotAllowed)
}

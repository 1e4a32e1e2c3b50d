//! The refusals of paths and methods that are not served.

use super::{code::ErrorCode, error::Error};

pub(crate) async fn route_not_found() -> Error {
    Error::new(ErrorCode::RouteNotFound)
}

pub(crate) async fn method_not_allowed() -> Error {
    Error::new(ErrorCode::MethodNotAllowed)
}

//! How a request names one cell of a cluster.

use axum::http::Uri;

/// The cell that the query of an operator's request names: `?cell=1`.
pub fn named(uri: &Uri) -> Option<i16> {
    let pairs = uri.query()?.split('&');
    let value = pairs.filter_map(|pair| pair.strip_prefix("cell=")).next()?;
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| is_number)
}

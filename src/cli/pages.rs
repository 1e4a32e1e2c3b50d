//! Lists that come in pages, read as far as somebody wants them.

use serde_json::Value;

use super::{
    Failure,
    remote::Remote,
    table::{field, list},
};

/// What the server gives at once.
const MOST: u32 = 100;

/// At most so many of the `items` of a list with these filters.
pub(super) async fn read(
    remote: &Remote,
    path: &str,
    filters: &[(&str, &str)],
    (items, limit): (&str, u32),
) -> Result<Vec<Value>, Failure> {
    let (mut read, mut cursor): (Vec<Value>, String) = (Vec::new(), String::new());
    loop {
        let had = u32::try_from(read.len()).unwrap_or(u32::MAX);
        let wanted = limit.saturating_sub(had).min(MOST).to_string();
        let mut query = filters.to_vec();
        query.push(("limit", &wanted));
        if !cursor.is_empty() {
            query.push(("cursor", &cursor));
        }
        let page: Value = remote.get_with(path, &query).await?;
        read.extend_from_slice(list(&page, items));
        cursor = field(&page, "nextCursor");
        let enough = usize::try_from(limit).is_ok_and(|limit| read.len() >= limit);
        if enough || cursor.is_empty() {
            return Ok(read);
        }
    }
}

//! Webhook endpoints that a shop registered: which events go where. Sends nothing itself.

use super::api::covers;
use crate::core::prelude::*;

/// Those that want to hear of such an event.
pub(crate) fn wanting(books: &Books, kind: &str) -> Vec<String> {
    let all = books.all::<Endpoint>().filter(|endpoint| {
        endpoint.enabled && endpoint.kinds.iter().any(|wanted| covers(wanted, kind))
    });
    all.map(|endpoint| endpoint.head.id.clone()).collect()
}

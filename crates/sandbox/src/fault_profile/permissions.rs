//! The permission of a restricted key that each endpoint needs.

use std::collections::BTreeSet;

use stripe::permissions::{ENDPOINTS, Permission};

use super::{exchange::Request, refusal};
use crate::core::refusal::Refusal;

/// The permission that a request needs, for example `rak_dispute_read`, if known.
pub(super) fn permission(method: &str, path: &str) -> Option<String> {
    let wanted = collection(path.strip_prefix("/v1/")?);
    let mut endpoints = ENDPOINTS.iter();
    let endpoint = endpoints.find(|endpoint| collection(endpoint.path) == wanted)?;
    let permission = Permission {
        resource: endpoint.resource,
        writes: method != "GET",
    };
    Some(permission.to_string())
}

fn collection(path: &str) -> Option<&str> {
    path.split('/').next()
}

/// The request's endpoint, with `{id}` in place of ids: `GET /v1/invoices/{id}/lines`.
pub(super) fn endpoint(method: &str, path: &str) -> String {
    let is_id = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit()) && part != "v1";
    let parts = path.split('/').map(|part| match is_id(part) {
        true => "{id}",
        false => part,
    });
    let path: Vec<&str> = parts.collect();
    format!("{method} {}", path.join("/"))
}

pub(super) fn refuse(denied: &BTreeSet<String>, request: &Request<'_>) -> Option<Refusal> {
    if denied.is_empty() {
        return None;
    }
    let wanted = permission(request.method, request.path)?;
    let reading = wanted.strip_suffix("_write");
    let reading = reading.map(|scope| format!("{scope}_read"));
    let lacks = denied.contains(&wanted) || reading.is_some_and(|read| denied.contains(&read));
    lacks.then(|| refusal::denied(request.key, &wanted))
}

//! `expand[]` replaces ids in a response by their objects, to the requested depth.

use super::read;
use crate::core::prelude::*;

const MAX_DEPTH: usize = 4;

pub(super) fn expand(db: &Database, params: &Params, answer: &mut Value) -> Result<()> {
    for path in params.expansions() {
        let names: Vec<&str> = path.split('.').collect();
        let deep = names.iter().filter(|name| **name != "data").count();
        if deep > MAX_DEPTH {
            let message = format!("You cannot expand more than {MAX_DEPTH} levels of a property.");
            return Err(Refusal::invalid(message));
        }
        if !unfold(db, answer, &names) {
            let message = format!("This property cannot be expanded ({path}).");
            return Err(Refusal::invalid(message));
        }
    }
    Ok(())
}

/// Expands one path; `false` if nothing can be expanded.
fn unfold(db: &Database, value: &mut Value, names: &[&str]) -> bool {
    if let Value::Array(values) = value {
        return values.iter_mut().all(|value| unfold(db, value, names));
    }
    if value.is_null() {
        return true;
    }
    if let Value::String(id) = value {
        match db.view(id) {
            Some(view) => *value = view,
            None => return false,
        }
    }
    let Some((name, rest)) = names.split_first() else {
        return true;
    };
    let Some(fields) = value.as_object_mut() else {
        return false;
    };
    let kind = fields.get("object").and_then(Value::as_str);
    let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
    let inner = match (kind, *name) {
        (Some("charge"), "refunds") => {
            let url = format!("/v1/charges/{id}/refunds");
            let theirs = |refund: &Refund| refund.charge == id;
            Some(read::list(db.views(theirs), false, &url))
        }
        (Some("invoice"), "payments") => {
            let theirs = |payment: &InvoicePayment| payment.invoice == id;
            Some(read::list(db.views(theirs), false, "/v1/invoice_payments"))
        }
        (Some("checkout.session"), "line_items") => db.get::<Session>(id).map(|session| {
            let url = format!("/v1/checkout/sessions/{id}/line_items");
            shape::list(line_items(session, db), &url)
        }),
        _ => None,
    };
    if let Some(inner) = inner
        && fields.get(*name).is_none_or(Value::is_null)
    {
        fields.insert((*name).to_owned(), inner);
    }
    fields
        .get_mut(*name)
        .is_some_and(|value| unfold(db, value, rest))
}

//! The lines of an invoice: so many of them embedded, the rest on pages of their own, and pending
//! items of the customer in front of all others.

use serde_json::{Value, json};

use super::{Answer, Form, Request, settings::Unkindness, size::kind_of};

/// The invoice whose lines a path lists.
pub(super) fn of_invoice(path: &str) -> Option<&str> {
    let invoice = path.strip_prefix("/v1/invoices/")?.strip_suffix("/lines")?;
    (!invoice.contains('/')).then_some(invoice)
}

/// Puts items in front and cuts the lines of every invoice in an answer, wherever one is unfolded.
pub(super) fn cut(body: &mut Value, settings: &Unkindness) {
    if settings.lines_embedded == 0 && settings.items_in_front == 0 {
        return;
    }
    match body {
        Value::Array(values) => values.iter_mut().for_each(|value| cut(value, settings)),
        Value::Object(_) => {
            if kind_of(body) == Some("invoice") {
                in_front(body, settings.items_in_front);
                embed(body, settings.lines_embedded);
                return;
            }
            let fields = body.as_object_mut();
            let fields = fields.map(|fields| fields.values_mut());
            fields
                .into_iter()
                .flatten()
                .for_each(|value| cut(value, settings));
        }
        _ => {}
    }
}

/// Puts so many pending items in front of the lines of a renewal.
fn in_front(invoice: &mut Value, items: u32) {
    if items == 0 || invoice["billing_reason"] != "subscription_cycle" {
        return;
    }
    let (id, currency) = (invoice["id"].clone(), invoice["currency"].clone());
    let (customer, at) = (invoice["customer"].clone(), invoice["created"].clone());
    let Some(Value::Array(lines)) = invoice.pointer_mut("/lines/data") else {
        return;
    };
    if lines.iter().any(|line| line["description"] == PENDING) {
        return;
    }
    let item = |number: u32| {
        json!({
            "id": format!("il_1Pending{number:03}"), "object": "line_item", "amount": 0,
            "currency": currency, "customer": customer, "description": PENDING, "invoice": id,
            "livemode": false, "metadata": {},
            "parent": {
                "type": "invoice_item_details", "subscription_item_details": null,
                "invoice_item_details": {
                    "invoice_item": format!("ii_1Pending{number:03}"), "proration": false,
                    "proration_details": null, "subscription": null,
                },
            },
            "period": { "start": at, "end": at },
            "pricing": {
                "type": "price_details", "unit_amount_decimal": "0",
                "price_details": { "price": "price_1PendingUsage", "product": "prod_1PendingUsage" },
            },
            "quantity": 1, "subtotal": 0, "taxes": [],
        })
    };
    // The newest first.
    lines.splice(..0, (0..items).rev().map(item));
}

/// What pending items say.
const PENDING: &str = "Usage of another product";

/// Keeps so many lines.
fn embed(invoice: &mut Value, most: u32) {
    let id = invoice["id"].as_str().unwrap_or_default().to_owned();
    let Some(list) = invoice.get_mut("lines") else {
        return;
    };
    let Some(lines) = list.get_mut("data").and_then(Value::as_array_mut) else {
        return;
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let all = lines.len();
    if most == 0 || all <= most {
        return;
    }
    lines.truncate(most);
    list["has_more"] = true.into();
    list["total_count"] = all.into();
    list["object"] = "list".into();
    list["url"] = format!("/v1/invoices/{id}/lines").into();
}

/// A page of an invoice's lines, with pending items in front of a renewal's.
pub(super) fn page<E>(
    id: &str,
    request: &Request<'_>,
    items: u32,
    ask: &mut impl FnMut(&str, &str, &Form) -> Result<Answer, E>,
) -> Result<Answer, E> {
    let mut answer = ask("GET", &format!("/v1/invoices/{id}"), &Form::new())?;
    if answer.status >= 300 {
        return Ok(answer);
    }
    // All of them, where a kinder provider lists them, too; else those that it embeds.
    let mut form = Form::from([("limit".into(), "100".into())]);
    let mut all: Vec<Value> = Vec::new();
    loop {
        let mut page = ask("GET", request.path, &form)?;
        let listed = page.body.get_mut("data").map(Value::take);
        let Some(Value::Array(lines)) = listed.filter(|_| page.status < 300) else {
            break;
        };
        all.extend(lines);
        let last = all.last().and_then(|line| line.get("id")?.as_str());
        match last.filter(|_| page.body.get("has_more") == Some(&Value::Bool(true))) {
            Some(last) => form.insert("starting_after".into(), last.to_owned()),
            None => break,
        };
    }
    if let Some(embedded) = answer
        .body
        .pointer_mut("/lines/data")
        .filter(|_| !all.is_empty())
    {
        *embedded = Value::Array(all);
    }
    in_front(&mut answer.body, items);
    answer.body = part(&answer.body, request.form);
    Ok(answer)
}

/// Those lines of an invoice that are on a page.
fn part(invoice: &Value, form: &Form) -> Value {
    let lines = invoice.pointer("/lines/data").and_then(Value::as_array);
    let lines = lines.map(Vec::as_slice).unwrap_or_default();
    let limit = form.get("limit").and_then(|limit| limit.parse().ok());
    let limit: usize = limit.unwrap_or(10);
    let from = form.get("starting_after").map_or(0, |after| {
        let place = lines.iter().position(|line| line["id"] == **after);
        place.map_or(lines.len(), |place| place.saturating_add(1))
    });
    let rest = lines.get(from..).unwrap_or_default();
    let id = invoice["id"].as_str().unwrap_or_default();
    json!({
        "object": "list",
        "data": rest.iter().take(limit).collect::<Vec<_>>(),
        "has_more": rest.len() > limit,
        "total_count": lines.len(),
        "url": format!("/v1/invoices/{id}/lines"),
    })
}

//! The endpoints of payments and of cards on file. A payment is made by a saved card, and confirmed at once.

use super::read;
use crate::core::prelude::*;

/// A payment that is declined is kept, and its answer is an error that has it.
pub(super) fn create(db: &mut Database, params: &Params) -> Result<Answer> {
    let amount = need(params.integer("amount")?, "amount")?;
    Refusal::not_positive("amount")
        .with_code("parameter_invalid_integer")
        .when(amount < 1)?;
    let currency = money::currency(&params.required("currency")?, "currency")?;
    money::whole_units(amount, &currency, "amount")?;
    let least = domain::catalog::minimum(&currency.to_ascii_uppercase()).unwrap_or(0);
    let message = format!("Amount must be at least {}", written(least, &currency));
    Refusal::param("amount", message)
        .with_code("amount_too_small")
        .when(amount < least)?;
    money::amount(amount, "amount")?;
    let mut intent = PaymentIntent {
        amount,
        currency,
        customer: params
            .object::<Customer>(db, "customer")?
            .map(|it| it.head.id),
        description: params.bounded("description", 1000)?,
        email: params.bounded("receipt_email", 512)?,
        future_usage: future_usage(params, "setup_future_usage")?,
        metadata: params.metadata("metadata")?,
        ..PaymentIntent::default()
    };
    params.list("allowed_payment_method_types")?;
    params.flag("automatic_payment_methods[enabled]")?;
    params.word(
        "automatic_payment_methods[allow_redirects]",
        &["always", "never"],
    )?;
    params.bounded("statement_descriptor_suffix", 22)?;
    let confirms = params.flag("confirm")? == Some(true);
    let alone = params.flag("off_session")? == Some(true);
    let message = "You cannot set `off_session` on a PaymentIntent that is not confirmed.";
    Refusal::param("off_session", message).when(alone && !confirms)?;
    let method = method_of(db, params, intent.customer.as_deref())?;
    params.finish()?;
    let message = "The sandbox only takes payments that are confirmed at once.";
    Refusal::param("confirm", message).when(!confirms)?;
    intent.head = db.head("pi_");
    intent.payment_method = Some(method.head.id.clone());
    let intent = intent.confirm(db, &method, alone);
    let view = intent.view(db);
    Ok(match &intent.declined {
        None => Answer {
            status: 200,
            body: view,
        },
        Some(_) => {
            let error = view.get("last_payment_error");
            let mut error = error.cloned().unwrap_or_default();
            shape::set(&mut error, json!({ "payment_intent": view }));
            Answer {
                status: 402,
                body: json!({ "error": error }),
            }
        }
    })
}

pub(in crate::core) fn future_usage(params: &Params, path: &str) -> Result<Option<String>> {
    let word = params.word(path, &["off_session", "on_session"])?;
    Ok(word.map(Into::into))
}

/// The saved card of a payment, which must be its customer's.
fn method_of(db: &Database, params: &Params, customer: Option<&str>) -> Result<PaymentMethod> {
    const PARAM: &str = "payment_method";
    let method = need(params.object::<PaymentMethod>(db, PARAM)?, PARAM)?;
    let owner = method.customer.as_deref();
    if owner.is_some() && owner == customer {
        return Ok(method);
    }
    let message = match customer {
        Some(_) => format!(
            "The customer does not have a payment method with the ID {}. The payment method must be \
             attached to the customer.",
            method.head.id
        ),
        None => "The provided PaymentMethod may not be used without the Customer that it is \
                 attached to, nor once it was detached."
            .into(),
    };
    Err(Refusal::param(PARAM, message))
}

pub(super) fn cancel(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let reasons = [
        "abandoned",
        "duplicate",
        "fraudulent",
        "requested_by_customer",
    ];
    let reason = params.word("cancellation_reason", &reasons)?;
    read::changed(db, params, id, |intent: PaymentIntent, db| {
        intent.cancel(db, reason)
    })
}

pub(super) fn detach(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    read::changed(db, params, id, |method: PaymentMethod, db| {
        method.detach(db)
    })
}

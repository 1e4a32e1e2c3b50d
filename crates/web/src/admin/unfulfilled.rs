//! Payments that lead to no order: list, assign, refund, dismiss.

use axum::{Json, response::Response};
use domain::catalog::KeyKind;
use edge::{Read, body::Body};
use operator::{AssignPayment, DismissPayment, RefundPayment};
use payments::{NoOrderReason, UnfulfilledPayment as Kept};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    cursor::{PaymentCursor, PaymentCursorText},
    field::{CodeText, DescriptionText, LimitText, PriceName, Text, UserText, line},
    respond,
    view::{self, Instant, instant},
};

use super::call::AdminCall;
use crate::http::{query::Params, subject::NamedWallet};

/// Which part of the list to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Payments on a page.
    #[param(inline)]
    limit: Option<LimitText>,
    /// A page's `nextCursor`.
    #[param(inline)]
    cursor: Option<PaymentCursorText>,
}

/// The price that a payment is assigned to.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PaymentAssignment)]
pub(super) struct Assign {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// The price that it pays for; any of the project's.
    price_id: PriceName,
}

/// Why a payment is left as it is.
#[derive(Deserialize, ToSchema)]
#[schema(as = PaymentDismissal)]
pub(super) struct Dismiss {
    /// A sentence or two, for those who ask later.
    note: DescriptionText,
}

/// A payment that leads to no order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnfulfilledPayment {
    /// Its name in this API: the provider's `paymentId`.
    id: String,
    payment_id: String,
    invoice_id: Option<String>,
    subscription_id: Option<String>,
    customer_id: Option<String>,
    customer_email: Option<String>,
    /// What was charged, by all payments of its bill, in the currency's minor unit.
    amount_cents: i64,
    /// ISO 4217, upper case.
    currency: String,
    /// When it was charged.
    paid_at: Instant,
    /// `unknown_price`, `unknown_order`, `unclear_bill`, `unknown_wallet`, `already_paid` or `other_currency`
    #[schema(value_type = String, example = "unknown_price")]
    reason: NoOrderReason,
    /// When it was found to lead to no order.
    seen_at: Instant,
}

/// A page of unfulfilled payments.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnfulfilledPayments {
    /// The newest first.
    payments: Vec<UnfulfilledPayment>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl From<Kept> for UnfulfilledPayment {
    fn from(kept: Kept) -> Self {
        Self {
            id: kept.payment.to_string(),
            payment_id: kept.payment.to_string(),
            invoice_id: kept.paid.invoice.map(|id| id.to_string()),
            subscription_id: kept.billing.map(|it| it.subscription.to_string()),
            customer_id: kept.paid.customer.map(|id| id.to_string()),
            customer_email: kept.paid.email.map(|email| email.as_str().to_owned()),
            amount_cents: kept.paid.amount_cents,
            currency: kept.currency.into(),
            paid_at: instant(kept.paid_at),
            reason: kept.reason,
            seen_at: instant(kept.seen_at),
        }
    }
}

pub(super) async fn list(
    call: AdminCall<Read>,
    Params(part): Params<PageQuery>,
) -> Result<Json<UnfulfilledPayments>, Error> {
    let limit = part.limit.map_or_else(Default::default, |limit| limit.0).0;
    let project = call.project()?;
    let before = part.cursor.map(|Text(before)| before);
    let before = before.as_ref().map(|PaymentCursor(at, id)| (*at, id));
    let unfulfilled = call.app.payments.unfulfilled();
    // One more than asked for tells whether there is another page.
    let mut page = unfulfilled.open(project.project.id, before, limit.saturating_add(1));
    let is_last = page.len() <= limit;
    page.truncate(limit);
    let last = page.last().filter(|_| !is_last);
    let next = last.map(|last| PaymentCursor(last.seen_at, last.payment.clone()));
    Ok(Json(UnfulfilledPayments {
        next_cursor: next.map(|next| next.to_string()),
        payments: page.into_iter().map(UnfulfilledPayment::from).collect(),
    }))
}

pub(super) async fn assign(call: AdminCall<AssignPayment>, body: Body) -> Result<Response, Error> {
    let request: Assign = body.parse()?;
    let wallet = NamedWallet::of(request.external_user_id, request.code)?;
    let project = call.project()?;
    let payment = call.path.payment()?;
    let price = request.price_id.0.0;
    let price = price.ok_or_else(|| Error::new(ErrorCode::PriceNotFound))?;
    let to = wallet.map(NamedWallet::into_address).transpose()?;
    let assign = AssignPayment {
        payment,
        price,
        wallet: to,
    };
    let order = call.run(project, assign).await?;
    respond::json(&view::order(&order, KeyKind::Secret))
}

pub(super) async fn refund(
    call: AdminCall<RefundPayment>,
) -> Result<Json<UnfulfilledPayment>, Error> {
    let project = call.project()?;
    let refund = RefundPayment(call.path.payment()?);
    Ok(Json(call.run(project, refund).await?.into()))
}

pub(super) async fn dismiss(
    call: AdminCall<DismissPayment>,
    body: Body,
) -> Result<Json<UnfulfilledPayment>, Error> {
    let Dismiss { note } = body.parse()?;
    let project = call.project()?;
    let dismiss = DismissPayment {
        payment: call.path.payment()?,
        note: line(note),
    };
    Ok(Json(call.run(project, dismiss).await?.into()))
}

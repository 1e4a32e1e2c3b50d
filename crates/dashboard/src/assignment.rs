//! The form that creates an order for a payment that has none.

use actors::{Address, OrderAnswer};
use axum::{extract::State, response::Response};
use domain::{code::RecoveryCode, text::ExternalUserId};
use operator::AssignPayment;
use wire::{Error, ErrorCode};

use super::{
    confirm::ActionForm,
    fields::Fields,
    layout::{self, Tab},
    orders,
    page_request::FormPost,
    unfulfilled::{page, page_path, payment, undecided},
};
use crate::state::App;

/// `POST …/unfulfilled-payments/{payment}/assign`: creates an order for a payment.
pub(super) async fn assign(
    State(app): State<App>,
    posted: FormPost<AssignPayment>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let known = payment(&app, &request, &project)?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Orders);
    let done = async {
        undecided(&known)?;
        let price = fields.parsed("priceId", "a price of this project")?;
        let assign = AssignPayment {
            payment: known.payment.clone(),
            price: price.ok_or_else(|| Error::missing("priceId"))?,
            wallet: wallet(&fields)?,
        };
        let back = format!("{}/{}", page_path(&project), known.payment);
        let page = |order: OrderAnswer, replayed| {
            let message = if replayed { "again" } else { "assigned" };
            layout::done(&orders::path(&project, order.id), message)
        };
        form.answer(assign, &back, page).await
    };
    let again = |error| page(&request, &project, &known, &fields, Some(&error));
    Ok(done.await.unwrap_or_else(again))
}

/// The wallet that gets what the price brings; `None`: a new one.
fn wallet(fields: &Fields) -> Result<Option<Address>, Error> {
    match (fields.exact("externalUserId"), fields.some("code")) {
        (Some(_), Some(_)) => Err(Error::new(ErrorCode::ConflictingWallet)),
        (Some(user), None) => {
            let user = ExternalUserId::new(user);
            let user = user.map_err(|error| Error::text("externalUserId", error))?;
            Ok(Some(Address::External(user)))
        }
        (None, Some(code)) => {
            let code = RecoveryCode::parse(code).map(Address::Code);
            let wrong = || Error::invalid("code", "This is not a recovery code.");
            code.map(Some).ok_or_else(wrong)
        }
        (None, None) => Ok(None),
    }
}

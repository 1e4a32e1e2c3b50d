//! Customers.

use serde_json::Value;

use super::read;
use crate::core::{
    books::Desk, params::Params, records::Customer, refusal::Refusal, views::View as _,
};

pub(super) fn create(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let email = params.bounded("email", 512)?;
    let name = params.bounded("name", 256)?;
    let description = params.bounded("description", 500)?;
    let metadata = params.metadata("metadata")?;
    params.finish()?;
    let customer = Customer {
        head: desk.head("cus_"),
        email,
        name,
        description,
        metadata,
        declines: false,
        balance: 0,
    };
    desk.books.put(customer.clone());
    Ok(customer.view(desk.books))
}

pub(super) fn list(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let email = params.text("email")?;
    read::some::<Customer>(desk, params, "/v1/customers", |customer| {
        email.is_none() || email == customer.email
    })
}

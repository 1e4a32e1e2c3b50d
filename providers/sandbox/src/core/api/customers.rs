//! Customers.

use serde_json::Value;

use crate::core::{
    books::{Desk, Kept as _},
    email,
    objects::Customer,
    params::Params,
    refusal::Refusal,
};

pub(super) fn create(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let email = params.bounded("email", 512)?;
    if let Some(text) = &email {
        email::checked(text, "email")?;
    }
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

pub(super) fn update(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let mut customer: Customer = desk.books.find(id)?;
    if let Some(text) = params.bounded("email", 512)? {
        email::checked(&text, "email")?;
        customer.email = Some(text);
    }
    if let Some(name) = params.bounded("name", 256)? {
        customer.name = Some(name);
    }
    if let Some(description) = params.bounded("description", 500)? {
        customer.description = Some(description);
    }
    params.change_metadata("metadata", &mut customer.metadata)?;
    params.finish()?;
    desk.books.put(customer.clone());
    desk.emit("customer.updated", &customer);
    Ok(customer.view(desk.books))
}

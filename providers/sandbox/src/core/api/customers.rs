//! Customers.

use crate::core::email;
use crate::core::prelude::*;

pub(super) fn create(books: &mut Books, params: &Params) -> Result<Value> {
    let email = params.bounded("email", 512)?;
    if let Some(text) = &email {
        email::checked(text, "email")?;
    }
    let name = params.bounded("name", 256)?;
    let description = params.bounded("description", 500)?;
    let metadata = params.metadata("metadata")?;
    params.finish()?;
    let customer = Customer {
        head: books.head("cus_"),
        email,
        name,
        description,
        metadata,
        declines: false,
        balance: 0,
    };
    books.put(customer.clone());
    Ok(customer.view(books))
}

pub(super) fn update(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    let mut customer: Customer = books.find(id)?;
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
    books.tell("customer.updated", &customer);
    Ok(customer.view(books))
}

//! The endpoints of customers.

use crate::core::prelude::*;

pub(super) fn create(books: &mut Books, params: &Params) -> Result<Value> {
    let customer = Customer {
        head: books.head("cus_"),
        ..Customer::default()
    };
    let customer = filled(params, customer)?;
    Ok(books.stored(customer).view(books))
}

pub(super) fn update(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    let customer = filled(params, books.find(id)?)?;
    books.put_and_emit("customer.updated", &customer);
    Ok(customer.view(books))
}

/// The customer with a form's fields filled in.
fn filled(params: &Params, mut customer: Customer) -> Result<Customer> {
    if let Some(text) = params.bounded("email", 512)? {
        email::checked(&text, "email")?;
        customer.email = Some(text);
    }
    params.change("name", 256, &mut customer.name)?;
    params.change("description", 500, &mut customer.description)?;
    params.change_metadata("metadata", &mut customer.metadata)?;
    params.finish()?;
    Ok(customer)
}

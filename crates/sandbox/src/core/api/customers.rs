//! The endpoints of customers.

use crate::core::prelude::*;

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    let customer = Customer {
        head: db.head("cus_"),
        ..Customer::default()
    };
    let customer = filled(params, customer)?;
    Ok(db.stored(customer).view(db))
}

pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let customer = filled(params, db.find(id)?)?;
    db.put_and_emit("customer.updated", &customer);
    Ok(customer.view(db))
}

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

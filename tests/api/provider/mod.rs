//! What the service does with a payment provider beyond one request: events from webhooks and the provider's
//! list, polling, invoices, unfulfilled payments, and a change of the provider.

mod adoptions;
mod change;
mod event_list;
mod faulty_account;
mod foreign_objects;
mod fulfilment;
mod invoices;
mod kept_failures;
mod overdue_subscriptions;
mod pending_orders;
mod reconciliation;
mod renewals;
mod unfulfilled;
pub(crate) mod unreadable_objects;
mod webhook_endpoint;
mod webhooks;

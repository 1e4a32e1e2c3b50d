//! The payments of a bill, which may be paid in parts.

use domain::text::InvoiceId;
use payments_port::{PartPayment, Provider};

/// The payments of a bill with their present state, oldest first; `None` if nothing had to be paid, or the key may not
/// read them.
/// # Errors
/// See [`payments_port::Error`].
pub(crate) async fn payments_of_bill(
    provider: &dyn Provider,
    invoice: &InvoiceId,
) -> Result<Option<Vec<PartPayment>>, payments_port::Error> {
    match provider.payments_of(invoice).await {
        Ok(parts) => Ok(Some(parts).filter(|parts| !parts.is_empty())),
        Err(payments_port::Error::Permission { .. } | payments_port::Error::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

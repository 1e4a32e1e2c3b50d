//! The payments of a bill, which may be paid in parts.

use domain::text::InvoiceId;
use port::{PartPayment, Provider};

/// The payments of a bill with their present state, the oldest first; `None`: nothing had to be paid, or the key may not
/// see them.
///
/// # Errors
///
/// See [`port::Error`].
pub(crate) async fn payments_of_bill(
    provider: &dyn Provider,
    invoice: &InvoiceId,
) -> Result<Option<Vec<PartPayment>>, port::Error> {
    match provider.payments_of(invoice).await {
        Ok(parts) => Ok(Some(parts).filter(|parts| !parts.is_empty())),
        Err(port::Error::Permission { .. } | port::Error::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

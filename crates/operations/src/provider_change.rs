//! Another provider for a project: the change, and the end of what is open at the former one.

use std::{sync::Arc, time::Duration};

use accounts::{Accounts, ChangeError};
use actors::detached;
use catalog::{ProjectChange, ProviderChange};
use domain::id::ProjectId;
use payments::Payments;
use wire::{Error, ErrorCode};

/// How long an answer waits until all orders and subscriptions at the former provider are ended; mostly
/// it takes less.
const WAIT: Duration = Duration::from_secs(5);

/// Changes a project together with its provider.
/// # Errors
/// [`Error`] when the catalog or the new provider refuses, or the project's orders cannot be read.
pub async fn change(
    accounts: &Arc<Accounts>,
    payments: &Payments,
    id: ProjectId,
    change: ProjectChange,
    provider: ProviderChange,
    force: bool,
) -> Result<(), Error> {
    let (accounts, payments) = (Arc::clone(accounts), payments.clone());
    let work = async move {
        accounts.change(id, change, provider, force).await?;
        let ending = detached(async move { payments.end_former_provider(id).await });
        // After the timeout it continues in the background; if it fails, the next round tries again.
        drop(tokio::time::timeout(WAIT, ending).await);
        Ok::<_, ChangeError>(())
    };
    let done = detached(work).await;
    done.map_err(|_| Error::new(ErrorCode::InternalError))?
        .map_err(refusal)
}

fn refusal(error: ChangeError) -> Error {
    match error {
        ChangeError::Key(words) => {
            let message = format!("The payment provider does not take this key: {words}");
            Error::invalid("provider.secretKey", message)
        }
        ChangeError::InUse => Error::about("provider", ErrorCode::ProviderInUse),
        ChangeError::Catalog(error) => error.into(),
        ChangeError::Payments(error) => {
            tracing::error!(%error, "A payment provider could not be set");
            Error::new(ErrorCode::Unavailable)
        }
    }
}

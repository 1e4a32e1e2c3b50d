//! The sweep over stored events that are due for a retry.

use domain::id::ProjectId;

use super::Inbox;
use crate::{
    Error, backlog::BacklogEntry, fulfilment::CheckoutProgress, project_account::ProjectAccount,
    sweep::Source,
};

impl Source for Inbox {
    type Candidate = BacklogEntry;
    type Run = ();

    const CONCURRENCY: usize = 8;

    fn is_due(&self, project: ProjectId) -> bool {
        self.0.backlog.has(project)
    }

    async fn next(
        &self,
        account: ProjectAccount<'_>,
        (): &mut (),
    ) -> Result<Option<Vec<BacklogEntry>>, Error> {
        let (now, id) = (self.0.context.handle.now(), account.project.project.id);
        let missing = account.provider.missing_permissions();
        let due = self.0.backlog.due(id, now, &missing);
        Ok(Some(due).filter(|due| !due.is_empty()))
    }

    async fn refresh(
        &self,
        account: ProjectAccount<'_>,
        waiting: &BacklogEntry,
    ) -> Result<(), Error> {
        let (fulfilment, about) = (&self.0.context.fulfilment, &waiting.event.content.about);
        let progress = fulfilment.refresh(account, about).await?;
        if progress == CheckoutProgress::Processing {
            return Err(Error::PaymentProcessing);
        }
        self.0.backlog.remove(waiting);
        self.finish(waiting.event.key);
        Ok(())
    }

    async fn store(
        &self,
        _: ProjectAccount<'_>,
        waiting: BacklogEntry,
        error: Error,
    ) -> Result<(), Error> {
        self.0.backlog.remove(&waiting);
        self.postpone(waiting, &error);
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.forget(project).await
    }
}

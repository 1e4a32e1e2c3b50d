//! Bounds work over all projects, each of which gets a share.

use actors::{Shares, detached};
use domain::id::ProjectId;

use super::Error;

#[derive(Debug, Clone)]
pub(super) struct FairSemaphore(Shares<ProjectId>);

impl FairSemaphore {
    /// With `number` permits over all projects.
    pub(super) fn new(number: usize) -> Self {
        Self(Shares::new(number))
    }

    /// Runs work under a permit, to its end even if the caller disconnects.
    /// # Errors
    /// [`actors::Error::Overloaded`] when the project holds its share; else the error of the work.
    pub(super) async fn carry_out<T: Send + 'static>(
        &self,
        project: ProjectId,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.0.take(project, None);
        let permit = permit.ok_or(actors::Error::Overloaded)?;
        let work = async move {
            let _permit = permit;
            work.await
        };
        detached(work)
            .await
            .unwrap_or(Err(Error::Wallet(actors::Error::Unavailable)))
    }
}

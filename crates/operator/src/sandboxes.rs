//! A project's sandbox: how it delivers webhooks, its clock, and how much it behaves like a real account.

use accounts::AdvanceError;
use actors::detached;
use catalog::SandboxChange;
use domain::Timestamp;
use edge::audit::AuditEvent;
use operations::duration::duration;
use sandbox::fault_profile::FaultProfile;
use wire::{Error, ErrorCode};

use crate::{Action, Execution, Operator};

needs!(Manage: UpdateSandbox, AdvanceSandbox, SetFaultProfile);

/// Changes how the sandbox delivers webhooks.
#[derive(Debug)]
pub struct UpdateSandbox(pub SandboxChange);

/// Advances the sandbox's clock by so many seconds.
#[derive(Debug)]
pub struct AdvanceSandbox(pub i64);

/// Sets what the sandbox does that real accounts do to their callers.
#[derive(Debug)]
pub struct SetFaultProfile(pub FaultProfile);

impl Action for UpdateSandbox {
    type Answer = ();

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let Self(change) = self;
        let words = [
            change.delay_seconds.map(|it| format!("delay {it} s")),
            change.duplicates.map(|it| format!("{it} copies")),
            change.shuffle.map(|it| format!("shuffle {it}")),
        ];
        let words: Vec<_> = words.into_iter().flatten().collect();
        by.app.catalog.update_sandbox(by.id(), change).await?;
        let event = match words.is_empty() {
            true => AuditEvent::DidNothing,
            false => AuditEvent::Did(format!(
                "Changed how the sandbox of {} delivers webhooks: {}",
                by.id(),
                words.join(", ")
            )),
        };
        Ok(((), event))
    }
}

impl Action for AdvanceSandbox {
    type Answer = Timestamp;

    async fn execute(self, by: &Operator<'_>) -> Execution<Timestamp> {
        let (seconds, project) = (self.0, by.id());
        let (sandboxes, payments) = (by.app.sandboxes.clone(), by.app.payments.clone());
        let advanced =
            detached(async move { sandboxes.advance(&payments, project, seconds).await }).await;
        let now = match advanced {
            Ok(Ok(now)) => now,
            Ok(Err(AdvanceError::Catalog(error))) => return Err(error.into()),
            Ok(Err(error)) => {
                tracing::error!(%error, "A sandbox's clock could not be advanced");
                return Err(Error::new(ErrorCode::Unavailable));
            }
            Err(_) => return Err(Error::new(ErrorCode::InternalError)),
        };
        let by_so_much = duration(seconds);
        let what = format!("Advanced the clock of the sandbox of {project} by {by_so_much}");
        Ok((now, AuditEvent::Did(what)))
    }
}

impl Action for SetFaultProfile {
    type Answer = ();

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let server = by.app.sandboxes.server();
        server.set_fault_profile(by.id(), self.0);
        let what = format!("Changed the sandbox switches of {}", by.id());
        Ok(((), AuditEvent::Did(what)))
    }
}

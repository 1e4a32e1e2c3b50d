//! A project's settings: changes them and its payment provider, archives it. What requires approval and which provider there
//! is are an owner's decisions; free credits for anonymous wallets require approval where grants or refunds do.

use catalog::{ProjectChange, ProviderChange};
use domain::catalog::{MailChange, Project};
use edge::{Own, audit::AuditEvent, permission::allow};
use identity::CatalogChange;
use operations::provider_change;
use outbound::customer_mail;
use wire::{Error, ErrorCode};

use crate::{
    Action, ChangeResult, Confirmation, ConfirmationResult, Execution, Operator,
    changes::{changes, event_of, fields},
};

needs!(Manage: ArchiveProject, UpdateProject);

/// Archives the project, or takes it out of the archive.
#[derive(Debug)]
pub struct ArchiveProject(pub bool);

/// Changes settings of the project, and its payment provider. The caller holds the lock for saving.
#[derive(Debug)]
pub struct UpdateProject {
    /// Settings that change, if any.
    pub change: ProjectChange,
    /// Another provider, and whether to leave the present one although there are orders.
    pub provider: Option<(ProviderChange, bool)>,
}

impl Action for ArchiveProject {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let Self(archived) = *self;
        if by.project.project.archived == archived {
            return Ok(None);
        }
        let (verb, facts) = match archived {
            true => ("Archive", vec![
                ("What stops", "Checkouts, deductions, holds, grants and new wallets by its keys and sessions: they answer 403 project_archived. Lists of projects leave it out.".into()),
                ("What goes on", "Reads, refunds, open holds, webhooks to your servers, running subscriptions with their renewals, and all else that the provider reports. Cancel subscriptions that are to end.".into()),
            ]),
            false => ("Unarchive", vec![("What begins again", "Its keys sell and spend as before.".into())]),
        };
        Confirmation::ask(format!("{verb} this project?"), facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let Self(archived) = self;
        let _saving = by.app.edge.saving.lock().await;
        let is_before = by.app.catalog.project(by.id())?.project.archived == archived;
        let change = ProjectChange {
            archived: Some(archived),
            ..ProjectChange::default()
        };
        by.catalog().update_project(by.id(), change, None).await?;
        Ok(((), AuditEvent::once(is_before, archiving(by, archived))))
    }
}

fn archiving(by: &Operator<'_>, archived: bool) -> String {
    let did = if archived { "Archived" } else { "Unarchived" };
    format!("{did} project {}", by.id())
}

impl UpdateProject {
    /// Changes the mails to customers alone.
    #[must_use]
    pub fn of_mails(mails: MailChange) -> Self {
        let change = ProjectChange {
            mails,
            ..ProjectChange::default()
        };
        Self {
            change,
            provider: None,
        }
    }

    /// Refuses what only an owner decides, and what mails cannot be made of.
    fn check(&self, by: &Operator<'_>) -> Result<(), Error> {
        customer_mail::check(&by.project, &self.change.mails)?;
        let rules = by.project.project.approval;
        let differs = |new: Option<Option<i64>>, rule| new.is_some_and(|new| new != rule);
        let decides = differs(self.change.approval_above_cents, rules.above_cents)
            || differs(self.change.approval_above_credits, rules.above_credits);
        match allow::<Own>(by.authority, Some(by.id())) {
            Err(_) if decides => {
                let message = "Only an owner can change what requires approval.";
                Err(Error::about("approvalAboveCents", ErrorCode::RoleForbidden).saying(message))
            }
            Err(error) if self.provider.is_some() => Err(error),
            _ => Ok(()),
        }
    }
}

impl Action for UpdateProject {
    type Answer = ();

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        self.check(by)?;
        let (before, draft) = (&by.project.project, by.app.catalog.draft());
        let drafted = draft
            .update_project(by.id(), self.change.clone(), None)
            .await?;
        if !drafted.free_grants_for_code_wallets || before.free_grants_for_code_wallets {
            return Ok(None);
        }
        let alone = Project {
            free_grants_for_code_wallets: false,
            ..drafted
        };
        if alone != *before {
            let message =
                "This requires approval by a second person: save the other changes separately.";
            return Err(Error::invalid("freeGrantsForCodeWallets", message));
        }
        let what = "give anonymous wallets free credits".to_owned();
        Ok(Some((CatalogChange::FreeGrantsForCodeWallets, what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        self.check(by)?;
        let (app, id) = (by.app, by.id());
        let mut sentences = Vec::new();
        match self.provider {
            None => drop(by.catalog().update_project(id, self.change, None).await?),
            Some((provider, force)) => {
                let name = match provider {
                    ProviderChange::None => "none",
                    ProviderChange::Sandbox => "the sandbox",
                    ProviderChange::Stripe { .. } => "Stripe",
                };
                sentences.push(format!("Set the payment provider of {id}: {name}"));
                let (accounts, payments) = (&app.accounts, &app.payments);
                provider_change::change(accounts, payments, id, self.change, provider, force)
                    .await?;
            }
        }
        let (before, after) = (&by.project.project, app.catalog.project(id)?);
        let after = &after.project;
        if before.archived != after.archived {
            sentences.push(archiving(by, after.archived));
        }
        let before = Project {
            archived: after.archived,
            ..before.clone()
        };
        let changed = changes(&fields(&before), &fields(after));
        sentences.extend(changed.map(|changed| format!("Changed project {id}: {changed}")));
        Ok(((), event_of(&sentences)))
    }
}

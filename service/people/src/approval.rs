//! What somebody asked for that needs another person's yes: kept until somebody answers, or a week is over. Who may
//! answer is [`Privilege::Manage`](crate::Privilege) and another than who asked.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{ApprovalId, ProjectId},
};
use notes::NoteKind;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{Authority, Error, Gift, People};

/// How long a request waits.
const WAIT_SECONDS: i64 = 7 * 24 * 3600;
/// The most requests of a project that wait.
const PER_PROJECT: usize = 100;

/// Something that needs another person's yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The identifier of the request.
    pub id: ApprovalId,
    /// The project that it is about.
    pub project: ProjectId,
    /// Who asked, and what they might do then.
    pub asker: Authority,
    /// When, in milliseconds.
    pub at: i64,
    /// What they asked for.
    pub gift: Gift,
    /// Why, in a line; may be empty.
    pub reason: String,
    /// The idempotency key under which it is done, so that it is done once.
    pub key: String,
}

/// A request, by its project and its identifier.
#[derive(Debug)]
pub struct ApprovalNote;

impl NoteKind for ApprovalNote {
    const NUMBER: u8 = 35;
    const NAME: &'static str = "request for another person's yes";
    type Key = (ProjectId, ApprovalId);
    type Body = Approval;

    fn check((project, id): &Self::Key, approval: &Approval) -> Result<(), String> {
        match (approval.project, approval.id) == (*project, *id) {
            true => Ok(()),
            false => Err("it is of another request".into()),
        }
    }
}

/// All requests that wait.
pub(crate) type Approvals = Mutex<BTreeMap<(ProjectId, ApprovalId), Approval>>;

impl Approval {
    /// Until when it waits.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        Timestamp(self.at).plus_seconds(WAIT_SECONDS)
    }

    /// Whether somebody is who asked.
    #[must_use]
    pub fn is_of(&self, somebody: &Authority) -> bool {
        somebody.user().is_some() && somebody.user() == self.asker.user()
    }
}

impl People {
    /// The requests of a project that wait for a yes, oldest first.
    #[must_use]
    pub fn approvals(&self, project: ProjectId, now: Timestamp) -> Vec<Approval> {
        let all = self.approvals.lock();
        let of_project = all.values().filter(|it| it.project == project);
        of_project.filter(|it| it.until() > now).cloned().collect()
    }

    /// A request that waits for a yes.
    ///
    /// # Errors
    ///
    /// [`Error::ApprovalNotFound`]: it was answered, or has lapsed.
    pub fn approval(
        &self,
        project: ProjectId,
        id: ApprovalId,
        now: Timestamp,
    ) -> Result<Approval, Error> {
        let all = self.approvals.lock();
        let known = all.get(&(project, id)).filter(|it| it.until() > now);
        known.cloned().ok_or(Error::ApprovalNotFound)
    }

    /// Keeps what somebody asks for until another person answers; once that is durable. What is asked for again under
    /// the same key is kept once.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyApprovals`]; it could not be logged.
    pub async fn ask_for_approval(
        &self,
        (project, asker): (ProjectId, &Authority),
        gift: Gift,
        (reason, key): (&str, &str),
        now: Timestamp,
    ) -> Result<Approval, Error> {
        let _changing = self.changing.lock().await;
        let waiting = self.approvals(project, now);
        if let Some(known) = waiting.iter().find(|it| it.key == key && it.gift == gift) {
            return Ok(known.clone());
        }
        if waiting.len() >= PER_PROJECT {
            return Err(Error::TooManyApprovals);
        }
        let approval = Approval {
            id: ApprovalId(uuid::Uuid::now_v7().as_u128()),
            project,
            asker: asker.clone(),
            at: now.0,
            gift,
            reason: reason.to_owned(),
            key: key.to_owned(),
        };
        let lapsed: Vec<_> = {
            let all = self.approvals.lock();
            let lapsed = all.iter().filter(|(_, it)| it.until() <= now);
            lapsed.map(|(key, _)| *key).collect()
        };
        let forgotten = lapsed.iter().map(notes::forget::<ApprovalNote>);
        let asked = notes::put::<ApprovalNote>(&(project, approval.id), &approval);
        let append = forgotten.chain([asked]);
        notes::put_all(&self.handle, append).await?;
        let mut all = self.approvals.lock();
        all.retain(|key, _| !lapsed.contains(key));
        all.insert((project, approval.id), approval.clone());
        Ok(approval)
    }

    /// Forgets a request that was answered; once that is durable.
    ///
    /// # Errors
    ///
    /// It could not be logged.
    pub async fn forget_approval(&self, approval: &Approval) -> Result<(), Error> {
        let key = (approval.project, approval.id);
        let _changing = self.changing.lock().await;
        self.handle
            .put_notes(vec![notes::forget::<ApprovalNote>(&key)])
            .await?;
        self.approvals.lock().remove(&key);
        Ok(())
    }
}

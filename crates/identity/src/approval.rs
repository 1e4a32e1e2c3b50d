//! Requests for approval by a second person, kept for a week until somebody with
//! [`Privilege::Manage`](crate::Privilege), other than the requester, answers.

use std::collections::{BTreeMap, BTreeSet};

use actors::notes;
use domain::{
    Timestamp,
    id::{ApprovalId, ProjectId},
};
use parking_lot::Mutex;
use persistence::Note;
use serde::{Deserialize, Serialize};

use crate::{Action, Authority, Error, People};

const EXPIRY_SECONDS: i64 = 7 * 24 * 3600;
const MAX_PER_PROJECT: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub project: ProjectId,
    /// The requester, with their permissions at that time.
    pub asker: Authority,
    /// When, in milliseconds.
    pub at: i64,
    pub action: Action,
    /// The same in words, for the audit log.
    pub what: String,
    /// The name of the approver, if the requester has to complete it.
    pub approved_by: Option<String>,
    /// Why, in a line; may be empty.
    pub reason: String,
    /// The idempotency key under which it is carried out.
    pub key: String,
}

actors::note_kinds! {
    /// A request, by its project and its identifier.
    pub struct ApprovalNote: 35, "request for approval", (ProjectId, ApprovalId) => Approval,
        |(project, id), approval| (approval.project, approval.id) == (*project, *id);
}

/// All pending requests.
pub(crate) type Approvals = Mutex<BTreeMap<(ProjectId, ApprovalId), Approval>>;
/// Requests that somebody is answering.
pub(crate) type Answering = Mutex<BTreeSet<(ProjectId, ApprovalId)>>;

/// Somebody is answering a request: nobody else may until this is dropped.
#[must_use = "the request may be answered by another once it is dropped"]
pub struct AnswerInProgress<'a> {
    answering: &'a Answering,
    key: (ProjectId, ApprovalId),
}

impl Drop for AnswerInProgress<'_> {
    fn drop(&mut self) {
        self.answering.lock().remove(&self.key);
    }
}

impl Approval {
    pub const fn until(&self) -> Timestamp {
        Timestamp(self.at).plus_seconds(EXPIRY_SECONDS)
    }

    /// The note that forgets it, to be logged with the change.
    pub fn forgotten(&self) -> Note {
        notes::forget::<ApprovalNote>(&(self.project, self.id))
    }

    pub fn is_of(&self, somebody: &Authority) -> bool {
        somebody.user().is_some() && somebody.user() == self.asker.user()
    }
}

impl People {
    /// The pending requests of a project, oldest first.
    pub fn approvals(&self, project: ProjectId, now: Timestamp) -> Vec<Approval> {
        let all = self.approvals.lock();
        let of_project = all.values().filter(|it| it.project == project);
        of_project.filter(|it| it.until() > now).cloned().collect()
    }

    /// A pending request.
    /// # Errors
    /// [`Error::ApprovalNotFound`]: it was answered, or has expired.
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

    /// A pending request, locked against other answers.
    /// # Errors
    /// [`Error::ApprovalInProgress`]: another answer is being given; as [`People::approval`].
    pub fn answer_approval(
        &self,
        project: ProjectId,
        id: ApprovalId,
        now: Timestamp,
    ) -> Result<(Approval, AnswerInProgress<'_>), Error> {
        let (answering, key) = (&self.answering, (project, id));
        if !answering.lock().insert(key) {
            return Err(Error::ApprovalInProgress);
        }
        let in_progress = AnswerInProgress { answering, key };
        Ok((self.approval(project, id, now)?, in_progress))
    }

    /// Keeps a request until another person answers; returns once that is durable. The same request under the same key is
    /// kept once.
    /// # Errors
    /// [`Error::TooManyApprovals`]; it could not be logged.
    pub async fn ask_for_approval(
        &self,
        (project, asker): (ProjectId, &Authority),
        (action, what): (Action, String),
        (reason, key): (&str, &str),
        now: Timestamp,
    ) -> Result<Approval, Error> {
        let _changing = self.changing.lock().await;
        let waiting = self.approvals(project, now);
        let is_same = |it: &&Approval| {
            it.key == key && it.action == action && it.asker.user() == asker.user()
        };
        if let Some(known) = waiting.iter().find(is_same) {
            return Ok(known.clone());
        }
        if waiting.len() >= MAX_PER_PROJECT {
            return Err(Error::TooManyApprovals);
        }
        let approval = Approval {
            id: ApprovalId(uuid::Uuid::now_v7().as_u128()),
            project,
            asker: asker.clone(),
            at: now.0,
            action,
            what,
            approved_by: None,
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

    /// Marks a request as approved, for its requester to complete; returns once that is durable.
    /// # Errors
    /// [`Error::ApprovalNotFound`]: it was answered since; it could not be logged.
    pub async fn approve(&self, approval: &Approval, by: &Authority) -> Result<(), Error> {
        let key = (approval.project, approval.id);
        let _changing = self.changing.lock().await;
        if !self.approvals.lock().contains_key(&key) {
            return Err(Error::ApprovalNotFound);
        }
        let approved = Approval {
            approved_by: Some(by.label().to_owned()),
            ..approval.clone()
        };
        let note = notes::put::<ApprovalNote>(&key, &approved);
        self.handle.put_notes(vec![note]).await?;
        self.approvals.lock().insert(key, approved);
        Ok(())
    }

    /// Takes out of memory a request that was forgotten together with what it asked for.
    pub fn approval_is_over(&self, approval: &Approval) {
        let key = (approval.project, approval.id);
        self.approvals.lock().remove(&key);
    }

    /// Forgets a request that was answered; once that is durable.
    /// # Errors
    /// It could not be logged.
    pub async fn forget_approval(&self, approval: &Approval) -> Result<(), Error> {
        let _changing = self.changing.lock().await;
        let key = (approval.project, approval.id);
        if !self.approvals.lock().contains_key(&key) {
            return Ok(());
        }
        self.handle.put_notes(vec![approval.forgotten()]).await?;
        self.approval_is_over(approval);
        Ok(())
    }
}

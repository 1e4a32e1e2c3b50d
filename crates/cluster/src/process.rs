//! One process of several, from when it joins until it leads: it follows the log, answers through its front,
//! and takes the leader's place when that is gone. It goes that way once; a leader that loses the log ends and restarts.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use actors::clock::{Clock as _, SystemClock};
use axum::Router;
use persistence::{Error, Membership, Options, Store};
use scrip_http::connections::Responder;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::{
    front::{FindRoutingKey, ForwardSettings, Forwarder, Front, FrontLink, FrontSwitch, Origin},
    leader_seen::{LeaderSeen, local},
    part::ClusterPart,
    postgres::{Clocks, Examiner, Followed, Follower, Member},
};

/// How long the database may take to be there at the start.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long `leave` waits until no other process leads.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(15);

/// A process that has joined: its books have the log as far as that goes, and nothing is answered yet.
pub struct Joined {
    cell: i16,
    /// Where the others reach it.
    address: Box<str>,
    examiner: Examiner,
    follower: Follower,
    leader: Arc<LeaderSeen>,
    clocks: Clocks,
}

/// What the front of a process is made of, beside the log.
pub struct FrontSettings<'a> {
    /// The key that all processes have, by which they know each other's requests.
    pub server_key: &'a [u8; 32],
    /// How requests are passed on.
    pub forward: ForwardSettings,
    /// Says which project a request is about.
    pub find: FindRoutingKey,
}

/// A process that has joined, with a front and without a service.
pub struct Process<R> {
    /// Answers all requests.
    pub front: Front<R>,
    /// Says whether this process answers, and which other one does.
    pub switch: FrontSwitch<R>,
    pub part: Arc<ClusterPart>,
    follower: Follower,
    clocks: Clocks,
}

/// The right to write the log, and what a service is started over.
pub struct Lead {
    /// The log and the books, with everything that was acknowledged before.
    pub store: Store,
    /// The clock, which goes on from the former leader's.
    pub clock: Arc<SystemClock>,
}

impl Joined {
    /// Waits for the database, opens the data directory, and reads the log as far as it goes.
    /// # Errors
    /// Those of [`Follower::join`].
    pub async fn join(options: Options, member: Member) -> Result<Self, Error> {
        let leader = Arc::new(LeaderSeen::default());
        let seen = Arc::clone(&leader);
        let member = Member {
            on_leader: Arc::new(move |address| {
                seen.saw(address.and_then(|text| text.parse().ok()));
            }),
            ..member
        };
        let (cell, address) = (member.cell, member.address.clone());
        let clocks = member.clocks.clone();
        let examiner = Examiner::new(member.server.clone(), cell);
        let follower = blocking(move || {
            member.server.wait_until_there(DATABASE_TIMEOUT)?;
            Follower::join(options, member)
        });
        Ok(Self {
            cell,
            address,
            examiner,
            follower: follower.await?,
            leader,
            clocks,
        })
    }

    /// Gives the process a front. `metrics` makes the routes that it answers itself while it follows, beside its health.
    /// # Errors
    /// [`Error::Io`] when requests cannot be passed on as configured.
    pub fn front<R: Responder>(
        self,
        settings: FrontSettings<'_>,
        metrics: impl FnOnce(&Arc<ClusterPart>) -> Router,
    ) -> Result<Process<R>, Error> {
        let forwarder = Forwarder::new(settings.server_key, settings.forward)
            .map_err(|error| Error::Io(error.to_string()))?;
        let own: Option<Origin> = self.address.parse().ok();
        // The part counts what the front does, and the front asks the part for its metrics.
        let link = Arc::<OnceLock<FrontLink>>::default();
        let place = (self.cell, self.address);
        let standing = self.follower.standing();
        let part = ClusterPart::new(place, self.examiner, standing, Arc::clone(&link));
        let router = local(&self.leader).merge(metrics(&part));
        let (front, switch) = Front::new(router, forwarder, self.cell, settings.find);
        drop(link.set(switch.link()));
        self.leader.report_to(switch.clone(), own);
        Ok(Process {
            front,
            switch,
            part,
            follower: self.follower,
            clocks: self.clocks,
        })
    }
}

impl<R: Responder> Process<R> {
    /// Asks the database again and again who there is, for the metrics and the front. Returns once the front knows the
    /// cells, or cannot.
    pub async fn watch(&self) -> [JoinHandle<()>; 2] {
        let watching = tokio::spawn(Arc::clone(&self.part).watch());
        let routes = self.switch.routes().clone();
        let part = Arc::clone(&self.part);
        let routing = tokio::spawn(routes.clone().keep(move || leaders(Arc::clone(&part))));
        routes.refreshed().await;
        [watching, routing]
    }

    /// Follows the log until this process leads it; `None`: `stop` ended first, and the data directory is closed.
    /// # Errors
    /// Those of [`Follower::follow`], and [`Error::Unusable`] when the log was taken out of the database.
    pub async fn follow(self, stop: impl Future<Output = ()>) -> Result<Option<Lead>, Error> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (follower, asked) = (self.follower, Arc::clone(&is_stopped));
        let following = blocking(move || follower.follow(&|| asked.load(Ordering::Acquire)));
        tokio::pin!(following);
        let followed = tokio::select! {
            followed = &mut following => followed?,
            () = stop => {
                is_stopped.store(true, Ordering::Release);
                following.await?
            }
        };
        match followed {
            Followed::Leads { journal, .. } if is_stopped.load(Ordering::Acquire) => {
                // It came to lead at the very moment: the next one takes over at once.
                let store = Store::of(journal);
                blocking(move || store.log.close()).await?;
                Ok(None)
            }
            Followed::Leads { journal, clock } => {
                tracing::info!("This process leads");
                self.part.leads();
                let clock = clock.map_or_else(SystemClock::new, SystemClock::resuming);
                let clock = Arc::new(clock);
                let shown = Arc::clone(&clock);
                drop(self.clocks.service.set(Arc::new(move || shown.now())));
                let store = Store::of(journal);
                Ok(Some(Lead { store, clock }))
            }
            Followed::Stopped => Ok(None),
            Followed::Taken { is_own: true } => Err(Error::Unusable(
                "this data directory has taken the log along: `scrip cluster leave` again ends what it began, and then \
                 it is served without storage.url"
                    .into(),
            )),
            Followed::Taken { is_own: false } => Err(Error::Unusable(
                "the log has been taken out of the database by `scrip cluster leave`: it goes on where that was run"
                    .into(),
            )),
        }
    }
}

/// Takes a log out of its database into the data directory of one process: joins, leads, closes the log in the database
/// for good, and makes the data directory one that is served by itself. An attempt that was cut off is finished by
/// the next. Blocks.
/// # Errors
/// [`Error::Unusable`] where another process leads, the log was taken elsewhere, or the database does not answer;
/// otherwise those of [`Follower::join`].
pub fn leave(options: Options, member: Member) -> Result<(), Error> {
    let refused = |why: &str| Error::Unusable(why.into());
    let dir = options.dir.clone();
    let follower = Follower::join(options, member)?;
    if let Some(cell) = follower.joins() {
        return Err(refused(&format!(
            "this process is to become cell {cell} and still follows the log that the cell comes from: it never leads \
             that, and cannot take it along"
        )));
    }
    let began = Instant::now();
    match follower.follow(&|| began.elapsed() > LEAVE_TIMEOUT)? {
        Followed::Leads { journal, .. } => journal.leave(),
        Followed::Taken { is_own: true } => Membership::remove(&dir),
        Followed::Taken { is_own: false } => Err(refused(
            "the log has been taken out of the database by another data directory: it goes on there",
        )),
        Followed::Stopped => Err(refused(
            "another process still leads, or the database does not answer: stop all processes of the cluster first",
        )),
    }
}

/// The leaders of all cells as the database has them, for the front.
async fn leaders(part: Arc<ClusterPart>) -> Option<Vec<(i16, Option<Origin>)>> {
    let cells = part.cells().await?.into_iter();
    let leader = |address: Option<String>| address.and_then(|address| address.parse().ok());
    Some(cells.map(|it| (it.cell, leader(it.leader))).collect())
}

/// Runs on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| Error::Io(error.to_string()))?
}

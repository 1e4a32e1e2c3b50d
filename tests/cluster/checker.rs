//! The load of a test, and the judge of it: whatever happens, each change that was acknowledged is there once and seen
//! by everybody, and none is there twice.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use kit::{Background, Client, Project, deadline};

use crate::{
    members::Cluster,
    teller::{Account, Call, Clients, End, Teller, audit},
};

const CLIENTS: usize = 12;

/// Clients at work.
pub(crate) struct Checker {
    desk: Arc<Clients>,
    tellers: Vec<Background<Account>>,
}

impl Checker {
    /// Lets clients work on a cluster.
    pub(crate) async fn start(cell: &Cluster) -> Self {
        Self::of(cell, &cell.project).await
    }

    /// Lets clients work on one of its projects.
    pub(crate) async fn of(cell: &Cluster, project: &Project) -> Self {
        let desk = Arc::new(Clients {
            bases: cell.bases(),
            secret: project.secret.clone(),
            product: project.product.clone(),
            stop: false.into(),
            avoided: parking_lot::Mutex::default(),
            calls: parking_lot::Mutex::default(),
        });
        let teller = |number| {
            let teller = Teller::new(&desk, number);
            Background::spawn(format!("client {number}"), teller.work())
        };
        let checker = Self {
            tellers: (0..CLIENTS).map(teller).collect(),
            desk,
        };
        checker.goes_on().await;
        checker
    }

    /// Waits until each client could have got some answers to what it sends from now on.
    pub(crate) async fn goes_on(&self) {
        let now = Instant::now();
        deadline::until("answers under load", deadline::SOON, || {
            self.look();
            let calls = self.desk.calls.lock();
            let answers = calls.iter().rev().take_while(|call| call.ended >= now);
            let answers = answers.filter(|call| call.sent >= now && call.end == End::Acknowledged);
            (answers.count() >= CLIENTS * 4).then_some(())
        })
        .await;
    }

    /// Panics where a client has: a failure is told at once.
    fn look(&self) {
        let ended = self.tellers.iter().any(Background::has_ended);
        assert!(!ended, "a client has failed: see above");
    }

    /// Clients keep away from these processes.
    pub(crate) fn avoid(&self, members: &[usize]) {
        *self.desk.avoided.lock() = members.to_vec();
    }

    /// From an instant to the first answer to a request that was sent after it.
    pub(crate) async fn away(&self, since: Instant) -> Duration {
        deadline::until("an answer after trouble", deadline::SOON, || {
            self.look();
            let calls = self.desk.calls.lock();
            let answers = calls.iter().rev().take_while(|call| call.ended >= since);
            let answers =
                answers.filter(|call| call.sent >= since && call.end == End::Acknowledged);
            answers.map(|call| call.ended - since).min()
        })
        .await
    }

    /// All attempts so far that ended after an instant.
    pub(crate) fn calls(&self, since: Instant) -> Vec<Call> {
        let calls = self.desk.calls.lock();
        calls
            .iter()
            .filter(|it| it.ended >= since)
            .copied()
            .collect()
    }

    /// The longest time in which nothing was acknowledged, after an instant.
    pub(crate) fn longest_silence(&self, since: Instant) -> Duration {
        let mut ends: Vec<Instant> = self
            .calls(since)
            .iter()
            .filter(|call| call.end == End::Acknowledged)
            .map(|call| call.ended)
            .collect();
        ends.sort();
        let before = [since].into_iter().chain(ends.iter().copied());
        let gaps = before.zip(&ends).map(|(before, after)| *after - before);
        gaps.max().unwrap_or_default()
    }

    /// [`Checker::judge`], and then each process' directory is held to the log.
    pub(crate) async fn finish(self, cell: &mut Cluster) {
        self.judge(cell).await;
        cell.stop_and_verify().await;
    }

    /// Ends the load and holds the books to what clients were told, as each process shows them.
    pub(crate) async fn judge(mut self, cell: &mut Cluster) {
        cell.mend().await;
        self.goes_on().await;
        self.desk.stop.store(true, Ordering::Release);
        for (number, teller) in std::mem::take(&mut self.tellers).into_iter().enumerate() {
            let account = teller.finish(deadline::SOON).await;
            let client: Client = cell.client(number % cell.members.len(), &self.desk.secret);
            audit(&account, &client, &self.desk.product).await;
        }
        self.tell();
    }

    fn tell(&self) {
        let calls = self.desk.calls.lock();
        let count = |end| calls.iter().filter(|call| call.end == end).count();
        let mut shares = std::collections::BTreeMap::<usize, usize>::new();
        for call in calls.iter() {
            *shares.entry(call.through).or_default() += 1;
        }
        println!(
            "{} changes acknowledged, {shares:?} through each process; 503: {}, refused: {}, broken off: {}",
            count(End::Acknowledged),
            count(End::Unavailable),
            count(End::Refused),
            count(End::Broken)
        );
    }
}

/// Prints what was measured: the median and the worst.
pub(crate) fn print_times(what: &str, times: &mut [Duration]) {
    times.sort();
    if let Some(worst) = times.last() {
        println!("{what}: p50 {:?}, worst {worst:?}", times[times.len() / 2]);
    }
}

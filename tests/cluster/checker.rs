//! The load of a test, and its check: each acknowledged change is there exactly once, and every process shows it.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use kit::{Background, Client, Project, deadline};

use crate::{
    client_sim::{Account, Call, ClientSim, Clients, End, audit},
    members::Cluster,
};

const CLIENTS: usize = 12;

/// Clients at work.
pub(crate) struct Checker {
    clients_state: Arc<Clients>,
    sims: Vec<Background<Account>>,
}

impl Checker {
    /// Lets clients work on a cluster.
    pub(crate) async fn start(cell: &Cluster) -> Self {
        Self::of(cell, &cell.project).await
    }

    /// Lets clients work on one of its projects.
    pub(crate) async fn of(cell: &Cluster, project: &Project) -> Self {
        let clients_state = Arc::new(Clients {
            bases: cell.bases(),
            secret: project.secret.clone(),
            product: project.product.clone(),
            stop: false.into(),
            avoided: parking_lot::Mutex::default(),
            calls: parking_lot::Mutex::default(),
        });
        let client_sim = |number| {
            let client_sim = ClientSim::new(&clients_state, number);
            Background::spawn(format!("client {number}"), client_sim.work())
        };
        let checker = Self {
            sims: (0..CLIENTS).map(client_sim).collect(),
            clients_state,
        };
        checker.goes_on().await;
        checker
    }

    /// Waits until each client could have got some answers to what it sends from now on.
    pub(crate) async fn goes_on(&self) {
        let now = Instant::now();
        deadline::until("answers under load", deadline::SOON, || {
            self.look();
            let calls = self.clients_state.calls.lock();
            let answers = calls.iter().rev().take_while(|call| call.ended >= now);
            let answers = answers.filter(|call| call.sent >= now && call.end == End::Acknowledged);
            (answers.count() >= CLIENTS * 4).then_some(())
        })
        .await;
    }

    /// Panics where a client has: a failure is reported at once.
    fn look(&self) {
        let ended = self.sims.iter().any(Background::has_ended);
        assert!(!ended, "a client has failed: see above");
    }

    /// Clients keep away from these processes.
    pub(crate) fn avoid(&self, members: &[usize]) {
        *self.clients_state.avoided.lock() = members.to_vec();
    }

    /// From an instant to the first answer to a request that was sent after it.
    pub(crate) async fn away(&self, since: Instant) -> Duration {
        deadline::until("an answer after trouble", deadline::SOON, || {
            self.look();
            let calls = self.clients_state.calls.lock();
            let answers = calls.iter().rev().take_while(|call| call.ended >= since);
            let answers =
                answers.filter(|call| call.sent >= since && call.end == End::Acknowledged);
            answers.map(|call| call.ended - since).min()
        })
        .await
    }

    /// All attempts so far that ended after an instant.
    pub(crate) fn calls(&self, since: Instant) -> Vec<Call> {
        let calls = self.clients_state.calls.lock();
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

    /// Ends the load and compares the books, as each process shows them, with what clients were answered.
    pub(crate) async fn judge(mut self, cell: &mut Cluster) {
        cell.repair().await;
        self.goes_on().await;
        self.clients_state.stop.store(true, Ordering::Release);
        for (number, client_sim) in std::mem::take(&mut self.sims).into_iter().enumerate() {
            let account = client_sim.finish(deadline::SOON).await;
            let client: Client =
                cell.client(number % cell.members.len(), &self.clients_state.secret);
            audit(&account, &client, &self.clients_state.product).await;
        }
        self.print_summary();
    }

    fn print_summary(&self) {
        let calls = self.clients_state.calls.lock();
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

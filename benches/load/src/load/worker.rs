//! One thread of the load generator: an epoll loop over its share of the connections.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};

use super::{Outcome, connection::Connection, histogram, schedule::Schedule, template::Request};
use crate::{
    error::{Context, Error, Result},
    stop,
};

/// How long responses may take after the last request, and how long the server may be silent.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait for events when no request is due.
const LOOK_UP: Duration = Duration::from_millis(100);
/// How long to wait after a response that says that the server is too busy.
const REST: Duration = Duration::from_millis(100);
/// The resolution of epoll's timeout.
const MILLISECOND: Duration = Duration::from_millis(1);
/// Shortest sleep where more than one request is due within a millisecond: waking up for each would take the
/// processor from the server.
const GRAIN: Duration = Duration::from_micros(200);

/// Chooses the wallets of a thread's requests.
pub(super) enum Choice {
    /// Random wallets, for `left` items.
    Random {
        /// Number of wallets.
        wallets: u64,
        /// The state of a xorshift generator.
        state: u64,
        /// Items left to send.
        left: u64,
    },
    /// Always this wallet.
    Hot(u64),
    /// Wallets in order, `times` items each.
    InOrder {
        /// The next item.
        next: u64,
        /// The end of the items, excluded.
        end: u64,
        /// Items per wallet.
        times: u64,
    },
}

impl Choice {
    pub(super) const fn random(wallets: u64, seed: u64, left: u64) -> Self {
        Self::Random {
            wallets,
            state: seed | 1,
            left,
        }
    }

    const fn ended(&self) -> bool {
        match self {
            Self::Random { left, .. } => *left == 0,
            Self::Hot(_) => false,
            Self::InOrder { next, end, .. } => *next >= *end,
        }
    }

    fn next(&mut self) -> u64 {
        match self {
            Self::Random {
                wallets,
                state,
                left,
            } => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                *left = left.saturating_sub(1);
                ((u128::from(*state) * u128::from(*wallets)) >> 64) as u64
            }
            Self::Hot(wallet) => *wallet,
            Self::InOrder { next, times, .. } => {
                *next += 1;
                (*next - 1) / *times
            }
        }
    }
}

/// When measuring begins and sending ends.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    begin: Instant,
    end: Option<Instant>,
}

impl Pace {
    pub(super) fn from(now: Instant, warm_up: Duration, length: Duration) -> Self {
        let begin = now + warm_up;
        Self {
            begin,
            end: begin.checked_add(length),
        }
    }

    fn over(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }
}

/// A thread's state.
pub(super) struct Worker {
    poll: Poll,
    connections: Vec<Connection>,
    request: Request,
    choice: Choice,
    number: u64,
    /// When to send; `None`: after each response.
    schedule: Option<Schedule>,
    /// Connections that wait until a request is due.
    idle: Vec<usize>,
    /// Connections whose request was shed, and when they try again.
    resting: VecDeque<(Instant, usize)>,
    patient: bool,
    in_flight: usize,
    answers: u64,
    shed: u64,
    /// Responses to requests that were sent in time, but too late to count.
    late: u64,
    failures: u64,
    first_failure: Option<String>,
    last_answer: Instant,
    latency: Histogram<u64>,
}

impl Worker {
    pub(super) fn connect(
        server: SocketAddr,
        connections: usize,
        request: Request,
        choice: Choice,
    ) -> Result<Self> {
        let poll = Poll::new().context("epoll")?;
        let mut open = Vec::with_capacity(connections);
        for token in 0..connections {
            let mut connection = Connection::open(server)?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            poll.registry()
                .register(&mut connection.stream, Token(token), interest)?;
            open.push(connection);
        }
        Ok(Self {
            poll,
            connections: open,
            request,
            choice,
            number: 0,
            schedule: None,
            idle: Vec::new(),
            resting: VecDeque::new(),
            patient: false,
            in_flight: 0,
            answers: 0,
            shed: 0,
            late: 0,
            failures: 0,
            first_failure: None,
            last_answer: Instant::now(),
            latency: histogram()?,
        })
    }

    pub(super) fn run(
        mut self,
        pace: Pace,
        schedule: Option<Schedule>,
        patient: bool,
    ) -> Result<Outcome> {
        (self.schedule, self.patient) = (schedule, patient);
        for token in 0..self.connections.len() {
            self.send_next(token, pace, Instant::now())?;
        }
        let mut events = Events::with_capacity(1024);
        while self.goes_on(pace) && !stop::is_requested() {
            self.send_due(pace)?;
            self.send_rested(pace)?;
            let wait = self.wait(pace);
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                polled => polled.context("epoll")?,
            }
            for event in &events {
                if event.is_writable() {
                    self.writable(event.token().0)?;
                }
                if event.is_readable() {
                    self.readable(event.token().0, pace)?;
                }
            }
            if self.last_answer.elapsed() > TIMEOUT {
                return Err(Error(format!(
                    "{} requests got no answer in {TIMEOUT:?}",
                    self.in_flight
                )));
            }
        }
        if let Some(first) = self.first_failure {
            return Err(Error(format!(
                "{} bad answers; the first: {first}",
                self.failures
            )));
        }
        // A round that is too short for every connection to get a response lasts until its last one.
        let short = self.answers < self.connections.len() as u64;
        let (answers, end) = match pace.end {
            Some(end) if !short => (self.answers, end),
            _ => (self.answers + self.late, self.last_answer),
        };
        let elapsed = end.saturating_duration_since(pace.begin);
        Ok(Outcome {
            answers,
            shed: self.shed,
            elapsed,
            latency: self.latency,
        })
    }

    fn writable(&mut self, token: usize) -> Result<()> {
        self.connections
            .get_mut(token)
            .map_or(Ok(()), Connection::resume)
    }

    fn readable(&mut self, token: usize, pace: Pace) -> Result<()> {
        let Some(connection) = self.connections.get_mut(token) else {
            return Ok(());
        };
        let Some(started) = connection.started else {
            return Ok(());
        };
        if !connection.receive()? {
            return Ok(());
        }
        let now = Instant::now();
        connection.started = None;
        self.in_flight -= 1;
        self.last_answer = now;
        if self.patient && connection.was_shed() {
            self.shed += 1;
            self.resting.push_back((now + REST, token));
            return Ok(());
        }
        if let Err(failure) = connection.verdict(self.request.expected) {
            self.failures += 1;
            self.first_failure.get_or_insert(failure);
        }
        if now >= pace.begin {
            let nanoseconds = (now - started).as_nanos() as u64;
            self.latency.saturating_record(nanoseconds);
            if pace.over(now) {
                self.late += 1;
            } else {
                self.answers += 1;
            }
        }
        self.send_next(token, pace, now)
    }

    /// Sends the next request, unless the load ends or a schedule says when.
    fn send_next(&mut self, token: usize, pace: Pace, now: Instant) -> Result<()> {
        if self.schedule.is_some() {
            self.idle.push(token);
            return Ok(());
        }
        if self.sent_all(pace, now) {
            return Ok(());
        }
        self.send(token, now)
    }

    /// Sends the requests that are due, as far as connections are free.
    fn send_due(&mut self, pace: Pace) -> Result<()> {
        let now = Instant::now();
        while !self.idle.is_empty() && !self.sent_all(pace, now) {
            let due = self
                .schedule
                .as_mut()
                .and_then(|schedule| schedule.take(now));
            let Some(due) = due else { break };
            if let Some(token) = self.idle.pop() {
                self.send(token, due)?;
            }
        }
        Ok(())
    }

    /// Sends again on connections whose pause is over.
    fn send_rested(&mut self, pace: Pace) -> Result<()> {
        let now = Instant::now();
        while let Some((_, token)) = self.resting.pop_front_if(|(due, _)| *due <= now) {
            self.send_next(token, pace, now)?;
        }
        Ok(())
    }

    /// How long to wait for events; a wait that is too short for epoll is slept here.
    fn wait(&self, pace: Pace) -> Duration {
        let now = Instant::now();
        let Some(schedule) = &self.schedule else {
            return LOOK_UP;
        };
        if self.idle.is_empty() || self.sent_all(pace, now) {
            return LOOK_UP;
        }
        let due = schedule.next().saturating_duration_since(now);
        if due < MILLISECOND {
            std::thread::sleep(due.max(GRAIN));
            return Duration::ZERO;
        }
        // Epoll rounds up, so wait a millisecond less.
        due.saturating_sub(MILLISECOND).min(LOOK_UP)
    }

    fn goes_on(&self, pace: Pace) -> bool {
        let scheduled = self.schedule.is_some() && !self.sent_all(pace, Instant::now());
        let resting = !self.resting.is_empty() && !self.sent_all(pace, Instant::now());
        self.in_flight > 0 || scheduled || resting
    }

    /// Whether sending ends: also after many bad responses, when nothing is left to measure.
    fn sent_all(&self, pace: Pace, now: Instant) -> bool {
        pace.over(now) || self.choice.ended() || self.failures > 1_000
    }

    /// Sends the next request, whose latency counts from `started`.
    fn send(&mut self, token: usize, started: Instant) -> Result<()> {
        let Self {
            connections,
            request,
            choice,
            number,
            in_flight,
            ..
        } = self;
        let Some(connection) = connections.get_mut(token) else {
            return Ok(());
        };
        *number += 1;
        *in_flight += 1;
        connection.send(request.fill(*number, || choice.next()), started)
    }
}

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

/// How long answers may take once nothing more is sent, and how long the server may say nothing.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait for events when nothing is due to be sent.
const LOOK_UP: Duration = Duration::from_millis(100);
/// How long a client waits that was told that the server is too busy.
const REST: Duration = Duration::from_millis(100);
/// Epoll counts in these.
const MILLISECOND: Duration = Duration::from_millis(1);
/// How long to sleep at least where more than one request is due within a millisecond: waking up for
/// each would cost the server its processor.
const GRAIN: Duration = Duration::from_micros(200);

/// Which wallets a thread's requests are for.
pub(super) enum Choice {
    /// Any, so many times.
    Random {
        /// How many wallets.
        wallets: u64,
        /// The state of a xorshift generator.
        state: u64,
        /// Items left to send.
        left: u64,
    },
    /// Always this one.
    Hot(u64),
    /// One after the other, each so many times.
    InOrder {
        /// The next item.
        next: u64,
        /// The first one too many.
        end: u64,
        /// Items of each wallet.
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

/// When counting begins and sending ends.
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

/// The thread's state.
pub(super) struct Worker {
    poll: Poll,
    connections: Vec<Connection>,
    request: Request,
    choice: Choice,
    number: u64,
    /// When to send; `None`: after each answer.
    schedule: Option<Schedule>,
    /// Connections that wait for something to be due.
    idle: Vec<usize>,
    /// Connections whose request was shed, and when they try again.
    resting: VecDeque<(Instant, usize)>,
    patient: bool,
    in_flight: usize,
    answers: u64,
    shed: u64,
    /// Answers to what was sent in time and answered too late to count.
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
        while self.goes_on(pace) && !stop::asked() {
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
            if self.last_answer.elapsed() > PATIENCE {
                return Err(Error(format!(
                    "{} requests got no answer in {PATIENCE:?}",
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
        // A round too short for every connection to hear an answer counts to its last one.
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
        let Some(begun) = connection.begun else {
            return Ok(());
        };
        if !connection.receive()? {
            return Ok(());
        }
        let now = Instant::now();
        connection.begun = None;
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
            let nanoseconds = (now - begun).as_nanos() as u64;
            self.latency.saturating_record(nanoseconds);
            if pace.over(now) {
                self.late += 1;
            } else {
                self.answers += 1;
            }
        }
        self.send_next(token, pace, now)
    }

    /// Sends the next request, unless it is time to end or a schedule says when.
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

    /// Sends what is due, as far as there are connections for it.
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

    /// Sends for connections that have waited since they were told to.
    fn send_rested(&mut self, pace: Pace) -> Result<()> {
        let now = Instant::now();
        while let Some((_, token)) = self.resting.pop_front_if(|(due, _)| *due <= now) {
            self.send_next(token, pace, now)?;
        }
        Ok(())
    }

    /// How long to wait for events; what is shorter than epoll can wait is slept here.
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
        // Epoll rounds up.
        due.saturating_sub(MILLISECOND).min(LOOK_UP)
    }

    fn goes_on(&self, pace: Pace) -> bool {
        let scheduled = self.schedule.is_some() && !self.sent_all(pace, Instant::now());
        let resting = !self.resting.is_empty() && !self.sent_all(pace, Instant::now());
        self.in_flight > 0 || scheduled || resting
    }

    /// After many bad answers there is nothing left to measure.
    fn sent_all(&self, pace: Pace, now: Instant) -> bool {
        pace.over(now) || self.choice.ended() || self.failures > 1_000
    }

    /// `begun`: since when it counts.
    fn send(&mut self, token: usize, begun: Instant) -> Result<()> {
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
        connection.send(request.fill(*number, || choice.next()), begun)
    }
}

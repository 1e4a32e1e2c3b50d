//! The promises of a log that several processes share, with any loss and delay of what they send and of what they are
//! answered, and whenever any of them stands still: what decides is the server's own code, over a log in memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

#[path = "fence/lease.rs"]
mod lease;
#[path = "fence/process.rs"]
mod process;
#[path = "../../../persistence/tests/common/shared_log.rs"]
mod shared_log;
#[path = "fence/trimming.rs"]
mod trimming;
#[path = "fence/world.rs"]
mod world;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use std::cell::RefCell;
use world::{Seen, World};

/// What may happen next; the number says to which process.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Time passes, in milliseconds.
    Pass(u64),
    /// A leader takes appends in: so many, and whether they fill a frame each.
    Append(usize, u64, bool),
    Heartbeat(usize),
    /// The log runs what was sent on a connection.
    Execute(usize),
    /// It runs what was sent on one that was cut since.
    ExecuteLate(usize),
    /// It runs what it ran last once more.
    ExecuteAgain,
    /// The standby has everything now.
    Replicate,
    /// An answer arrives.
    Answer(usize),
    /// An answer says that the standby was not waited for.
    Warn(usize),
    Cut(usize),
    FailOver,
    /// A follower asks for the head, or is answered.
    Look(usize),
    /// A follower looks so many times, or until it may open.
    Watch(usize, u32),
    /// The same, and it opens at once and takes an append in.
    TakeOver(usize, u32),
    /// A process that may open or has to opens.
    Open(usize),
    /// Sent, executed, replicated and answered without trouble.
    Work(usize),
    /// A reader is shown the state, or is answered, or both.
    Read(usize, bool),
    HandOver(usize),
    /// A process is killed and started again.
    Restart(usize),
}

fn steps(processes: usize) -> impl Strategy<Value = Vec<Step>> {
    let who = || 0..processes;
    let step = prop_oneof![
        3 => (1..1500_u64).prop_map(Step::Pass),
        8 => (who(), 1..4_u64, prop::bool::weighted(0.05)).prop_map(|(who, many, full)| Step::Append(who, many, full)),
        2 => who().prop_map(Step::Heartbeat),
        6 => who().prop_map(Step::Execute),
        2 => who().prop_map(Step::ExecuteLate),
        1 => Just(Step::ExecuteAgain),
        4 => Just(Step::Replicate),
        6 => who().prop_map(Step::Answer),
        1 => who().prop_map(Step::Warn),
        2 => who().prop_map(Step::Cut),
        1 => Just(Step::FailOver),
        2 => who().prop_map(Step::Look),
        2 => (who(), 1..12_u32).prop_map(|(who, looks)| Step::Watch(who, looks)),
        4 => (who(), 4..12_u32).prop_map(|(who, looks)| Step::TakeOver(who, looks)),
        6 => who().prop_map(Step::Open),
        6 => who().prop_map(Step::Work),
        8 => (who(), any::<bool>()).prop_map(|(who, at_once)| Step::Read(who, at_once)),
        3 => who().prop_map(Step::HandOver),
        1 => who().prop_map(Step::Restart),
    ];
    prop::collection::vec(step, 30..160)
}

/// Clocks that run alike to within a tenth, in thousandths of real time.
fn clocks() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(955..=1045_u64, 2..=3)
}

#[test]
fn writers_never_contradict_each_other_and_readers_are_never_behind() {
    let mut runner = TestRunner::new(Config::with_cases(2000));
    let seen = RefCell::new(Seen::default());
    let plans = clocks().prop_flat_map(|clocks| {
        let steps = steps(clocks.len());
        (Just(clocks), steps)
    });
    let outcome = runner.run(&plans, |(clocks, steps)| {
        let mut world = World::new(&clocks);
        for step in &steps {
            world.take(*step);
        }
        world.heal();
        world.judge();
        seen.borrow_mut().add(&world.seen);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    // What happened often enough for this to have judged it.
    let Seen {
        take_overs,
        goings_on,
        found_durable,
        framed_again,
        fenced,
        reads_from_memory,
        reads_by_the_log,
        handed_over,
    } = seen.into_inner();
    for (what, often) in [
        ("take-overs", take_overs),
        ("goings on", goings_on),
        ("groups found durable", found_durable),
        ("groups framed again", framed_again),
        ("fenced leaders", fenced),
        ("reads from memory", reads_from_memory),
        ("reads that asked the log", reads_by_the_log),
        ("hand-overs", handed_over),
    ] {
        assert!(often >= 10, "only {often} {what}");
    }
}

//! The machine's clock without its jumps. Credits and holds expire by it: a wall clock set forward by mistake must not
//! expire them all at once, and one set back must not turn time back.
//!
//! Time advances with the monotonic clock, which is compared with the wall clock ten times a second:
//!
//! - A step of the wall clock forwards, up to a minute, is followed at once.
//! - A larger step forwards is followed at twice real speed, until it is made up for.
//! - A step back is made up for at half speed. Time never goes back, and it does not stand still: with a wall
//!   clock that lost an hour it would keep every hold open for that hour.
//! - In the first minutes after the start it is followed at once, forwards and back: a machine that boots with a
//!   wrong clock is corrected then, and a restart would follow the correction as well.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Instant, SystemTime},
};

use arc_swap::ArcSwap;
use domain::Timestamp;
use parking_lot::Mutex;

use super::Clock;

/// How often the wall clock is read.
const POLL_MILLIS: i64 = 100;
/// How far the two clocks' whole milliseconds may differ without a step.
const JITTER_MILLIS: i64 = 10;
const JUMP_MILLIS: i64 = 60_000;
const START_MILLIS: i64 = 5 * 60_000;

/// The two clocks that the time is computed from.
pub trait ClockSource: Send + Sync + 'static {
    /// Milliseconds since 1970, by the wall clock.
    fn wall_millis(&self) -> i64;

    /// Milliseconds since any fixed instant, by a clock that is never set.
    fn monotonic_millis(&self) -> i64;
}

/// The machine's own clocks.
#[derive(Debug)]
pub struct MachineClocks(Instant);

impl Default for MachineClocks {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl ClockSource for MachineClocks {
    fn wall_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic_millis(&self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// The rate at which time advances from an instant on.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// The instant, by the monotonic clock.
    since: i64,
    /// The time at that instant.
    from: i64,
    /// How far the wall clock was ahead of that time, or behind it if negative.
    gap: i64,
}

impl Pace {
    const fn elapsed(&self, monotonic: i64) -> i64 {
        monotonic.saturating_sub(self.since)
    }

    fn made_up(&self, monotonic: i64) -> i64 {
        let elapsed = self.elapsed(monotonic).max(0);
        self.gap.clamp((elapsed / 2).saturating_neg(), elapsed)
    }

    fn left(&self, monotonic: i64) -> i64 {
        self.gap.saturating_sub(self.made_up(monotonic))
    }

    fn time(&self, monotonic: i64) -> i64 {
        let steady = self.from.saturating_add(self.elapsed(monotonic));
        steady.saturating_add(self.made_up(monotonic))
    }

    /// The wall clock's reading if it makes no step.
    const fn wall(&self, monotonic: i64) -> i64 {
        let steady = self.from.saturating_add(self.elapsed(monotonic));
        steady.saturating_add(self.gap)
    }
}

/// The machine's clock without its jumps: see the module.
#[derive(Debug)]
pub struct SystemClock<R: ClockSource = MachineClocks> {
    readings: R,
    started: i64,
    pace: ArcSwap<Pace>,
    /// When to read the wall clock again, by the monotonic one.
    poll_at: AtomicI64,
    /// Held while the wall clock is read.
    polling: Mutex<()>,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl SystemClock {
    /// A clock that begins at the machine's present time.
    pub fn new() -> Self {
        Self::reading(MachineClocks::default())
    }
}

impl SystemClock {
    /// A clock that continues another machine's. The difference to this wall clock is made up for as after a step, even
    /// in the first minutes.
    pub fn resuming(at: Timestamp) -> Self {
        Self::resuming_on(MachineClocks::default(), at)
    }
}

impl<R: ClockSource> SystemClock<R> {
    fn resuming_on(readings: R, at: Timestamp) -> Self {
        let mut clock = Self::reading(readings);
        let Pace { since, from, .. } = **clock.pace.load();
        clock.started = since.saturating_sub(START_MILLIS);
        let gap = from.saturating_sub(at.0);
        let pace = match (0..=JUMP_MILLIS).contains(&gap) {
            true => Pace {
                since,
                from,
                gap: 0,
            },
            false => Pace {
                since,
                from: at.0,
                gap,
            },
        };
        clock.pace.store(std::sync::Arc::new(pace));
        clock
    }

    /// A clock that begins at the present time of these readings.
    pub fn reading(readings: R) -> Self {
        let since = readings.monotonic_millis();
        let pace = Pace {
            since,
            from: readings.wall_millis(),
            gap: 0,
        };
        Self {
            readings,
            started: since,
            pace: ArcSwap::from_pointee(pace),
            poll_at: AtomicI64::new(since.saturating_add(POLL_MILLIS)),
            polling: Mutex::new(()),
        }
    }

    /// Compares the wall clock with the monotonic one, and sets a new pace after a step.
    fn poll(&self, monotonic: i64) {
        let next = monotonic.saturating_add(POLL_MILLIS);
        self.poll_at.store(next, Ordering::Relaxed);
        let pace = **self.pace.load();
        let wall = self.readings.wall_millis();
        let step = wall.saturating_sub(pace.wall(monotonic));
        if step.saturating_abs() <= JITTER_MILLIS {
            return;
        }
        let jumped = step.saturating_abs() > JUMP_MILLIS;
        let starting = monotonic.saturating_sub(self.started) <= START_MILLIS;
        if jumped && starting {
            tracing::warn!(
                step_millis = step,
                "The machine's clock jumped soon after the start; the jump is followed at once"
            );
        } else if jumped {
            tracing::warn!(
                step_millis = step,
                "The machine's clock jumped forwards or back; the jump is followed slowly"
            );
        }
        let from = pace.time(monotonic);
        let gap = wall.saturating_sub(from);
        let small = !jumped && pace.left(monotonic) == 0 && gap > 0;
        let at_once = small || (jumped && starting);
        let (from, gap) = if at_once { (wall, 0) } else { (from, gap) };
        let since = monotonic;
        self.pace
            .store(std::sync::Arc::new(Pace { since, from, gap }));
    }
}

impl<R: ClockSource> Clock for SystemClock<R> {
    fn now(&self) -> Timestamp {
        let monotonic = self.readings.monotonic_millis();
        if monotonic >= self.poll_at.load(Ordering::Relaxed)
            && let Some(_looking) = self.polling.try_lock()
        {
            self.poll(monotonic);
        }
        Timestamp(self.pace.load().time(monotonic))
    }

    fn offset_millis(&self) -> i64 {
        self.now();
        let pace = **self.pace.load();
        if pace.gap.saturating_abs() <= JUMP_MILLIS {
            return 0;
        }
        let left = pace.left(self.readings.monotonic_millis());
        left.saturating_neg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_800_000_000_000;
    const MINUTE: i64 = 60_000;

    /// Both clocks, set by the test.
    #[derive(Debug, Default)]
    struct TestClocks {
        wall: AtomicI64,
        monotonic: AtomicI64,
    }

    impl ClockSource for TestClocks {
        fn wall_millis(&self) -> i64 {
            self.wall.load(Ordering::SeqCst)
        }

        fn monotonic_millis(&self) -> i64 {
            self.monotonic.load(Ordering::SeqCst)
        }
    }

    fn clock() -> SystemClock<TestClocks> {
        let wall = AtomicI64::new(START);
        let monotonic = AtomicI64::new(77);
        SystemClock::reading(TestClocks { wall, monotonic })
    }

    /// A clock that runs for longer than [`START_MILLIS`].
    fn old_clock() -> SystemClock<TestClocks> {
        let clock = clock();
        pass(&clock, START_MILLIS + MINUTE);
        clock
    }

    /// Lets real time pass, with ten readings a second; returns by how much the clock advanced.
    fn pass(clock: &SystemClock<TestClocks>, millis: i64) -> i64 {
        let begun = clock.now();
        let mut before = begun;
        for _ in 0..millis / 100 {
            clock.readings.wall.fetch_add(100, Ordering::SeqCst);
            clock.readings.monotonic.fetch_add(100, Ordering::SeqCst);
            let now = clock.now();
            assert!(now >= before, "time went back");
            before = now;
        }
        before.0.saturating_sub(begun.0)
    }

    fn step(clock: &SystemClock<TestClocks>, millis: i64) {
        clock.readings.wall.fetch_add(millis, Ordering::SeqCst);
    }

    fn behind(clock: &SystemClock<TestClocks>) -> i64 {
        clock.readings.wall_millis().saturating_sub(clock.now().0)
    }

    #[test]
    fn it_goes_with_the_machine() {
        let clock = clock();
        assert_eq!(clock.now(), Timestamp(START));
        assert_eq!(pass(&clock, 10 * MINUTE), 10 * MINUTE);
        assert_eq!((behind(&clock), clock.offset_millis()), (0, 0));
    }

    #[test]
    fn a_small_step_forwards_is_followed_at_once() {
        let clock = clock();
        step(&clock, MINUTE);
        assert_eq!(pass(&clock, 100), MINUTE + 100);
        assert_eq!((behind(&clock), clock.offset_millis()), (0, 0));
    }

    #[test]
    fn a_jump_forwards_is_followed_at_twice_real_speed_and_shown() {
        let clock = old_clock();
        step(&clock, 10 * MINUTE);
        assert_eq!(pass(&clock, 100), 100, "seen with the first look");
        assert_eq!(pass(&clock, 4 * MINUTE), 8 * MINUTE);
        assert_eq!(clock.offset_millis(), -6 * MINUTE);
        assert_eq!(pass(&clock, 5 * MINUTE + MINUTE / 2), 11 * MINUTE);
        assert_eq!(clock.offset_millis(), -MINUTE / 2);
        assert_eq!(pass(&clock, 10 * MINUTE), 10 * MINUTE + MINUTE / 2);
        assert_eq!((behind(&clock), clock.offset_millis()), (0, 0));
    }

    #[test]
    fn what_is_put_right_soon_after_the_start_is_followed_at_once() {
        for jump in [120 * MINUTE, -120 * MINUTE] {
            let clock = clock();
            pass(&clock, MINUTE);
            step(&clock, jump);
            clock.readings.monotonic.fetch_add(100, Ordering::SeqCst);
            clock.now();
            assert_eq!((behind(&clock), clock.offset_millis()), (0, 0));
            assert_eq!(pass(&clock, MINUTE), MINUTE);
        }
    }

    #[test]
    fn a_clock_that_is_put_back_is_waited_for_at_half_speed() {
        let clock = old_clock();
        pass(&clock, MINUTE);
        step(&clock, -10 * MINUTE);
        pass(&clock, 100);
        assert_eq!(pass(&clock, 4 * MINUTE), 2 * MINUTE);
        assert_eq!(clock.offset_millis(), 8 * MINUTE);
        assert_eq!(pass(&clock, 16 * MINUTE), 8 * MINUTE);
        assert_eq!((behind(&clock), clock.offset_millis()), (0, 0));
        assert_eq!(pass(&clock, MINUTE), MINUTE);
    }

    #[test]
    fn a_little_lost_is_made_up_for_without_a_word() {
        let clock = clock();
        step(&clock, -1000);
        pass(&clock, 100);
        assert_eq!(clock.offset_millis(), 0);
        assert_eq!(pass(&clock, 1000), 500);
        assert_eq!(pass(&clock, 1000), 500);
        assert_eq!(behind(&clock), 0);
    }

    #[test]
    fn a_leap_that_is_taken_back_leaves_no_trace_but_what_was_followed() {
        let clock = old_clock();
        step(&clock, 1000 * MINUTE);
        pass(&clock, MINUTE);
        step(&clock, -1000 * MINUTE);
        pass(&clock, 100);
        assert!(clock.offset_millis() == 0 && behind(&clock) >= -MINUTE);
        pass(&clock, 2 * MINUTE);
        assert_eq!(behind(&clock), 0);
    }

    #[test]
    fn a_day_without_readings_is_no_step() {
        let clock = clock();
        let day = 24 * 60 * MINUTE;
        step(&clock, day);
        clock.readings.monotonic.fetch_add(day, Ordering::SeqCst);
        assert_eq!(clock.now(), Timestamp(START + day));
    }
}

//! A log that divides: processes that follow it to become another cell go on with that exactly where it leaves, wherever
//! they stood and whenever they were killed.

use std::{
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

use cluster::postgres::{CellState, Examiner, Server};
use domain::Timestamp;
use persistence::{LogEvent, Split, frames::LeadershipItem};

use super::{
    Arc, AtomicBool, Books, Cell, Error, Follower, Following, Log, Member, Ordering, Outcome,
    SledJournal, Step, Trouble, busy_member, check, crash_image, fs, hand_over, is_sound, lead,
    member, options, shop, thread, until,
};
use crate::common::{WalletModel, commit, version};

/// The cell that leaves cell 0.
const NEW: i16 = 1;

/// Is to become it.
fn joining(member: Member) -> Member {
    Member {
        cell: NEW,
        address: "http://127.0.0.1:2".into(),
        ..member
    }
}

fn divide(journal: &SledJournal) {
    let split = Split {
        to: NEW,
        at: Timestamp(5),
    };
    let note = shop::note("divided", Some("yes"));
    let split = LogEvent::Leadership(LeadershipItem::Split(split));
    let divided = commit(journal, &[split, note]);
    assert_eq!(divided.1, Outcome::Durable);
}

fn put_note(journal: &SledJournal, text: &str) {
    let written = commit(journal, &[shop::note("reported", Some(text))]);
    assert_eq!(written.1, Outcome::Durable);
}

impl Cell {
    fn join(&self, name: &str, member: Member) -> Following {
        Following::begin(Follower::join(self.options(name), member).unwrap())
    }

    fn base_of_new(&self) -> u64 {
        self.number(&format!(
            "SELECT base_lsn FROM scrip.cell WHERE cell = {NEW}"
        ))
    }

    /// The last frame of the first log, which fits its first segment.
    fn head(&self) -> u64 {
        self.number("SELECT max(lsn) FROM scrip.log_0_0")
    }

    fn newest_snapshot(&self, of: i16) -> u64 {
        self.number(&format!(
            "SELECT max(folded_lsn) FROM scrip.snapshot WHERE cell = {of}"
        ))
    }
}

#[test]
fn a_log_divides_under_appends_and_both_parts_go_on_by_themselves() {
    let cell = Cell::new();
    let first = lead(cell.options("a"), busy_member(&cell.url));
    let following = cell.join("b", joining(busy_member(&cell.url)));
    let (count, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let written = || count.load(Ordering::Acquire);
    let more_than = |some: u64| until("more is written", || (written() > some).then_some(()));
    let (second, before, after) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut model = WalletModel::default();
            while !stop.load(Ordering::Acquire) {
                assert_eq!(commit(&*first, &[model.next(1)]).1, Outcome::Durable);
                count.fetch_add(1, Ordering::AcqRel);
            }
        });
        more_than(20);
        let before = written();
        divide(&first);
        // One more may have been under way.
        let after = written() + 1;
        let second = following.leads();
        more_than(after + 20);
        stop.store(true, Ordering::Release);
        (second, before, after)
    });
    first.flush().unwrap();
    assert_eq!(version(&*first, 1), written());
    let there = version(&*second, 1);
    assert!((before..=after).contains(&there), "{there}");
    for part in [&first, &second] {
        assert_eq!(part.notes(b"divided").unwrap().len(), 1);
    }
    // Numbers go on where they were.
    let base = cell.base_of_new();
    assert!(base > 0 && second.last_project_event() >> 16 > base);
    until("the leader is noted", || {
        let opened = cell.number("SELECT opened_lsn FROM scrip.cell WHERE cell = 1");
        (opened == base + 1).then_some(())
    });
    until("the new leader makes the first snapshot by itself", || {
        (cell.newest_snapshot(NEW) >= base).then_some(())
    });
    let mut model = WalletModel::of(&*second, [1]);
    assert_eq!(commit(&*second, &[model.next(1)]).1, Outcome::Durable);
    put_note(&first, "after");
    for part in [first, second] {
        part.close().unwrap();
    }
    is_sound(&cell.dir("a"));
    is_sound(&cell.dir("b"));
    let second = lead(cell.options("b"), joining(member(&cell.url)));
    assert_eq!(version(&*second, 1), there + 1);
    assert!(second.notes(b"reported").unwrap().is_empty());
}

#[test]
fn of_two_processes_one_leads_the_new_cell_and_the_other_follows_it() {
    let mut cell = Cell::new();
    let first = cell.adopt("a", busy_member(&cell.url));
    let examiner = Examiner::new(Server::parse(&cell.url).unwrap(), NEW);
    let mut both = ["b", "c"].map(|name| Some(cell.join(name, joining(busy_member(&cell.url)))));
    let followed = until(
        "both have said that they are there, and the leader that it leads",
        || {
            let state = examiner.cluster().unwrap().unwrap();
            let joining = state.members.iter().filter(|it| it.joins == Some(NEW));
            let both = joining.filter(|it| it.applied > 0).count() == 2;
            (both && state.leader.is_some()).then_some(state)
        },
    );
    assert_eq!((followed.cell, followed.followers()), (0, 0));
    let head = cell.number("SELECT max(head_lsn) FROM scrip.member WHERE leads");
    until("the leader goes on to make the snapshots", || {
        cell.live(&first, 1);
        (cell.newest_snapshot(0) > head).then_some(())
    });
    divide(&first);
    let leader = until("one of them leads", || {
        let done =
            |it: &&mut Option<Following>| it.as_ref().is_some_and(|it| it.thread.is_finished());
        both.iter_mut().find(done)?.take()
    });
    let leader = leader.leads();
    let seen = cell.life.seen();
    check(&*leader, &seen, &seen);
    let noted = until("its leader is noted", || {
        let cells = examiner.cells().unwrap();
        cells.iter().all(|it| it.leader.is_some()).then_some(cells)
    });
    let state = |cell, address: &str, base| CellState {
        cell,
        leader: Some(address.into()),
        base,
    };
    let base = noted[0].base;
    assert_eq!(
        noted,
        [
            state(0, "http://127.0.0.1:1", base),
            state(NEW, "http://127.0.0.1:2", cell.base_of_new())
        ]
    );
    // A new machine is made from the cell's own snapshot.
    until("a snapshot", || {
        (cell.newest_snapshot(NEW) > 0).then_some(())
    });
    let third = cell.join("d", joining(busy_member(&cell.url)));
    drop(third.stop().unwrap());
    is_sound(&cell.dir("d"));
    let other = both.iter_mut().find_map(Option::take).unwrap();
    let leader = hand_over(&mut cell, &leader, other);
    leader.close().unwrap();
    is_sound(&cell.dir("b"));
    is_sound(&cell.dir("c"));
}

/// Killed where it comes to a step after it has done it so often: what is on its disk goes on, even where a standby takes
/// over that does not know the cell.
fn is_killed_at(step: Step, after: u32, cell_is_lost: bool) {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), member(&cell.url));
    cell.live(&first, 5);
    let trouble = Arc::new(Trouble::default());
    trouble.hold_step(step, after == 0);
    let follower = Follower::join(cell.options_with("b", &trouble), joining(member(&cell.url)));
    let following = Following::begin(follower.unwrap());
    let seen = cell.life.seen();
    let image = (after == 0).then(|| {
        divide(&first);
        trouble.wait_held(step);
        crash_image(&cell.dir("b"))
    });
    trouble.fail(step, after);
    trouble.hold_step(step, false);
    if after > 0 {
        divide(&first);
    }
    let ended = following.thread.join().unwrap();
    assert!(matches!(ended, Err(Error::Io(_))), "{ended:?}");
    if cell_is_lost {
        cell.psql("DELETE FROM scrip.cell WHERE cell = 1; DROP TABLE scrip.log_1_0");
    }
    cell.live(&first, 5);
    let mut again = cell.options("b");
    if let Some(image) = &image {
        again = options(image.path(), &Arc::default());
    }
    let dir = again.dir.clone();
    let second = lead(again, joining(member(&cell.url)));
    check(&*second, &seen, &seen);
    let membership = fs::read_to_string(dir.join("cluster.json")).unwrap();
    assert!(membership.contains("\"cell\":1"), "{membership}");
    second.close().unwrap();
    is_sound(&dir);
}

#[test]
fn a_process_that_is_killed_before_its_cell_is_made_makes_it_at_its_next_start() {
    is_killed_at(Step::MakeCell, 0, false);
}

#[test]
fn a_process_that_is_killed_before_it_notes_its_cell_goes_on_with_that() {
    is_killed_at(Step::ChangeCell, 0, false);
}

#[test]
fn a_process_that_is_killed_once_its_cell_is_noted_goes_on_with_that() {
    is_killed_at(Step::ChangeCell, 1, false);
}

#[test]
fn a_cell_that_the_database_has_lost_before_anybody_led_it_is_made_again() {
    is_killed_at(Step::ChangeCell, 1, true);
}

#[test]
fn a_process_that_is_far_behind_finds_the_rest_in_the_log_that_it_follows() {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), busy_member(&cell.url));
    let behind = cell.join("b", joining(member(&cell.url)));
    cell.live(&first, 3);
    let applied = "SELECT folded_lsn FROM scrip.member WHERE joins = 1";
    until("it has something", || {
        (cell.number(applied) > 1).then_some(())
    });
    drop(behind.stop().unwrap());
    let applied = cell.number(applied);
    until("the log is trimmed as far as it may be", || {
        cell.live(&first, 5);
        let least = "SELECT min(folded_lsn) FROM scrip.snapshot";
        (cell.base() + 1 >= applied && cell.number(least) > applied + 100).then_some(())
    });
    // The last frame in its books may be the one where the log divides.
    assert_eq!(cell.base(), applied - 1);
    // Nobody makes snapshots of the new cell: what it lacks is in that log alone.
    let level = cell.join("c", joining(member(&cell.url)));
    divide(&first);
    let leader = level.leads();
    put_note(&first, "after");
    let behind = Follower::join(cell.options("b"), joining(member(&cell.url))).unwrap();
    assert_eq!(behind.joins(), Some(NEW));
    let standing = behind.standing();
    let other = hand_over(&mut cell, &leader, Following::begin(behind));
    assert!(other.notes(b"reported").unwrap().is_empty());
    assert!(standing.term_starts() == 1 && standing.head() > cell.base_of_new());
}

#[test]
fn where_a_log_divides_twice_the_cell_begins_where_it_was_made() {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), member(&cell.url));
    cell.live(&first, 3);
    drop(cell.join("b", joining(member(&cell.url))).stop().unwrap());
    // One that has read past the frame before it was to become the cell.
    let past = cell.join("c", member(&cell.url));
    divide(&first);
    let once = cell.head();
    until("it is past it", || {
        let applied = "SELECT max(folded_lsn) FROM scrip.member WHERE NOT leads";
        cell.live(&first, 1);
        (cell.number(applied) > once).then_some(())
    });
    drop(past.stop().unwrap());
    let past = cell.join("c", joining(member(&cell.url)));
    until("it is there", || {
        let read = "SELECT max(head_lsn) FROM scrip.member WHERE joins = 1";
        (cell.number(read) > once).then_some(())
    });
    divide(&first);
    let leader = past.leads();
    assert!(cell.base_of_new() > once);
    let seen = cell.life.seen();
    check(&*leader, &seen, &seen);
    let other = cell.join("b", joining(member(&cell.url)));
    hand_over(&mut cell, &leader, other);
}

#[test]
fn books_that_went_on_with_the_old_log_are_rebuilt_for_the_cell() {
    let mut cell = Cell::new();
    let first = lead(cell.options("a"), member(&cell.url));
    let following = cell.join("b", joining(busy_member(&cell.url)));
    cell.live(&first, 3);
    divide(&first);
    let leader = following.leads();
    put_note(&first, "after");
    first.close().unwrap();
    drop(first);
    let moved = cell.join("a", joining(member(&cell.url)));
    let moved = hand_over(&mut cell, &leader, moved);
    assert!(moved.notes(b"reported").unwrap().is_empty());
    moved.close().unwrap();
    is_sound(&cell.dir("a"));
}

#[test]
fn a_process_that_is_to_become_a_cell_never_leads_the_log_that_it_follows() {
    let mut cell = Cell::new();
    let trouble = Arc::new(Trouble::default());
    let first = lead(cell.options_with("a", &trouble), member(&cell.url));
    let following = cell.join("b", joining(member(&cell.url)));
    // The leader stands still, for longer than anybody would wait for it.
    trouble.hold_step(Step::InsertFrame, true);
    trouble.wait_held(Step::InsertFrame);
    let (head, since) = (cell.head(), Instant::now());
    until("it fails", || {
        (since.elapsed() > Duration::from_secs(5)).then_some(())
    });
    assert_eq!(cell.head(), head);
    trouble.hold_step(Step::InsertFrame, false);
    cell.live(&first, 1);
    // Nor where nobody leads, and anybody may at once.
    first.close().unwrap();
    let head = cell.head();
    until("it has read that", || {
        let read = cell.number("SELECT head_lsn FROM scrip.member WHERE joins = 1");
        (read == head).then_some(())
    });
    drop(following.stop().unwrap());
    assert_eq!(cell.head(), head);
}

#[test]
fn a_cell_that_comes_from_nowhere_and_a_directory_with_data_are_refused() {
    let cell = Cell::new();
    let first = lead(cell.options("a"), member(&cell.url));
    let refused = |name: &str, own: i16, split_from: i16| {
        let member = Member {
            cell: own,
            split_from,
            ..member(&cell.url)
        };
        let refused = Follower::join(cell.options(name), member).unwrap_err();
        assert!(matches!(refused, Error::Unusable(_)), "{refused}");
        refused.to_string()
    };
    for split_from in [2, 3] {
        let words = refused("b", 3, split_from);
        let names = ["cluster.cell", "cluster.split_from"];
        assert!(names.iter().all(|name| words.contains(name)), "{words}");
    }
    let alone = SledJournal::open(cell.options("c")).unwrap();
    put_note(&alone, "own");
    alone.close().unwrap();
    drop(alone);
    let words = refused("c", NEW, 0);
    assert!(words.contains("data of its own"), "{words}");
    first.close().unwrap();
}

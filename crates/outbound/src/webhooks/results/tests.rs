//! A model of one endpoint whose process dies at any moment, also between any two notes of one append: no event is lost,
//! each wallet's are sent in order, and none is sent again once it is written that it was accepted.

use std::collections::BTreeSet;

use actors::EventRecord;
use domain::{
    id::{EventId, ProjectId, WalletId, WalletKey},
    project_event::{EventData, ProjectEvent},
};
use persistence::EventNumber;

use super::{
    super::{
        delivery::Origin,
        note::Replay,
        queue::QueuedDelivery,
        reader::{PAGE, Reader},
    },
    *,
};

const WALLETS: u64 = 4;

/// Numbers that look random, and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What survives a crash.
#[derive(Default)]
struct Disk {
    progress: Progress,
    deliveries: BTreeMap<DeliveryId, Delivery>,
}

struct Process {
    queue: Queue,
    reader: Reader,
    results: Results,
    flying: Vec<(WalletKey, QueuedDelivery)>,
}

struct World {
    dice: Dice,
    log: Vec<EventRecord>,
    disk: Disk,
    process: Process,
    now: Timestamp,
    /// Accepted events; those of which it is written.
    accepted: BTreeSet<EventNumber>,
    settled: BTreeSet<EventNumber>,
    /// What was first sent to each wallet, in order.
    first_sent: BTreeMap<WalletKey, Vec<EventNumber>>,
}

fn number(entry: &QueuedDelivery) -> EventNumber {
    actors::event_number(entry.event)
}

impl Process {
    fn start(disk: &Disk) -> Self {
        let deliveries = disk.deliveries.values();
        let queue = Queue::resumed(deliveries.clone());
        Self {
            reader: Reader::resumed(&disk.progress, deliveries, &queue),
            queue,
            results: Results::since(disk.progress.clone()),
            flying: Vec::new(),
        }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let disk = Disk::default();
        Self {
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            log: Vec::new(),
            process: Process::start(&disk),
            disk,
            now: Timestamp(1_000_000),
            accepted: BTreeSet::new(),
            settled: BTreeSet::new(),
            first_sent: BTreeMap::new(),
        }
    }

    fn record(&mut self) {
        let number = u64::try_from(self.log.len()).unwrap() + 1;
        let wallet = self.dice.roll(WALLETS);
        let key = WalletKey([u8::try_from(wallet).unwrap(); 16]);
        self.log.push(EventRecord {
            id: EventId(u128::from(number) << 64),
            project_event: ProjectEvent {
                project: ProjectId(1),
                at: self.now,
                recorded: self.now,
                key,
                wallet: WalletId(1),
                user: None,
                data: EventData::WalletCreated,
            },
        });
        self.process.reader.has_new_events();
    }

    fn read(&mut self) {
        let Some(from) = self.process.reader.position() else {
            return;
        };
        let page = self.log.iter();
        let page = page.filter(|record| actors::event_number(record.id) > from);
        let page: Vec<_> = page.take(PAGE).cloned().collect();
        for (wallet, entry) in self.process.reader.take(page, |_| true) {
            self.process.queue.push(wallet, entry, self.now);
        }
    }

    fn send(&mut self) {
        let Some((wallet, entry, _)) = self.process.queue.take(self.now) else {
            return;
        };
        let number = number(&entry);
        assert!(!self.settled.contains(&number), "{number} is sent again");
        let sent = self.first_sent.entry(wallet).or_default();
        if !sent.contains(&number) {
            assert!(
                sent.last().is_none_or(|last| *last < number),
                "{sent:?}, {number}"
            );
            sent.push(number);
        }
        self.process.flying.push((wallet, entry));
    }

    /// The receiver answers one request.
    fn answer(&mut self, accepts: bool) {
        if self.process.flying.is_empty() {
            return;
        }
        let flying = u64::try_from(self.process.flying.len()).unwrap();
        let which = usize::try_from(self.dice.roll(flying)).unwrap();
        let (wallet, entry) = self.process.flying.swap_remove(which);
        let known = self.process.results.delivery(&entry.delivery).cloned();
        let known = known.or_else(|| self.disk.deliveries.get(&entry.delivery).cloned());
        let delivery = known.unwrap_or_else(|| entry.delivery(wallet));
        let (status, next_at) = match accepts {
            true => (Status::Succeeded, None),
            false => (Status::Pending, Some(self.now.plus_seconds(5))),
        };
        if let Some(at) = next_at {
            self.process.queue.postpone(wallet, at, true);
        } else {
            self.accepted.insert(number(&entry));
            self.process.queue.finish(wallet, self.now);
        }
        let delivery = Delivery {
            status,
            next_at,
            ..delivery
        };
        self.process.results.put(delivery);
    }

    /// Writes what is to be written; where `dies`, only a beginning of it.
    fn persist(&mut self, dies: bool) {
        let process = &mut self.process;
        process.results.note_passed(&mut process.queue, self.now);
        let progress = process.reader.progress(&process.queue, None);
        let news = process.results.news(progress, process.flying.is_empty());
        let writes = process.results.writes(news.as_ref());
        let all = writes.len();
        let whole = u64::try_from(all).unwrap() + 1;
        let survive = match dies {
            true => usize::try_from(self.dice.roll(whole)).unwrap(),
            false => all,
        };
        for write in writes.into_iter().take(survive) {
            match write {
                Write::Progress(progress) => self.disk.progress = progress,
                Write::Delivery(delivery, _) => {
                    if delivery.status == Status::Succeeded {
                        self.settled.insert(actors::event_number(delivery.event));
                    }
                    self.disk.deliveries.insert(delivery.id, delivery.clone());
                }
            }
        }
        if dies {
            self.process = Process::start(&self.disk);
            return;
        }
        process.results.take_written(news).for_each(drop);
    }

    fn step(&mut self) {
        match self.dice.roll(20) {
            0..=3 => self.record(),
            4..=6 => self.read(),
            7..=10 => self.send(),
            11..=13 => self.answer(true),
            14 => self.answer(false),
            15..=17 => self.persist(false),
            18 => self.now = self.now.plus_seconds(5),
            _ => {
                let dies = self.dice.roll(3) == 0;
                self.persist(dies);
            }
        }
    }

    /// Lets the receiver accept all that comes until nothing is left.
    fn settle(&mut self) {
        for _ in 0..self.log.len() * 4 + 20 {
            self.now = self.now.plus_seconds(5);
            self.read();
            self.send();
            self.answer(true);
            self.persist(false);
        }
        let all: Vec<_> = self
            .log
            .iter()
            .map(|it| actors::event_number(it.id))
            .collect();
        let accepted: Vec<_> = self.accepted.iter().copied().collect();
        assert_eq!(accepted, all, "each event was accepted");
    }
}

#[test]
fn a_crash_between_any_two_notes_loses_nothing_and_repeats_nothing_that_is_written() {
    for seed in 0..3000 {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.step();
        }
        world.settle();
    }
}

/// What is sent again by hand is lost by no crash either.
#[test]
fn a_part_that_is_sent_again_is_written_until_each_of_it_was_sent() {
    let replay = Replay {
        cursor: 0,
        end: 3,
        since: 0,
    };
    let progress = Progress {
        cursor: 3,
        replay: Some(replay),
        ..Progress::default()
    };
    let mut queue = Queue::default();
    let mut reader = Reader::resumed(&progress, std::iter::empty(), &queue);
    let mut world = World::new(1);
    (0..3).for_each(|_| world.record());
    let mut page = world.log;
    for record in &mut page {
        record.project_event.key = WalletKey([0; 16]);
    }
    assert!(reader.take(Vec::new(), |_| true).is_empty(), "nothing new");
    for (wallet, entry) in reader.take(page, |_| true) {
        assert_eq!(entry.origin, Origin::Replay);
        queue.push(wallet, entry, world.now);
    }
    for sent in 0..3 {
        assert_eq!(queue.safe(Origin::Replay, u64::MAX), sent);
        let (wallet, entry, _) = queue.take(world.now).unwrap();
        assert_eq!(number(&entry), sent + 1);
        queue.finish(wallet, world.now);
    }
    assert_eq!(queue.safe(Origin::Replay, u64::MAX), u64::MAX);
}

//! The queue of one endpoint: for each wallet its next event (the head), and the events behind it. A wallet's
//! next event is not due before the previous one was accepted or has failed; other wallets go on.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    time::Duration,
};

use actors::{EventRecord, event_number};
use domain::{
    Timestamp,
    id::{DeliveryId, EventId, WalletKey},
};
use persistence::EventNumber;
use wire::field::EventType;

use super::delivery::{Delivery, Origin, Status};

/// With so many wallets due, the log is not read further.
const READY: usize = 64;
/// Most wallets with waiting events, and most waiting events in total: beyond, the log is not read further.
const MAX_WALLETS: usize = 1000;
const MAX_WAITING: usize = 10_000;

/// An event waiting to be sent.
#[derive(Debug, Clone)]
pub(super) struct QueuedDelivery {
    pub(super) delivery: DeliveryId,
    pub(super) event: EventId,
    pub(super) kind: EventType,
    pub(super) origin: Origin,
    /// Whether a note already says that its delivery is pending.
    pub(super) noted: bool,
    /// Whether somebody asked for this attempt.
    pub(super) by_hand: bool,
    /// How many reads of the event have failed.
    pub(super) unread: u32,
    /// The event, where it was read just now.
    pub(super) record: Option<Box<EventRecord>>,
}

/// An entry that is in flight now, and its event where it was read.
type Taken = (WalletKey, QueuedDelivery, Option<Box<EventRecord>>);

/// The entries of one endpoint, by wallet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    wallets: HashMap<WalletKey, Wallet>,
    /// Heads that are not in flight, by when they are due and by turn.
    due: BTreeSet<(Timestamp, u64, WalletKey)>,
    /// The first live entry of each wallet where that has no note, by number.
    unnoted: BTreeMap<EventNumber, WalletKey>,
    /// Number of entries behind heads.
    behind: usize,
    turns: u64,
}

#[derive(Debug)]
struct Wallet {
    head: QueuedDelivery,
    /// When the head is due, and its turn; `None`: it is in flight.
    due: Option<(Timestamp, u64)>,
    rest: VecDeque<QueuedDelivery>,
    /// Its key in [`Queue::unnoted`].
    unnoted: Option<EventNumber>,
}

impl Wallet {
    fn first_live(&mut self) -> Option<&mut QueuedDelivery> {
        let mut entries = std::iter::once(&mut self.head).chain(&mut self.rest);
        entries.find(|entry| entry.origin == Origin::Live)
    }
}

impl QueuedDelivery {
    /// The entry of a delivery that has a note.
    pub(super) fn of(delivery: &Delivery) -> Self {
        Self {
            delivery: delivery.id,
            event: delivery.event,
            kind: delivery.kind,
            origin: delivery.origin,
            noted: true,
            by_hand: false,
            unread: 0,
            record: None,
        }
    }

    /// The delivery for this entry before its first attempt.
    pub(super) fn delivery(&self, wallet: WalletKey) -> Delivery {
        Delivery {
            id: self.delivery,
            event: self.event,
            kind: self.kind,
            wallet,
            origin: self.origin,
            status: Status::Pending,
            attempts: Vec::new(),
            scheduled: 0,
            next_at: None,
        }
    }

    const fn number(&self) -> EventNumber {
        event_number(self.event)
    }
}

impl Queue {
    /// The entries of an earlier process's pending deliveries.
    pub(super) fn resumed<'a>(deliveries: impl Iterator<Item = &'a Delivery>) -> Self {
        let mut queue = Self::default();
        let mut pending: Vec<_> = deliveries
            .filter(|delivery| delivery.status == Status::Pending)
            .collect();
        // A wallet's delivery that was tried before goes first.
        pending.sort_by_key(|delivery| (delivery.attempts.is_empty(), delivery.id));
        for delivery in pending {
            let at = delivery.next_at.unwrap_or_default();
            queue.push(delivery.wallet, QueuedDelivery::of(delivery), at);
        }
        queue
    }

    /// Adds an entry as the last of its wallet; due at this instant if it is the only one.
    pub(super) fn push(&mut self, key: WalletKey, entry: QueuedDelivery, at: Timestamp) {
        if let Some(wallet) = self.wallets.get_mut(&key) {
            // Read again when it is sent: waiting entries stay small.
            wallet.rest.push_back(QueuedDelivery {
                record: None,
                ..entry
            });
            self.behind = self.behind.saturating_add(1);
            self.index(key);
            return;
        }
        let wallet = Wallet {
            head: entry,
            due: None,
            rest: VecDeque::new(),
            unnoted: None,
        };
        self.wallets.insert(key, wallet);
        self.index(key);
        self.set_due(key, at);
    }

    /// Looks again for a wallet's first live entry, after its entries changed.
    fn index(&mut self, key: WalletKey) {
        let Some(wallet) = self.wallets.get_mut(&key) else {
            return;
        };
        let first = wallet.first_live().filter(|entry| !entry.noted);
        let first = first.map(|entry| entry.number());
        if let Some(former) = std::mem::replace(&mut wallet.unnoted, first) {
            self.unnoted.remove(&former);
        }
        if let Some(first) = first {
            self.unnoted.insert(first, key);
        }
    }

    fn set_due(&mut self, key: WalletKey, at: Timestamp) {
        let Some(wallet) = self.wallets.get_mut(&key) else {
            return;
        };
        if let Some((at, turn)) = wallet.due {
            self.due.remove(&(at, turn, key));
        }
        self.turns = self.turns.saturating_add(1);
        wallet.due = Some((at, self.turns));
        self.due.insert((at, self.turns, key));
    }

    /// Takes the entry that has been due longest; it is in flight from now on.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<Taken> {
        let first = *self.due.first()?;
        let (at, _, key) = first;
        if at > now {
            return None;
        }
        self.due.remove(&first);
        let wallet = self.wallets.get_mut(&key)?;
        wallet.due = None;
        let record = wallet.head.record.take();
        Some((key, wallet.head.clone(), record))
    }

    /// Removes a wallet's head, which was accepted or has failed; the entry behind it is due.
    pub(super) fn finish(&mut self, key: WalletKey, now: Timestamp) {
        let Some(wallet) = self.wallets.get_mut(&key) else {
            return;
        };
        if let Some((at, turn)) = wallet.due.take() {
            self.due.remove(&(at, turn, key));
        }
        match wallet.rest.pop_front() {
            Some(next) => {
                wallet.head = next;
                self.behind = self.behind.saturating_sub(1);
                self.index(key);
                self.set_due(key, now);
            }
            None => {
                let gone = self.wallets.remove(&key);
                if let Some(number) = gone.and_then(|wallet| wallet.unnoted) {
                    self.unnoted.remove(&number);
                }
            }
        }
    }

    /// Plans another attempt for a wallet's head. `noted`: a note says that it is pending.
    pub(super) fn postpone(&mut self, key: WalletKey, at: Timestamp, noted: bool) {
        if let Some(wallet) = self.wallets.get_mut(&key) {
            wallet.head.noted |= noted;
            wallet.head.by_hand = false;
            wallet.head.unread = 0;
            self.index(key);
            self.set_due(key, at);
        }
    }

    /// Plans another read of a wallet's head, after `unread` failed ones.
    pub(super) fn put_off(&mut self, key: WalletKey, at: Timestamp, unread: u32) {
        if let Some(wallet) = self.wallets.get_mut(&key) {
            wallet.head.unread = unread;
            self.set_due(key, at);
        }
    }

    /// Makes all waiting heads due now.
    pub(super) fn all_due(&mut self, now: Timestamp) {
        let parked: Vec<_> = self.due.iter().map(|(_, _, key)| *key).collect();
        for key in parked {
            self.set_due(key, now);
        }
    }

    /// Makes a delivery due now if it is its wallet's head and waits for its next attempt.
    pub(super) fn hurry(&mut self, key: WalletKey, delivery: DeliveryId, now: Timestamp) {
        let wallet = self.wallets.get_mut(&key);
        let waits = wallet.filter(|it| it.due.is_some() && it.head.delivery == delivery);
        if let Some(wallet) = waits {
            wallet.head.by_hand = true;
            self.set_due(key, now);
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, ..)| *at)
    }

    /// Time until the next head is due; `None`: none waits, or one is due already and waits for a request to end.
    pub(super) fn until_due(&self, now: Timestamp) -> Option<Duration> {
        let millis = self.next_due()?.0.saturating_sub(now.0);
        let millis = u64::try_from(millis).ok().filter(|millis| *millis > 0)?;
        Some(Duration::from_millis(millis))
    }

    /// Heads that are due, counted up to [`READY`].
    fn ready(&self, now: Timestamp) -> usize {
        let ready = self.due.iter().take_while(|(at, ..)| *at <= now);
        ready.take(READY).count()
    }

    /// Whether the log should be read further.
    pub(super) fn has_room(&self, now: Timestamp) -> bool {
        self.ready(now) < READY && self.wallets.len() < MAX_WALLETS && !self.is_full()
    }

    /// Whether no more should be added by hand.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= MAX_WAITING
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.wallets.len().saturating_add(self.behind)
    }

    /// The highest cursor that loses nothing when only notes survive, where the log was read up to `read` for
    /// entries of this origin. Live entries behind one that has a note are found again through that note;
    /// entries of a replay are not.
    pub(super) fn safe(&self, origin: Origin, read: EventNumber) -> EventNumber {
        let first = match origin {
            Origin::Live => self.unnoted.first_key_value().map(|(number, _)| *number),
            Origin::Replay => {
                let wallets = self.wallets.values();
                let entries = wallets.flat_map(|it| std::iter::once(&it.head).chain(&it.rest));
                let mine = entries.filter(|entry| entry.origin == origin && !entry.noted);
                mine.map(QueuedDelivery::number).min()
            }
        };
        first.map_or(read, |first| first.saturating_sub(1).min(read))
    }

    /// The live entries that a written cursor has passed and that no note finds any more, as the one before them
    /// is over: each gets a note now.
    pub(super) fn note_passed(&mut self, cursor: EventNumber) -> Vec<(WalletKey, QueuedDelivery)> {
        let passed = self.unnoted.range(..=cursor).map(|(_, key)| *key);
        let passed: Vec<_> = passed.collect();
        let mut entries = Vec::with_capacity(passed.len());
        for key in passed {
            let wallet = self.wallets.get_mut(&key);
            if let Some(first) = wallet.and_then(Wallet::first_live) {
                first.noted = true;
                entries.push((key, first.clone()));
            }
            self.index(key);
        }
        entries
    }

    /// The wallets whose first live entry has a note, with that entry's number.
    pub(super) fn parked(&self) -> HashMap<WalletKey, EventNumber> {
        let parked = self.wallets.iter().filter_map(|(key, wallet)| {
            let mut entries = std::iter::once(&wallet.head).chain(&wallet.rest);
            let first = entries.find(|entry| entry.origin == Origin::Live && entry.noted)?;
            Some((*key, first.number()))
        });
        parked.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: WalletKey = WalletKey([1; 16]);
    const BOB: WalletKey = WalletKey([2; 16]);
    const NOW: Timestamp = Timestamp(1000);
    const LATER: Timestamp = Timestamp(2000);

    fn entry(number: u64) -> QueuedDelivery {
        QueuedDelivery {
            delivery: DeliveryId(number.into()),
            event: EventId(u128::from(number) << 64),
            kind: EventType::named("wallet.created").unwrap(),
            origin: Origin::Live,
            noted: false,
            by_hand: false,
            unread: 0,
            record: None,
        }
    }

    fn again(number: u64) -> QueuedDelivery {
        QueuedDelivery {
            origin: Origin::Replay,
            ..entry(number)
        }
    }

    fn taken(queue: &mut Queue, now: Timestamp) -> Option<u64> {
        queue.take(now).map(|(_, entry, _)| entry.number())
    }

    #[test]
    fn a_wallets_next_waits_for_its_last_and_others_go_on() {
        let mut queue = Queue::default();
        for (wallet, number) in [(ANN, 1), (ANN, 2), (BOB, 3), (ANN, 4)] {
            queue.push(wallet, entry(number), NOW);
        }
        assert_eq!(
            (queue.len(), queue.wallets.len(), queue.ready(NOW)),
            (4, 2, 2)
        );
        assert_eq!(taken(&mut queue, NOW), Some(1));
        assert_eq!(taken(&mut queue, NOW), Some(3));
        assert_eq!(
            taken(&mut queue, NOW),
            None,
            "the second waits for the first"
        );
        queue.postpone(ANN, LATER, true);
        queue.finish(BOB, NOW);
        assert_eq!(
            (taken(&mut queue, NOW), queue.next_due()),
            (None, Some(LATER))
        );
        assert_eq!(taken(&mut queue, LATER), Some(1));
        queue.finish(ANN, LATER);
        assert_eq!(taken(&mut queue, LATER), Some(2));
        queue.finish(ANN, LATER);
        assert_eq!(taken(&mut queue, LATER), Some(4));
        queue.finish(ANN, LATER);
        assert_eq!((queue.len(), queue.next_due()), (0, None));
    }

    #[test]
    fn nothing_is_passed_that_only_this_queue_knows_of() {
        let mut queue = Queue::default();
        assert_eq!(queue.safe(Origin::Live, 50), 50);
        queue.push(ANN, entry(10), NOW);
        queue.push(ANN, entry(12), NOW);
        queue.push(BOB, entry(20), NOW);
        assert_eq!(queue.safe(Origin::Live, 50), 9);
        queue.take(NOW);
        queue.postpone(ANN, LATER, true);
        assert_eq!(
            queue.safe(Origin::Live, 50),
            19,
            "the first note finds the second"
        );
        assert_eq!(queue.parked(), HashMap::from([(ANN, 10)]));
        queue.take(NOW);
        queue.finish(BOB, NOW);
        assert_eq!(queue.safe(Origin::Live, 50), 50);
        queue.finish(ANN, NOW);
        assert_eq!(
            queue.safe(Origin::Live, 50),
            11,
            "the second is the first now"
        );
    }

    #[test]
    fn what_a_cursor_passed_has_a_note_before_the_one_ahead_of_it_is_over() {
        let mut queue = Queue::default();
        for (wallet, number) in [(ANN, 10), (ANN, 12), (BOB, 20), (ANN, 30)] {
            queue.push(wallet, entry(number), NOW);
        }
        queue.take(NOW);
        queue.postpone(ANN, LATER, true);
        let passed = |queue: &mut Queue, cursor| -> Vec<_> {
            let passed = queue.note_passed(cursor);
            passed.iter().map(|(_, entry)| entry.number()).collect()
        };
        assert!(passed(&mut queue, 19).is_empty(), "the first finds it");
        queue.finish(ANN, LATER);
        assert!(passed(&mut queue, 11).is_empty(), "the log is read again");
        assert_eq!(passed(&mut queue, 19), [12]);
        assert_eq!(queue.parked(), HashMap::from([(ANN, 12)]));
        assert_eq!(queue.safe(Origin::Live, 50), 19);
        queue.finish(ANN, LATER);
        assert!(passed(&mut queue, 19).is_empty(), "it lies beyond");
    }

    #[test]
    fn what_is_sent_again_hides_nothing_behind_it() {
        let mut queue = Queue::default();
        let noted = QueuedDelivery {
            noted: true,
            ..again(5)
        };
        queue.push(ANN, noted, NOW);
        queue.push(ANN, entry(40), NOW);
        queue.push(ANN, again(7), NOW);
        assert_eq!(queue.safe(Origin::Live, 50), 39);
        assert_eq!(queue.safe(Origin::Replay, 30), 6);
        assert_eq!(queue.parked(), HashMap::new());
    }

    #[test]
    fn what_is_parked_can_be_hurried() {
        let mut queue = Queue::default();
        queue.push(ANN, entry(1), LATER);
        queue.push(BOB, entry(2), LATER);
        queue.hurry(ANN, DeliveryId(9), NOW);
        assert_eq!(taken(&mut queue, NOW), None, "that is not its head");
        queue.hurry(BOB, DeliveryId(2), NOW);
        assert_eq!(taken(&mut queue, NOW), Some(2));
        queue.hurry(BOB, DeliveryId(2), NOW);
        assert_eq!(taken(&mut queue, NOW), None, "it is being sent");
        queue.all_due(NOW);
        assert_eq!(taken(&mut queue, NOW), Some(1));
    }
}

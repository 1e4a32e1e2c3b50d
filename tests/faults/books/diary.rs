//! A diary of what was sent, written before each request, and of what was answered.

use super::operation::{Item, Operation};
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

/// All operations of a test, in the order they were first sent.
#[derive(Default)]
pub(crate) struct Diary {
    records: Mutex<Vec<Record>>,
    answered: AtomicUsize,
}

/// One operation and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) operation: Operation,
    /// Whether the server has answered that it is done.
    pub(crate) answered: bool,
    /// Of an answered hold.
    pub(crate) hold_id: Option<String>,
    /// Of an answered read: the keys it showed.
    pub(crate) revealed: Vec<String>,
}

impl Record {
    /// The record of an operation that was written down elsewhere, as in another diary.
    pub(crate) fn known(operation: Operation, answered: bool) -> Self {
        Self {
            answered,
            ..Self::new(operation)
        }
    }

    fn new(operation: Operation) -> Self {
        Self {
            operation,
            answered: false,
            hold_id: None,
            revealed: vec![],
        }
    }
}

/// What a successful response contained.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) hold_id: Option<String>,
    pub(crate) revealed: Vec<String>,
}

impl Diary {
    /// Writes an operation down; `build` is given its number, to make keys of.
    pub(crate) fn note(&self, build: impl FnOnce(usize) -> Operation) -> usize {
        let mut records = self.lock();
        let number = records.len();
        let operation = build(number);
        records.push(Record::new(operation));
        number
    }

    /// Writes down that an operation was answered as done.
    pub(crate) fn answer(&self, number: usize, answer: Answer) {
        let record = &mut self.lock()[number];
        record.answered = true;
        record.hold_id = answer.hold_id;
        record.revealed = answer.revealed;
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes down that only some items of a batch were done: the others become a batch of their own, without
    /// an answer.
    pub(crate) fn answer_in_part(&self, number: usize, done: &[bool]) {
        let mut records = self.lock();
        let Operation::Batch(items) = &mut records[number].operation else {
            panic!("only a batch can be done in part");
        };
        let mut done = done.iter();
        let is_done = |_: &Item| done.next().copied().unwrap_or_default();
        let (done, refused) = std::mem::take(items).into_iter().partition(is_done);
        *items = done;
        records[number].answered = true;
        records.push(Record::new(Operation::Batch(refused)));
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of answers, repeats included.
    pub(crate) fn answers(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    /// The record of one operation.
    pub(crate) fn record(&self, number: usize) -> Record {
        self.lock()[number].clone()
    }

    /// All records so far.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.lock().clone()
    }

    /// The numbers of unanswered writes, oldest first.
    pub(crate) fn unanswered(&self) -> Vec<usize> {
        let open = |record: &Record| !record.answered && record.operation.writes();
        let records = self.lock();
        (0..records.len())
            .filter(|&number| open(&records[number]))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Record>> {
        self.records.lock().unwrap()
    }
}

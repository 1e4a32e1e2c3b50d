//! Entries in order, with newer ones laid over them: what was recovered over what is folded.

use std::{cmp::Ordering, iter::Peekable};

use super::packed::Entry;
use crate::contract::Error;

/// Both in one order. Where both have a key the upper one counts; without a value it hides the lower.
pub(super) struct Overlay<Over: Iterator, Under: Iterator> {
    over: Peekable<Over>,
    under: Peekable<Under>,
    backward: bool,
}

impl<Over: Iterator, Under: Iterator> Overlay<Over, Under> {
    /// Both in rising order.
    pub(super) fn forward(over: Over, under: Under) -> Self {
        Self {
            over: over.peekable(),
            under: under.peekable(),
            backward: false,
        }
    }

    /// Both in falling order.
    pub(super) fn backward(over: Over, under: Under) -> Self {
        Self {
            backward: true,
            ..Self::forward(over, under)
        }
    }
}

impl<'a, Over, Under, const K: usize, const V: usize> Iterator for Overlay<Over, Under>
where
    Over: Iterator<Item = (&'a [u8; K], &'a Option<[u8; V]>)>,
    Under: Iterator<Item = Result<Entry<K, V>, Error>>,
{
    type Item = Result<Entry<K, V>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let order = match (self.over.peek(), self.under.peek()) {
                (None, _) | (_, Some(Err(_))) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some((over, _)), Some(Ok((under, _)))) if self.backward => under.cmp(over),
                (Some((over, _)), Some(Ok((under, _)))) => (*over).cmp(under),
            };
            match order {
                Ordering::Greater => return self.under.next(),
                Ordering::Equal => drop(self.under.next()),
                Ordering::Less => {}
            }
            let (key, value) = self.over.next()?;
            if let Some(value) = value {
                return Some(Ok((*key, *value)));
            }
        }
    }
}

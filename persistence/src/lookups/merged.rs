//! Entries laid over others: what changed lately over what is stored.

use std::cmp::Ordering;

use super::entry_batch::EachEntry;
use crate::error::Error;

/// Calls `each` with stored entries and changes of them until it returns false, both in an order in which the first of
/// two keys compares to the second as `first`. If both have a key the change counts; without a value it hides the stored
/// entry.
pub(crate) fn merge<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    changes: impl Iterator<Item = (K, Option<V>)>,
    first: Ordering,
    stored: impl FnOnce(&mut EachEntry<'_>) -> Result<(), Error>,
    each: &mut EachEntry<'_>,
) -> Result<(), Error> {
    let mut changes = changes.peekable();
    let mut goes_on = true;
    stored(&mut |key, value| {
        let is_due = |changed: &[u8]| {
            let order = changed.cmp(key);
            order == first || order.is_eq()
        };
        let mut is_changed = false;
        while goes_on && let Some((changed, new)) = changes.next_if(|(it, _)| is_due(it.as_ref())) {
            is_changed = changed.as_ref() == key;
            goes_on = new.is_none_or(|new| each(changed.as_ref(), new.as_ref()));
        }
        if goes_on && !is_changed {
            goes_on = each(key, value);
        }
        goes_on
    })?;
    while goes_on && let Some((key, value)) = changes.next() {
        goes_on = value.is_none_or(|value| each(key.as_ref(), value.as_ref()));
    }
    Ok(())
}

//! Lists that come a page at a time.

use crate::{call::Call, client::Scrip, error::Error};
use serde::{Deserialize, de::DeserializeOwned};
use std::{collections::VecDeque, fmt};

/// One thing after another, fetched a page at a time as they are taken.
///
/// ```no_run
/// # async fn example(scrip: scrip_client::Scrip) -> Result<(), scrip_client::Error> {
/// let mut orders = scrip.orders();
/// while let Some(order) = orders.next().await? {
///     println!("{} {}", order.id, order.status);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Pages<T> {
    scrip: Scrip,
    call: Call,
    /// What the place to go on from is called in the query.
    cursor: &'static str,
    here: VecDeque<T>,
    next: Next,
}

enum Next {
    First,
    From(String),
    Nothing,
}

/// One page.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Page<T> {
    #[serde(alias = "entries", alias = "orders", alias = "events")]
    pub(crate) items: Vec<T>,
    #[serde(rename = "nextCursor")]
    pub(crate) next: Option<String>,
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("here", &self.here.len())
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Pages<T> {
    pub(crate) fn new(scrip: &Scrip, call: Call, cursor: &'static str) -> Self {
        Self {
            scrip: scrip.clone(),
            call,
            cursor,
            here: VecDeque::new(),
            next: Next::First,
        }
    }

    /// The next one; `None` after the last. After an error it can be asked again.
    ///
    /// # Errors
    ///
    /// What any call may answer, and what reading the list may.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        while self.here.is_empty() {
            let call = match &self.next {
                Next::First => self.call.clone(),
                Next::From(place) => self.call.clone().query(self.cursor, Some(place)),
                Next::Nothing => return Ok(None),
            };
            let page: Page<T> = self.scrip.call(call).await?;
            self.next = page.next.map_or(Next::Nothing, Next::From);
            self.here = page.items.into();
        }
        Ok(self.here.pop_front())
    }

    /// All that are left. Mind that a ledger can be long.
    ///
    /// # Errors
    ///
    /// As [`Pages::next`].
    pub async fn all(mut self) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await? {
            all.push(item);
        }
        Ok(all)
    }
}

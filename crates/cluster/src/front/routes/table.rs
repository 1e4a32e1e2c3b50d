//! Which cells there are, who leads them and what they have, as far as one process knows at one time.

use std::sync::Arc;

use super::{announcement::CellContents, routing_key::RoutingKey};
use crate::front::{forward::Link, origin::Origin};

/// Cells by their numbers, and who leads each, as far as that is known.
pub type CellLeaders = Vec<(i16, Option<Origin>)>;

/// What is known of a cell.
#[derive(Clone)]
pub(super) struct CellRoute {
    pub(super) link: Arc<Link>,
    pub(super) leader: Option<Origin>,
    /// What it announced last, by any leader.
    pub(super) announced: Option<Arc<CellContents>>,
    /// The last refresh in which its leader answered; 0: none.
    pub(super) answered: u64,
}

/// All cells that there are, by their numbers. It is never changed, but replaced.
#[derive(Clone)]
pub(super) struct RoutingTable {
    own: i16,
    cells: Vec<CellRoute>,
}

impl RoutingTable {
    /// A table for a process of this cell, which is always in it.
    pub(super) fn new(own: Arc<Link>) -> Self {
        Self {
            own: own.cell,
            cells: vec![CellRoute::new(own)],
        }
    }

    pub(super) fn cells(&self) -> &[CellRoute] {
        &self.cells
    }

    pub(super) fn cell(&self, number: i16) -> Option<&CellRoute> {
        self.cells.iter().find(|cell| cell.link.cell == number)
    }

    pub(super) fn is_several(&self) -> bool {
        self.cells.len() > 1
    }

    /// The cell of what a request is about. What the own cell's leader said counts for less than what a process knows
    /// that `leads` it, and is left out there.
    pub(super) fn place(&self, key: &RoutingKey, leads: bool) -> Option<i16> {
        let found = match key {
            RoutingKey::Lowest => self.cells.first(),
            RoutingKey::Cell(number) => self.cell(*number),
            RoutingKey::Project(project) => {
                self.with(leads, |contents| contents.projects.contains(project))
            }
            RoutingKey::ApiKey(hash) => self.with(leads, |contents| contents.keys.contains(hash)),
        };
        found.map(|cell| cell.link.cell)
    }

    /// The cell that has announced something. Where several have, for a project moves, it is the one that announced
    /// last; of those the one that was made last.
    fn with(&self, leads: bool, has: impl Fn(&CellContents) -> bool) -> Option<&CellRoute> {
        let having = self.cells.iter().filter(|cell| {
            let counts = !(leads && cell.link.cell == self.own);
            counts && cell.announced.as_deref().is_some_and(&has)
        });
        having.max_by_key(|cell| cell.answered)
    }

    /// Whether each cell's leader has answered in this refresh or a later one, the own one aside where this process
    /// `leads` it.
    pub(super) fn has_answered(&self, refresh: u64, leads: bool) -> bool {
        let own = |cell: &CellRoute| leads && cell.link.cell == self.own;
        self.cells
            .iter()
            .all(|cell| own(cell) || cell.answered >= refresh)
    }

    /// The same with these cells and leaders; `None`: that is what it has.
    pub(super) fn with_cells(
        &self,
        mut listed: CellLeaders,
        link: impl Fn(i16) -> Arc<Link>,
    ) -> Option<Self> {
        if listed.iter().all(|(number, _)| *number != self.own) {
            let leader = self.cell(self.own).and_then(|own| own.leader.clone());
            listed.push((self.own, leader));
        }
        listed.sort_by_key(|(number, _)| *number);
        listed.dedup_by_key(|(number, _)| *number);
        let known = self.cells.iter().map(|cell| (cell.link.cell, &cell.leader));
        if known.eq(listed.iter().map(|(number, leader)| (*number, leader))) {
            return None;
        }
        let cells = listed.into_iter().map(|(number, leader)| CellRoute {
            leader,
            ..match self.cell(number) {
                Some(cell) => cell.clone(),
                None => CellRoute::new(link(number)),
            }
        });
        Some(Self {
            own: self.own,
            cells: cells.collect(),
        })
    }

    /// The same after the leader of a cell has answered in a refresh: with something new, or with what it had said.
    pub(super) fn with_answer(
        &self,
        number: i16,
        refresh: u64,
        news: Option<Arc<CellContents>>,
    ) -> Self {
        let mut table = self.clone();
        for cell in &mut table.cells {
            if cell.link.cell == number {
                cell.answered = refresh;
                cell.announced = news.clone().or(cell.announced.take());
            }
        }
        table
    }
}

impl CellRoute {
    fn new(link: Arc<Link>) -> Self {
        Self {
            link,
            leader: None,
            announced: None,
            answered: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;

    use super::{super::Announcement, *};
    use crate::front::{ForwardSettings, Forwarder};

    #[test]
    fn of_two_cells_that_have_a_project_it_is_in_the_one_that_answered_last() {
        let forwarder = Forwarder::new(
            &[7; 32],
            ForwardSettings {
                trusted_proxies: Vec::new(),
                max_kept_body_bytes: 0,
                max_under_way: 1,
                tls: None,
            },
        );
        let forwarder = forwarder.unwrap();
        let list = vec![(3, None), (1, None)];
        let table = RoutingTable::new(forwarder.link(1));
        let table = table.with_cells(list.clone(), |cell| forwarder.link(cell));
        let table = table.unwrap();
        let same = table.with_cells(list, |cell| forwarder.link(cell));
        assert!(same.is_none());
        let key = RoutingKey::Project(ProjectId(5));
        assert_eq!(table.place(&key, false), None);
        let has = || {
            Some(Arc::new(
                Announcement::new(0, vec![ProjectId(5)], vec![]).into(),
            ))
        };
        let table = table.with_answer(1, 2, has());
        assert_eq!(table.place(&key, false), Some(1));
        // Who leads the own cell knows better than what was announced of it.
        assert_eq!(table.place(&key, true), None);
        let table = table.with_answer(3, 2, has());
        assert_eq!(table.place(&key, false), Some(3));
        let table = table.with_answer(1, 3, None);
        assert_eq!(table.place(&key, false), Some(1));
        assert!(table.has_answered(2, false) && !table.has_answered(3, false));
        // The other one is gone, and the own one is always there.
        let table = table.with_cells(vec![], |cell| forwarder.link(cell));
        let table = table.unwrap();
        assert!(!table.is_several() && table.has_answered(3, false));
        assert_eq!(table.place(&RoutingKey::Lowest, false), Some(1));
        assert_eq!(table.place(&RoutingKey::Cell(3), false), None);
    }
}

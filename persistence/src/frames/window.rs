//! Groups under way: they were started, and what became of them is not known yet.

use std::collections::VecDeque;

use super::{FramePosition, Group};

/// Groups under way, the oldest first, each with what it was made from, which is kept until the outcome is known.
#[derive(Debug)]
pub struct Window<T> {
    depth: usize,
    under_way: VecDeque<(Group, T)>,
    /// The place that the next group follows.
    head: FramePosition,
}

/// What became of groups whose answers were lost.
#[derive(Debug)]
pub struct Resolved<T> {
    /// They are durable, the oldest first.
    pub durable: Vec<(Group, T)>,
    /// They are not in the log and never will be: from these, groups are to be made again, in this order.
    pub again: Vec<T>,
}

impl<T> Window<T> {
    /// An empty one for at most so many groups, behind a place.
    pub const fn new(depth: usize, head: FramePosition) -> Self {
        Self {
            depth,
            under_way: VecDeque::new(),
            head,
        }
    }

    /// Whether another group may be started.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < self.depth
    }

    /// Whether no group is under way.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// The place that the next group follows.
    pub const fn head(&self) -> FramePosition {
        self.head
    }

    /// Keeps a group that is started, which follows [`Window::head`], and what it was made from.
    pub fn push(&mut self, group: Group, from: T) {
        self.head = group.last();
        self.under_way.push_back((group, from));
    }

    /// `found` are the frames behind the last one that was known to be durable; the last of them is this process's own
    /// durable term start, behind which the next group goes. Splits the groups under way into those found and those to be made again.
    pub fn resolve(&mut self, found: &[FramePosition]) -> Resolved<T> {
        let is_found = |(group, _): &mut (Group, T)| found.contains(&group.last());
        let mut durable = Vec::new();
        while let Some(known) = self.under_way.pop_front_if(is_found) {
            durable.push(known);
        }
        self.head = found.last().copied().unwrap_or(self.head);
        let again = self.under_way.drain(..).map(|(_, from)| from).collect();
        Resolved { durable, again }
    }

    /// The oldest group.
    pub fn oldest(&self) -> Option<&Group> {
        self.under_way.front().map(|(group, _)| group)
    }

    /// What the groups under way were made from, the oldest first.
    pub fn sources(&mut self) -> impl Iterator<Item = &mut T> {
        self.under_way.iter_mut().map(|(_, from)| from)
    }

    /// Takes the oldest group, whose outcome is known now.
    pub fn pop(&mut self) -> Option<(Group, T)> {
        self.under_way.pop_front()
    }
}

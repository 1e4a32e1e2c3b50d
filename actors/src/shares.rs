//! A number of places shared fairly between owners. An owner may take another place while at least as many as they then
//! hold are free: alone one gets half of all, and however many are busy, a new one finds as many free as each of them
//! holds. Each client of an owner gets a smaller part, so that a stranger with the addresses of a home connection
//! leaves some to others.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    net::IpAddr,
    sync::Arc,
};

use parking_lot::Mutex;

/// Places, each taken for a `K`, such as a project, and perhaps a client of it.
#[derive(Debug)]
pub struct Shares<K> {
    taken: Arc<Mutex<Taken<K>>>,
    number: usize,
    client_part: usize,
}

#[derive(Debug)]
struct Taken<K> {
    all: usize,
    by_owner: HashMap<K, usize>,
    by_client: HashMap<(K, IpAddr), usize>,
}

/// Held places, released on drop.
#[derive(Debug)]
pub struct HeldPlaces<K: Copy + Eq + Hash> {
    taken: Arc<Mutex<Taken<K>>>,
    number: usize,
    client_part: usize,
    owner: K,
    client: Option<IpAddr>,
    places: usize,
}

impl<K> Clone for Shares<K> {
    fn clone(&self) -> Self {
        Self {
            taken: Arc::clone(&self.taken),
            number: self.number,
            client_part: self.client_part,
        }
    }
}

impl<K: Copy + Eq + Hash> Shares<K> {
    /// This many free places.
    pub fn new(number: usize) -> Self {
        let taken = Taken {
            all: 0,
            by_owner: HashMap::new(),
            by_client: HashMap::new(),
        };
        Self {
            taken: Arc::new(Mutex::new(taken)),
            number,
            client_part: 1,
        }
    }

    /// A client may take another place while this multiple of what it holds is left to its owner; 1 by default.
    #[must_use]
    pub const fn with_client_part(mut self, client_part: usize) -> Self {
        self.client_part = client_part;
        self
    }

    /// An empty share for an owner and a client of theirs.
    #[must_use]
    pub fn share(&self, owner: K, client: Option<IpAddr>) -> HeldPlaces<K> {
        HeldPlaces {
            taken: Arc::clone(&self.taken),
            number: self.number,
            client_part: self.client_part,
            owner,
            client,
            places: 0,
        }
    }

    /// One place for an owner and a client of theirs; `None` if one of them has their share.
    #[must_use]
    pub fn take(&self, owner: K, client: Option<IpAddr>) -> Option<HeldPlaces<K>> {
        let mut share = self.share(owner, client);
        share.grow(1).then_some(share)
    }

    /// How many places are taken.
    pub fn held(&self) -> usize {
        self.taken.lock().all
    }
}

impl<K: Copy + Eq + Hash> HeldPlaces<K> {
    /// Takes more places. `false` if there are none left for it, and nothing changed.
    pub fn grow(&mut self, places: usize) -> bool {
        if places == 0 {
            return true;
        }
        let mut taken = self.taken.lock();
        let left = self.number.saturating_sub(taken.all);
        let owned = taken.by_owner.get(&self.owner).copied().unwrap_or(0);
        let client = self.client.map(|client| (self.owner, client));
        let (held, left) = match &client {
            Some(client) => {
                let held = taken.by_client.get(client).copied().unwrap_or(0);
                let held = held.saturating_mul(self.client_part);
                (held, left.saturating_sub(owned))
            }
            None => (owned, left),
        };
        if held.saturating_add(places) > left {
            return false;
        }
        taken.all += places;
        let owned = taken.by_owner.entry(self.owner).or_insert(0);
        *owned += places;
        if let Some(client) = client {
            let held = taken.by_client.entry(client).or_insert(0);
            *held += places;
        }
        drop(taken);
        self.places += places;
        true
    }
}

impl<K: Copy + Eq + Hash> Drop for HeldPlaces<K> {
    fn drop(&mut self) {
        if self.places == 0 {
            return;
        }
        let mut taken = self.taken.lock();
        taken.all = taken.all.saturating_sub(self.places);
        give_back(taken.by_owner.entry(self.owner), self.places);
        if let Some(client) = self.client {
            give_back(taken.by_client.entry((self.owner, client)), self.places);
        }
    }
}

fn give_back<K>(entry: Entry<'_, K, usize>, places: usize) {
    if let Entry::Occupied(mut held) = entry {
        *held.get_mut() = held.get().saturating_sub(places);
        if *held.get() == 0 {
            held.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(shares: &Shares<u32>, owner: u32, client: Option<u8>) -> Vec<HeldPlaces<u32>> {
        let client = client.map(|last| IpAddr::from([127, 0, 0, last]));
        std::iter::from_fn(|| shares.take(owner, client)).collect()
    }

    #[test]
    fn an_owner_leaves_as_many_as_they_have() {
        let shares = Shares::new(256);
        let first = all(&shares, 1, None);
        let second = all(&shares, 2, None);
        let third = all(&shares, 3, None);
        assert_eq!((first.len(), second.len(), third.len()), (128, 64, 32));
        // Places that were given back go to those who hold fewer.
        drop(first);
        assert_eq!(all(&shares, 1, None).len(), 80);
        assert_eq!(all(&shares, 3, None).len(), 64);
        drop((second, third));
        assert_eq!(shares.held(), 0);
        assert!(shares.taken.lock().by_owner.is_empty());
    }

    #[test]
    fn two_hundred_hungry_owners_leave_a_place_for_one_more() {
        let shares = Shares::new(256);
        let mut held = Vec::new();
        // They take turns, as requests do.
        for _ in 0..256 {
            held.extend((0..200).filter_map(|owner| shares.take(owner, None)));
        }
        assert!(shares.take(1000, None).is_some());
    }

    #[test]
    fn a_client_leaves_places_to_others_of_its_project_and_all_of_them_to_other_projects() {
        let shares = Shares::new(10_000).with_client_part(100);
        let greedy: Vec<_> = (0..=255)
            .flat_map(|client| all(&shares, 1, Some(client)))
            .collect();
        assert!(greedy.len() <= 5_000, "{}", greedy.len());
        let other = shares.take(2, None).unwrap();
        assert!(all(&shares, 2, None).len() >= 2_000, "another project");
        assert!(
            shares.take(1, Some([192, 0, 2, 1].into())).is_some(),
            "another client"
        );
        drop((greedy, other));
        assert!(shares.taken.lock().by_client.is_empty());
    }

    #[test]
    fn growth_keeps_to_its_share() {
        let shares = Shares::new(16);
        let mut share = shares.share(1, None);
        assert!(share.grow(8));
        assert!(!share.grow(1), "eight are held, and eight are left");
        assert!(share.grow(0));
        drop(share);
        assert_eq!(shares.held(), 0);
    }
}

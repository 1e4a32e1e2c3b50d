//! How many connections each client has, so that none takes all of them. What is remembered is
//! bounded by the connections that are open.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::Arc,
};

use crate::limits::Client;
use ipnet::IpNet;
use parking_lot::Mutex;

type Open = Arc<Mutex<HashMap<Client, usize>>>;

#[derive(Debug)]
pub(super) struct Clients {
    open: Open,
    max: usize,
    /// Proxies, whose connections carry other clients' requests.
    exempt: Vec<IpNet>,
}

/// One connection of a client; given back when it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot(Option<(Client, Open)>);

impl Clients {
    pub(super) fn new(max: usize) -> Self {
        Self {
            open: Arc::default(),
            max,
            exempt: Vec::new(),
        }
    }

    /// Does not count connections from these networks.
    pub(super) fn exempt(&mut self, proxies: &[IpNet]) {
        self.exempt = proxies.to_vec();
    }

    /// Counts a connection of this address; `None`: its client has as many as it may.
    pub(super) fn seat(&self, peer: IpAddr) -> Option<ConnectionSlot> {
        let peer = peer.to_canonical();
        if self.exempt.iter().any(|network| network.contains(&peer)) {
            return Some(ConnectionSlot(None));
        }
        let client = Client::from(peer);
        let mut open = self.open.lock();
        let number = open.entry(client).or_default();
        if *number >= self.max {
            return None;
        }
        *number = number.saturating_add(1);
        Some(ConnectionSlot(Some((client, Arc::clone(&self.open)))))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some((client, open)) = self.0.take() else {
            return;
        };
        if let Entry::Occupied(mut number) = open.lock().entry(client) {
            *number.get_mut() = number.get().saturating_sub(1);
            if *number.get() == 0 {
                number.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_gone_is_forgotten() {
        let clients = Clients::new(2);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let one = clients.seat(address("2001:db8::1")).unwrap();
        let two = clients.seat(address("2001:db8::2")).unwrap();
        assert!(clients.seat(address("2001:db8::3")).is_none(), "one /64");
        let other = clients.seat(address("192.0.2.1")).unwrap();
        let mapped = clients.seat(address("::ffff:192.0.2.1")).unwrap();
        assert!(clients.seat(address("192.0.2.1")).is_none());
        drop((one, two, other, mapped));
        assert!(clients.open.lock().is_empty());
    }
}

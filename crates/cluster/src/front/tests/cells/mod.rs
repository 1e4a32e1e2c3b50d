//! What clients notice of several cells, each with a leader and others: real servers on loopback, around a double of the
//! database and of each cell's log.

mod asking;
mod moving;
mod placing;

use std::{
    collections::{BTreeMap, HashMap},
    future::{Ready, ready},
    sync::Mutex,
    time::Duration,
};

use axum::{
    http::{StatusCode, Uri},
    response::IntoResponse as _,
};
use domain::id::ProjectId;

use super::*;
use crate::front::{Announcement, CellLeaders, RoutingKey};

/// What all processes share.
#[derive(Clone, Default)]
struct World(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    /// The cells in the database, with their leaders.
    cells: BTreeMap<i16, Option<Origin>>,
    /// What each cell's log says of where something is.
    logs: HashMap<i16, HashMap<RoutingKey, i16>>,
    /// Processes that follow, which hear from their log who leads.
    following: Vec<(i16, FrontSwitch<Router>)>,
    /// How often the list of the cells was read.
    lists: usize,
}

/// A project that a path names: `/projects/1`.
fn project(number: u128) -> RoutingKey {
    RoutingKey::Project(ProjectId(number))
}

/// An API key that a header carries: `x-key: 1`.
fn key(number: u64) -> RoutingKey {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    RoutingKey::ApiKey(hash)
}

fn find(uri: &Uri, headers: &HeaderMap) -> Option<RoutingKey> {
    if let Some(number) = headers.get("x-key") {
        return Some(key(number.to_str().unwrap().parse().unwrap()));
    }
    let mut path = uri.path().split('/').skip(1);
    match (path.next()?, path.next()) {
        ("projects", Some(number)) => Some(project(number.parse().unwrap())),
        ("cells", Some(number)) => Some(RoutingKey::Cell(number.parse().unwrap())),
        ("lowest", _) => Some(RoutingKey::Lowest),
        _ => None,
    }
}

impl World {
    /// A process of a cell that follows its leader.
    fn node(&self, cell: i16) -> Node {
        let forwarder = Forwarder::new(&SERVER_KEY, settings()).unwrap();
        let local = Router::new().route("/healthz", get(|| async { "local health" }));
        let (front, switch) = Front::new(local, forwarder, cell, Arc::new(find));
        let address = serve(front, None);
        tokio::spawn(switch.routes().clone().keep(self.list()));
        let node = Node { address, switch };
        let mut shared = self.0.lock().unwrap();
        shared.following.push((cell, node.switch.clone()));
        if let Some(leader) = shared.cells.entry(cell).or_default() {
            node.switch.elsewhere(leader.clone());
        }
        node
    }

    fn list(&self) -> impl Fn() -> Ready<Option<CellLeaders>> + Send + use<> {
        let world = self.clone();
        move || {
            let mut shared = world.0.lock().unwrap();
            shared.lists += 1;
            ready(Some(shared.cells.clone().into_iter().collect()))
        }
    }

    /// Has a process lead its cell, with this service in place of the one that says which cell answers.
    fn lead_with(&self, cell: i16, node: &Node, service: Router) {
        let (world, log) = (self.clone(), self.clone());
        let internal = Router::new().route(
            "/cluster/routes",
            get(async move |headers: HeaderMap| world.announcement(cell).respond(&headers)),
        );
        let place = move |key: &RoutingKey| log.place(cell, key);
        node.switch
            .here_while(service, internal, place, whose, || true);
        let leader = origin(node.address);
        let mut shared = self.0.lock().unwrap();
        shared.cells.insert(cell, Some(leader.clone()));
        for (of, switch) in &shared.following {
            if *of == cell && !switch.routes().leads() {
                switch.elsewhere(leader.clone());
            }
        }
    }

    fn lead(&self, cell: i16, node: &Node) {
        let world = self.clone();
        let service = Router::new().fallback(any(async move |peer, request: Request| {
            let headers = request.headers();
            let has_it = match find(request.uri(), headers) {
                Some(key @ (RoutingKey::Project(_) | RoutingKey::ApiKey(_))) => {
                    world.place(cell, &key) == Some(cell)
                }
                _ => true,
            };
            if has_it {
                let mut response = reflect(peer, request).await;
                response.headers_mut().insert("answered-by", cell.into());
                response
            } else {
                (StatusCode::UNAUTHORIZED, format!("unknown in {cell}")).into_response()
            }
        }));
        self.lead_with(cell, node, service);
    }

    /// A cell with a leader and another process.
    async fn cell(&self, cell: i16) -> [Node; 2] {
        let nodes = [self.node(cell), self.node(cell)];
        self.lead(cell, &nodes[0]);
        nodes
    }

    /// Two cells: project 10 and key 100 in cell 0, 11 and 101 in cell 1. All processes know of each other.
    async fn of_two() -> (Self, [Node; 4]) {
        let world = Self::default();
        world.put(0, &[project(10), key(100)]);
        world.put(1, &[project(11), key(101)]);
        let ([a, b], [c, d]) = (world.cell(0).await, world.cell(1).await);
        let nodes = [a, b, c, d];
        for node in &nodes {
            assert!(node.switch.routes().refreshed().await);
        }
        (world, nodes)
    }

    fn put(&self, cell: i16, keys: &[RoutingKey]) {
        let mut shared = self.0.lock().unwrap();
        let log = shared.logs.entry(cell).or_default();
        log.extend(keys.iter().map(|key| (*key, cell)));
    }

    /// Has something go from one cell to another, as both logs say from now on.
    fn moves(&self, key: RoutingKey, from: i16, to: i16) {
        let mut shared = self.0.lock().unwrap();
        shared.logs.entry(from).or_default().insert(key, to);
        shared.logs.entry(to).or_default().insert(key, to);
    }

    fn place(&self, cell: i16, key: &RoutingKey) -> Option<i16> {
        let shared = self.0.lock().unwrap();
        shared.logs.get(&cell)?.get(key).copied()
    }

    fn announcement(&self, cell: i16) -> Announcement {
        let shared = self.0.lock().unwrap();
        let log = shared.logs.get(&cell).into_iter().flatten();
        let (mut projects, mut keys) = (Vec::new(), Vec::new());
        for (key, _) in log.filter(|(_, place)| **place == cell) {
            match key {
                RoutingKey::Project(project) => projects.push(*project),
                RoutingKey::ApiKey(hash) => keys.push(*hash),
                RoutingKey::Cell(_) | RoutingKey::Lowest => {}
            }
        }
        Announcement::new(cell, projects, keys)
    }

    fn set_leader(&self, cell: i16, leader: Option<Origin>) {
        self.0.lock().unwrap().cells.insert(cell, leader);
    }

    fn lists(&self) -> usize {
        self.0.lock().unwrap().lists
    }
}

async fn ask_with_key(address: SocketAddr, number: u64) -> String {
    let request =
        format!("GET /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-key: {number}\r\n\r\n");
    ask(address, &request).await
}

async fn ask_for_project(address: SocketAddr, number: u128) -> String {
    get_from(address, &format!("/projects/{number}")).await
}

fn post_to_project(number: u128, body: &str) -> String {
    post(body).replace("/p ", &format!("/projects/{number} "))
}

fn is_from(answer: &str, cell: i16) -> bool {
    answer.starts_with("HTTP/1.1 200 ") && answer.contains(&format!("\r\nanswered-by: {cell}\r\n"))
}

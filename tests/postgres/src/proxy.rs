//! A TCP proxy on loopback that delays, holds, loses and cuts. Its switches work on the connections that are open as
//! on those to come. It runs in a thread of its own.

mod connection;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    task::JoinSet,
};

use crate::wait::until;

/// A proxy. Dropping it cuts its connections.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the switches say.
#[derive(Debug, Clone, Default)]
struct Switches {
    /// How long a client's bytes are on their way.
    delay_requests: Duration,
    /// How long the server's bytes are on their way.
    delay_answers: Duration,
    is_refusing: bool,
    is_blackhole: bool,
    /// A connection that saw another number when it began is cut.
    cuts: usize,
    /// The next bytes of a client that contain these are lost.
    lose_request: Option<Vec<u8>>,
    /// The next bytes of the server that contain these are lost.
    lose_answer: Option<Vec<u8>>,
    is_over: bool,
}

struct Shared {
    server: SocketAddr,
    switches: watch::Sender<Switches>,
    is_listening: AtomicBool,
    losses: AtomicUsize,
    connections: AtomicUsize,
}

impl Proxy {
    /// Starts a proxy to a server, which need not be there yet.
    #[must_use]
    pub fn to(server: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            server,
            switches: watch::Sender::default(),
            is_listening: AtomicBool::new(false),
            losses: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        });
        let (started, address) = std::sync::mpsc::channel();
        let inner = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                // Bound without listening: it keeps the port reserved.
                let keeper = socket(([127, 0, 0, 1], 0).into());
                let address = keeper.local_addr().unwrap();
                started.send(address).unwrap();
                serve(address, &inner).await;
            });
        });
        let proxy = Self {
            address: address.recv().expect("the proxy starts"),
            shared,
            thread: Some(thread),
        };
        proxy.await_listening(true);
        proxy
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets bytes arrive later, to the millisecond, by this much in each direction: both together are what a round
    /// trip takes longer. Bytes under way do not hold up those behind them.
    pub fn delay(&self, requests: Duration, answers: Duration) {
        self.switch(|switches| {
            switches.delay_requests = requests;
            switches.delay_answers = answers;
        });
    }

    /// Resets all connections that are open.
    pub fn cut(&self) {
        self.switch(|switches| switches.cuts += 1);
    }

    /// Whether new connections are refused, as by a port without a server. Those that are open stay so. Returns when it is
    /// true.
    pub fn refuse(&self, is_refusing: bool) {
        self.switch(|switches| switches.is_refusing = is_refusing);
        self.await_listening(!is_refusing);
    }

    /// Whether nothing passes, also no end of a connection, though all connections stay open and new ones are
    /// accepted. What was sent during it passes once this is over.
    pub fn blackhole(&self, is_blackhole: bool) {
        self.switch(|switches| switches.is_blackhole = is_blackhole);
    }

    /// Loses the next bytes of the server, on whichever connection they come, and resets that connection: what was
    /// asked is done, and the client cannot know.
    pub fn lose_next_answer(&self) {
        self.lose_next_answer_with(b"");
    }

    /// [`Proxy::lose_next_answer`] for the next bytes that contain these, such as `INSERT 0 ` where PostgreSQL confirms
    /// a commit.
    pub fn lose_next_answer_with(&self, bytes: &[u8]) {
        self.switch(|switches| switches.lose_answer = Some(bytes.to_vec()));
    }

    /// Loses the next bytes of a client, on whichever connection they come, and resets that connection: what was
    /// asked is never done, and the client cannot know.
    pub fn lose_next_request(&self) {
        self.lose_next_request_with(b"");
    }

    /// [`Proxy::lose_next_request`] for the next bytes that contain these.
    pub fn lose_next_request_with(&self, bytes: &[u8]) {
        self.switch(|switches| switches.lose_request = Some(bytes.to_vec()));
    }

    /// Number of requests and answers lost so far.
    #[must_use]
    pub fn losses(&self) -> usize {
        self.shared.losses.load(Ordering::SeqCst)
    }

    /// Number of connections accepted so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    fn switch(&self, change: impl FnOnce(&mut Switches)) {
        self.shared.switches.send_modify(change);
    }

    fn await_listening(&self, is_listening: bool) {
        until("the proxy listens or does not", || {
            let now = self.shared.is_listening.load(Ordering::SeqCst);
            (now == is_listening).then_some(())
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.switch(|switches| {
            switches.cuts += 1;
            switches.is_over = true;
        });
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A socket at this address, beside others that do not listen.
fn socket(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

/// Accepts connections, but for when they are refused, until the proxy is dropped.
async fn serve(address: SocketAddr, shared: &Arc<Shared>) {
    let mut switches = shared.switches.subscribe();
    let mut open = JoinSet::new();
    loop {
        let now = switches.wait_for(|now| !now.is_refusing || now.is_over);
        if now.await.is_ok_and(|now| now.is_over) {
            break;
        }
        let listener: TcpListener = socket(address).listen(1024).unwrap();
        shared.is_listening.store(true, Ordering::SeqCst);
        loop {
            tokio::select! {
                biased;
                _ = switches.wait_for(|now| now.is_refusing || now.is_over) => break,
                accepted = listener.accept() => {
                    let (client, _) = accepted.unwrap();
                    shared.connections.fetch_add(1, Ordering::SeqCst);
                    let cuts = shared.switches.borrow().cuts;
                    open.spawn(connection::forward(client, cuts, Arc::clone(shared)));
                }
            }
        }
        drop(listener);
        shared.is_listening.store(false, Ordering::SeqCst);
    }
    // Each ends by the cut that came with the end.
    open.join_all().await;
}

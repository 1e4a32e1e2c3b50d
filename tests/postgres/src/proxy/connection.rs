//! One connection through the proxy.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use super::{Shared, Switches};

/// Bytes read at once.
const PIECE_BYTES: usize = 65_536;
/// Pieces under way in one direction.
const PIECES: usize = 256;

/// Bytes and when they came; none for the end of the stream.
type Piece = (Instant, Vec<u8>);

/// What becomes of a connection.
enum End {
    /// Both sides have closed it.
    Closed,
    /// Both are sent a reset.
    Cut,
}

/// One way of a connection.
struct Direction {
    switches: watch::Receiver<Switches>,
    shared: Arc<Shared>,
    cuts: usize,
    delay: fn(&Switches) -> Duration,
    lose: fn(&mut Switches) -> &mut Option<Vec<u8>>,
}

/// Passes bytes on until both sides have closed the connection, one has reset it, or it is cut.
pub(super) async fn forward(mut client: TcpStream, cuts: usize, shared: Arc<Shared>) {
    let direction = |delay, lose| Direction {
        switches: shared.switches.subscribe(),
        shared: Arc::clone(&shared),
        cuts,
        delay,
        lose,
    };
    let requests = direction(|now| now.delay_requests, |now| &mut now.lose_request);
    let answers = direction(|now| now.delay_answers, |now| &mut now.lose_answer);
    let mut switches = shared.switches.subscribe();
    let mut server = None;
    let pass = async {
        requests.opens().await?;
        let server = server.insert(TcpStream::connect(shared.server).await?);
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::try_join!(
            requests.pass(from_client, to_server),
            answers.pass(from_server, to_client)
        )
    };
    let end = tokio::select! {
        biased;
        _ = switches.wait_for(|now| now.cuts != cuts) => End::Cut,
        passed = pass => if passed.is_ok() { End::Closed } else { End::Cut },
    };
    if matches!(end, End::Cut) {
        // Closed like this, a connection is reset.
        for stream in [Some(client), server].iter().flatten() {
            let _ = stream.set_zero_linger();
        }
    }
}

impl Direction {
    /// Waits until anything passes at all.
    async fn opens(&self) -> io::Result<()> {
        let mut switches = self.switches.clone();
        let open = switches.wait_for(|now| !now.is_blackhole || now.cuts != self.cuts);
        let now = open.await.map_err(|_| io::ErrorKind::ConnectionReset)?;
        if now.cuts == self.cuts {
            Ok(())
        } else {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    /// Passes on one way of the connection until its end. Reading goes on while bytes are under way.
    async fn pass(&self, mut from: ReadHalf<'_>, to: WriteHalf<'_>) -> io::Result<()> {
        let (read, pieces) = mpsc::channel(PIECES);
        let reading = async move {
            loop {
                let mut bytes = vec![0; PIECE_BYTES];
                let length = from.read(&mut bytes).await?;
                bytes.truncate(length);
                if read.send((Instant::now(), bytes)).await.is_err() || length == 0 {
                    return Ok(());
                }
            }
        };
        tokio::try_join!(reading, self.write(pieces, to)).map(|_| ())
    }

    async fn write(
        &self,
        mut pieces: mpsc::Receiver<Piece>,
        mut to: WriteHalf<'_>,
    ) -> io::Result<()> {
        while let Some((came, bytes)) = pieces.recv().await {
            self.arrival(came).await?;
            if self.loses(&bytes) {
                self.shared.losses.fetch_add(1, Ordering::SeqCst);
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if bytes.is_empty() {
                return to.shutdown().await;
            }
            to.write_all(&bytes).await?;
        }
        Ok(())
    }

    /// Waits until bytes that came then are to arrive, as the switches are set until then.
    async fn arrival(&self, came: Instant) -> io::Result<()> {
        let mut switches = self.switches.clone();
        loop {
            self.opens().await?;
            let due = came + (self.delay)(&switches.borrow_and_update());
            if due <= Instant::now() {
                return Ok(());
            }
            tokio::select! {
                () = awaited(due) => {}
                _ = switches.changed() => {}
            }
        }
    }

    /// Whether these bytes are to be lost; each rule counts once.
    fn loses(&self, bytes: &[u8]) -> bool {
        let mut is_lost = false;
        self.shared.switches.send_if_modified(|now| {
            let wanted = (self.lose)(now);
            is_lost = wanted
                .as_ref()
                .is_some_and(|wanted| contains(bytes, wanted));
            if is_lost {
                *wanted = None;
            }
            false
        });
        is_lost
    }
}

/// Waits until an instant, to some hundredths of a millisecond: timers of the runtime would wait for a whole one more.
async fn awaited(due: Instant) {
    let near = Duration::from_millis(3);
    if let Some(far) = due.checked_sub(near) {
        sleep_until(far).await;
    }
    let rest = due.saturating_duration_since(Instant::now());
    drop(tokio::task::spawn_blocking(move || std::thread::sleep(rest)).await);
}

/// Whether these bytes, of which there are some, contain those.
fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let mut places = 0..bytes.len();
    places.any(|place| bytes[place..].starts_with(wanted))
}

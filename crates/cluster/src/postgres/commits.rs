//! Groups on their way to the database: sent as they come, answered in their order.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesOrdered};
use parking_lot::{Condvar, Mutex};
use persistence::{
    Error,
    frames::{FramePosition, Group},
};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_postgres::{
    Statement,
    types::{ToSql, Type},
};

use super::{
    client::{Connection, DatabaseError, Server},
    segments::Segments,
};

/// zstd's fastest level that still halves a frame.
const LEVEL: i32 = 1;

/// A group as it is sent.
pub(super) struct Insert {
    behind: FramePosition,
    first: i64,
    last: u64,
    hashes: Vec<[u8; 32]>,
    bytes: Vec<Vec<u8>>,
}

impl Insert {
    pub(super) fn of(group: &Group) -> Result<Self, Error> {
        let compressed = group.frames.iter().map(|frame| {
            zstd::bulk::compress(&frame.bytes, LEVEL)
                .map_err(|error| Error::Io(format!("compressing a frame: {error}")))
        });
        Ok(Self {
            behind: group.behind,
            first: number(group.behind.lsn.saturating_add(1))?,
            last: group.last().lsn,
            hashes: group.frames.iter().map(|frame| frame.place.hash).collect(),
            bytes: compressed.collect::<Result<_, _>>()?,
        })
    }

    /// The segments of the frame before, of the first frame and of the last.
    fn span(&self, segments: Segments) -> Span {
        Span {
            behind: segments.of(self.behind.lsn),
            first: segments.of(self.behind.lsn.saturating_add(1)),
            last: segments.of(self.last),
        }
    }
}

/// A frame's number as a column holds it.
pub(super) fn number(lsn: u64) -> Result<i64, Error> {
    i64::try_from(lsn)
        .map_err(|_| Error::Damaged(format!("the log at frame {lsn}: no such number")))
}

/// The numbers of the segments that a statement names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Span {
    behind: u64,
    first: u64,
    last: u64,
}

/// The connection that frames are added on. Nothing is added by another connection of this process while it is open.
pub(super) struct Writer {
    connection: Arc<Connection>,
    segments: Segments,
    statements: HashMap<Span, Statement>,
}

impl Writer {
    pub(super) fn new(connection: Connection, segments: Segments) -> Self {
        Self {
            connection: Arc::new(connection),
            segments,
            statements: HashMap::new(),
        }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Adds a group and waits for the answer: whether all of it is durable.
    pub(super) async fn add(&mut self, insert: Insert) -> Result<bool, DatabaseError> {
        let statement = self.prepare(&insert).await?;
        add(&self.connection, self.segments, &statement, insert).await
    }

    /// One statement adds all of a group or nothing, and only right behind the frame that it was built on. It is
    /// a transaction of its own: none stays open, no row is locked or changed, and the primary key admits one row a frame.
    async fn prepare(&mut self, insert: &Insert) -> Result<Statement, DatabaseError> {
        let of = insert.span(self.segments);
        if let Some(statement) = self.statements.get(&of) {
            return Ok(statement.clone());
        }
        let table = |segment| self.segments.table(segment);
        let rows = "SELECT $1 + f.n - 1, f.hash, f.bytes \
                    FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS f(hash, bytes, n)";
        let behind = format!(
            "EXISTS (SELECT 1 FROM {} WHERE lsn = $1 - 1 AND hash = $4)",
            table(of.behind)
        );
        let text = match of.first == of.last {
            true => format!(
                "INSERT INTO {} (lsn, hash, bytes) {rows} WHERE {behind}",
                table(of.first)
            ),
            // Across a border: what goes into the second table goes there only if the rest went into the first.
            false => {
                let border = self.segments.first(of.last);
                format!(
                    "WITH before AS (INSERT INTO {} (lsn, hash, bytes) {rows} \
                     WHERE $1 + f.n - 1 < {border} AND {behind} RETURNING lsn) \
                     INSERT INTO {} (lsn, hash, bytes) {rows} \
                     WHERE $1 + f.n - 1 >= {border} AND EXISTS (SELECT 1 FROM before WHERE lsn = {border} - 1)",
                    table(of.first),
                    table(of.last)
                )
            }
        };
        let types = [
            Type::INT8,
            Type::BYTEA_ARRAY,
            Type::BYTEA_ARRAY,
            Type::BYTEA,
        ];
        let statement = self
            .connection
            .client()
            .prepare_typed(&text, &types)
            .await?;
        if self.statements.len() > 8 {
            self.statements.clear();
        }
        self.statements.insert(of, statement.clone());
        Ok(statement)
    }
}

/// Sends a group, and waits for its answer.
async fn add(
    connection: &Connection,
    segments: Segments,
    statement: &Statement,
    insert: Insert,
) -> Result<bool, DatabaseError> {
    let hashes: Vec<&[u8]> = insert.hashes.iter().map(<[u8; 32]>::as_slice).collect();
    let bytes: Vec<&[u8]> = insert.bytes.iter().map(Vec::as_slice).collect();
    let behind: &[u8] = &insert.behind.hash;
    let parameters: [&(dyn ToSql + Sync); 4] = [&insert.first, &hashes, &bytes, &behind];
    let added = connection.client().execute(statement, &parameters).await?;
    // Of a group across a border the rows in the second table are counted, which are there only with the others.
    let of = insert.span(segments);
    let before = match of.first == of.last {
        true => 0,
        false => segments
            .first(of.last)
            .saturating_sub(insert.behind.lsn.saturating_add(1)),
    };
    let expected = (insert.hashes.len() as u64).saturating_sub(before);
    // PostgreSQL acknowledges a commit whose replicas it did not wait for, and only warns: a warning means not durable.
    Ok(added == expected && !connection.was_warned())
}

/// The answers that have come, in the order of the groups.
#[derive(Default)]
struct Answers {
    state: Mutex<AnswerState>,
    arrived: Condvar,
}

#[derive(Default)]
struct AnswerState {
    /// Whether each group is durable.
    answers: VecDeque<bool>,
    /// No more will come.
    ended: bool,
}

/// Whom an answer wakes, once somebody waits.
#[derive(Default)]
pub(super) struct Wake(Mutex<Option<Arc<dyn Fn() + Send + Sync>>>);

impl Wake {
    pub(super) fn set(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        *self.0.lock() = Some(wake);
    }

    fn call(&self) {
        if let Some(wake) = &*self.0.lock() {
            wake();
        }
    }
}

/// Groups under way on one connection.
pub(super) struct Pipeline {
    groups: UnboundedSender<Insert>,
    answers: Arc<Answers>,
}

impl Pipeline {
    /// Takes a connection over; `wake` is called whenever an answer has come.
    pub(super) fn start(server: &Server, writer: Writer, wake: &Arc<Wake>) -> Self {
        let (groups, sent) = mpsc::unbounded_channel();
        let answers = Arc::new(Answers::default());
        let ended = End {
            answers: Arc::clone(&answers),
            wake: Arc::clone(wake),
        };
        server.spawn(run(writer, sent, ended));
        Self { groups, answers }
    }

    /// Sends a group behind those that were sent before.
    pub(super) fn send(&self, insert: Insert) {
        // A connection that has ended says so instead of an answer.
        let _ = self.groups.send(insert);
    }

    /// Whether [`Pipeline::next`] would not wait.
    pub(super) fn is_answered(&self) -> bool {
        let state = self.answers.state.lock();
        state.ended || !state.answers.is_empty()
    }

    /// Whether the oldest group is durable; `None`: unknown, or not in time.
    pub(super) fn next(&self, limit: Duration) -> Option<bool> {
        let mut state = self.answers.state.lock();
        let waits = |state: &mut AnswerState| state.answers.is_empty() && !state.ended;
        self.answers
            .arrived
            .wait_while_for(&mut state, waits, limit);
        state.answers.pop_front()
    }
}

/// However a connection ends, it is said.
struct End {
    answers: Arc<Answers>,
    wake: Arc<Wake>,
}

impl End {
    fn answer(&self, durable: bool) {
        self.answers.state.lock().answers.push_back(durable);
        self.answers.arrived.notify_one();
        self.wake.call();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.answers.state.lock().ended = true;
        self.answers.arrived.notify_one();
        self.wake.call();
    }
}

/// Sends groups as they come, and notes answers in their order, until one is not durable.
async fn run(mut writer: Writer, mut groups: UnboundedReceiver<Insert>, end: End) {
    let mut under_way = FuturesOrdered::new();
    loop {
        tokio::select! {
            biased;
            Some(answer) = under_way.next(), if !under_way.is_empty() => {
                let durable = matches!(answer, Ok(true));
                if let Err(failure) = answer {
                    let failure: DatabaseError = failure;
                    tracing::warn!(error = %failure, "A commit failed in the database");
                }
                end.answer(durable);
                if !durable {
                    break;
                }
            }
            group = groups.recv() => {
                let Some(insert) = group else { break };
                let statement = match writer.prepare(&insert).await {
                    Ok(statement) => statement,
                    Err(failure) => {
                        tracing::warn!(error = %failure, "A commit cannot be sent to the database");
                        break;
                    }
                };
                let (connection, segments) = (Arc::clone(&writer.connection), writer.segments);
                let mut sent =
                    Box::pin(async move { add(&connection, segments, &statement, insert).await });
                // Sent now, so that the order on the wire is the order here.
                match poll_fn(|context| Poll::Ready(sent.as_mut().poll(context))).await {
                    Poll::Ready(answer) => under_way.push_back(futures_util::future::Either::Left(std::future::ready(answer))),
                    Poll::Pending => under_way.push_back(futures_util::future::Either::Right(sent)),
                }
            }
        }
    }
    if !under_way.is_empty() {
        // What the server still waits for would keep the place that the next connection wants.
        writer.connection.cancel().await;
    }
}

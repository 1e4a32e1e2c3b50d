//! Connections to the database: where it is, how it is reached, and what it must promise.

use std::{
    future::{Future, poll_fn},
    iter,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use persistence::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, Handle, Runtime},
    task::JoinHandle,
    time::timeout,
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection as Driver, NoTls, Row,
    error::SqlState,
    types::{ToSql, Type},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a connection may take until it can be used.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two attempts to connect at the start.
const CONNECT_BACKOFF: Duration = Duration::from_millis(500);
/// How often the log says that the start still waits.
const LOG_INTERVAL: Duration = Duration::from_secs(5);
/// How long a statement that waits for no lock may take.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a cancel request may take.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Why the database did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum DatabaseError {
    /// It may do it later: it is not there, restarts, or has no connection to spare.
    #[error("{0}")]
    Unreachable(String),
    /// A table is not there.
    #[error("{0}")]
    NoTable(String),
    /// Somebody else made the same row, table or schema.
    #[error("{0}")]
    Exists(String),
    /// It will never do it.
    #[error("{0}")]
    Refused(String),
}

impl DatabaseError {
    fn of(error: &tokio_postgres::Error) -> Self {
        let Some(refusal) = error.as_db_error() else {
            return Self::Unreachable(with_cause(error));
        };
        let text = refusal.message().to_owned();
        match refusal.code() {
            &SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME => Self::NoTable(text),
            &SqlState::UNIQUE_VIOLATION
            | &SqlState::DUPLICATE_TABLE
            | &SqlState::DUPLICATE_SCHEMA
            | &SqlState::DUPLICATE_OBJECT => Self::Exists(text),
            &SqlState::INSUFFICIENT_PRIVILEGE
            | &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INVALID_CATALOG_NAME
            | &SqlState::UNDEFINED_COLUMN
            | &SqlState::DATATYPE_MISMATCH
            | &SqlState::SYNTAX_ERROR => Self::Refused(text),
            _ => Self::Unreachable(text),
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::of(&error)
    }
}

impl From<DatabaseError> for Error {
    fn from(failure: DatabaseError) -> Self {
        match failure {
            DatabaseError::Refused(why) => Self::Unusable(format!("the database refuses: {why}")),
            other => Self::Unreachable(other.to_string()),
        }
    }
}

/// Where the database is, and how it is reached.
#[derive(Clone)]
pub struct Server {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    handle: Handle,
    /// What the handle leads to; `None` only while it is dropped.
    runtime: Option<Arc<Runtime>>,
}

impl Server {
    /// Reads `postgres://user:password@host:port,host:port/database?sslmode=require&sslrootcert=FILE`. Of several hosts
    /// the one is taken that can be written to. Without `sslmode` a host that is not this machine must speak TLS;
    /// the server must show a certificate that the system's authorities, or those in `sslrootcert`, have signed.
    /// # Errors
    /// [`Error::Unusable`] when the URL or its certificates cannot be read.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let (config, tls) = super::url::read(url)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| Error::Io(format!("no thread for the database: {error}")))?;
        Ok(Self {
            config,
            tls,
            handle: runtime.handle().clone(),
            runtime: Some(Arc::new(runtime)),
        })
    }

    /// Waits until the database takes connections, at most for so long: machines that start together need not start in
    /// order. Blocks.
    /// # Errors
    /// [`Error::Unreachable`] when the time is up, [`Error::Unusable`] when it refuses this process for good.
    pub fn wait_until_there(&self, limit: Duration) -> Result<(), Error> {
        let started = Instant::now();
        let mut logged: Option<Instant> = None;
        loop {
            let failure = match self.wait(self.connect()) {
                Ok(_) => return Ok(()),
                Err(DatabaseError::Unreachable(why)) if started.elapsed() < limit => why,
                Err(failure) => return Err(failure.into()),
            };
            if logged.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
                tracing::warn!(
                    error = failure,
                    "The database cannot be reached: trying again, Ctrl-C ends"
                );
                logged = Some(Instant::now());
            }
            thread::sleep(CONNECT_BACKOFF);
        }
    }

    pub(super) fn wait<T>(&self, asked: impl Future<Output = T>) -> T {
        self.handle.block_on(asked)
    }

    /// Runs something beside.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(work)
    }

    /// Makes a connection on which an acknowledged commit is durable.
    pub(super) async fn connect(&self) -> Result<Connection, DatabaseError> {
        within(CONNECT_TIMEOUT, self.connect_and_check()).await
    }

    async fn connect_and_check(&self) -> Result<Connection, DatabaseError> {
        let warned = Arc::new(AtomicBool::new(false));
        let connected = match &self.tls {
            Some(tls) => {
                let (client, driver) = self.config.connect(tls.clone()).await?;
                Connection {
                    driver: self.handle.spawn(drive(driver, Arc::clone(&warned))),
                    client,
                    warned,
                    tls: Some(tls.clone()),
                }
            }
            None => {
                let (client, driver) = self.config.connect(NoTls).await?;
                Connection {
                    driver: self.handle.spawn(drive(driver, Arc::clone(&warned))),
                    client,
                    warned,
                    tls: None,
                }
            }
        };
        connected.check().await?;
        Ok(connected)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Waiting for a thread is not allowed wherever the last one may be dropped.
        if let Some(runtime) = self.runtime.take().and_then(Arc::into_inner) {
            runtime.shutdown_background();
        }
    }
}

/// One connection; closed when it is dropped.
pub(super) struct Connection {
    client: Client,
    driver: JoinHandle<()>,
    /// Whether the server has warned of anything: what it said next may not be durable.
    warned: Arc<AtomicBool>,
    tls: Option<MakeRustlsConnect>,
}

impl Connection {
    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    pub(super) const fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    pub(super) async fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        Ok(self.client.query_typed(sql, values).await?)
    }

    pub(super) async fn execute(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<u64, DatabaseError> {
        Ok(self.client.execute_typed(sql, values).await?)
    }

    /// Whether an answer that is there now may be one that the server warned of.
    pub(super) fn was_warned(&self) -> bool {
        self.warned.load(Ordering::Acquire)
    }

    /// Asks the server to cancel what is under way, so that it does not hold locks for a connection that was dropped.
    pub(super) async fn cancel(&self) {
        let token = self.client.cancel_token();
        let asked = async {
            match &self.tls {
                Some(tls) => token.cancel_query(tls.clone()).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        drop(timeout(CANCEL_TIMEOUT, asked).await);
    }

    /// Asks for what an acknowledged commit means here, and refuses a server that does not keep what it acknowledges.
    async fn check(&self) -> Result<(), DatabaseError> {
        let promise = "SET synchronous_commit = on; SET default_transaction_isolation = 'read committed'; \
                       SET client_min_messages = warning; SET statement_timeout = 0";
        self.client.batch_execute(promise).await?;
        let sql = "SELECT current_setting('fsync'), current_setting('synchronous_commit'), \
                   current_setting('full_page_writes')";
        let row = self.client.query_one(sql, &[]).await?;
        for (setting, index) in [
            ("fsync", 0),
            ("synchronous_commit", 1),
            ("full_page_writes", 2),
        ] {
            let value: &str = row.try_get(index)?;
            if value != "on" {
                return Err(DatabaseError::Refused(format!(
                    "{setting} is {value} on the server: what it acknowledges would not survive a power cut. Set it to on"
                )));
            }
        }
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A value in a statement, and its column's type.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) fn int2(value: &i16) -> Value<'_> {
    (value, Type::INT2)
}

pub(super) fn int4(value: &i32) -> Value<'_> {
    (value, Type::INT4)
}

pub(super) fn int8(value: &i64) -> Value<'_> {
    (value, Type::INT8)
}

pub(super) fn text(value: &(impl ToSql + Sync)) -> Value<'_> {
    (value, Type::TEXT)
}

pub(super) fn bytea(value: &(impl ToSql + Sync)) -> Value<'_> {
    (value, Type::BYTEA)
}

/// A connection that is kept from one question to the next, and reopened where it is gone.
pub(super) struct KeptConnection {
    server: Server,
    kept: Mutex<Option<Connection>>,
}

impl KeptConnection {
    pub(super) const fn new(server: Server) -> Self {
        Self {
            server,
            kept: Mutex::new(None),
        }
    }

    pub(super) fn ask<T>(
        &self,
        limit: Duration,
        ask: impl AsyncFnOnce(&mut Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        let mut kept = self.kept.lock();
        let answer = self.server.wait(async {
            let mut connection = match kept.take() {
                Some(connection) if !connection.client.is_closed() => connection,
                _ => self.server.connect().await?,
            };
            let answer = within(limit, ask(&mut connection)).await;
            // One that failed may still be busy.
            if answer.is_ok() {
                *kept = Some(connection);
            }
            answer
        });
        answer.map_err(Error::from)
    }
}

/// Waits for an answer, but not for ever.
pub(super) async fn within<T>(
    limit: Duration,
    asked: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, DatabaseError> {
    match timeout(limit, asked).await {
        Ok(answer) => answer,
        Err(_) => Err(DatabaseError::Unreachable(format!(
            "no answer within {} s",
            limit.as_secs()
        ))),
    }
}

/// Moves a connection's bytes. A warning is seen before the answer that it belongs to.
async fn drive<S, T>(mut driver: Driver<S, T>, warned: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|context| driver.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notice(notice))) => {
                if notice.severity() == "WARNING" || notice.parsed_severity().is_none() {
                    warned.store(true, Ordering::Release);
                    tracing::warn!(warning = notice.message(), "The database warns");
                }
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return,
        }
    }
}

/// An error in words, with its innermost cause: "error connecting to server" alone says nothing.
pub(super) fn with_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |error| (**error).source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

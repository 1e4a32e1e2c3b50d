//! The log: appends wait in a queue, one thread has them written as frames and answers, and opening checks that they
//! are consistent. Also the data directory, the database in it, and what the store's threads share.

pub(crate) mod answer;
pub(crate) mod commit;
pub(crate) mod database;
pub(crate) mod guard;
pub(crate) mod idle_threads;
pub(crate) mod lock;
pub(crate) mod pacing;
pub(crate) mod progress;
pub(crate) mod project_events;
pub(crate) mod queue;
pub(crate) mod recovery;
pub(crate) mod rounds;
pub(crate) mod shared;
pub(crate) mod space;
pub(crate) mod watermark;

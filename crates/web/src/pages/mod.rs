//! Pages for buyers, which run no script, load nothing, and hold no key: what only a key may see is not on them. And
//! the clients' packages.

pub mod packages;
pub mod result;
pub mod unsubscribe;

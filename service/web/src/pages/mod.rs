//! Pages for buyers. They run no script, load nothing, and hold no key: what only a key may see is
//! not on them.

pub mod result;

//! Pages for buyers, which run no script, load nothing, and hold no key: what only a key may see is not on them. And
//! what `scrip dev` serves beside them.

pub mod packages;
pub mod result;

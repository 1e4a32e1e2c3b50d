//! Text in HTML. Whatever is not ours to write goes through here.

use std::fmt::{self, Write as _};

/// Text that HTML shows as it is.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;"),
                '<' => f.write_str("&lt;"),
                '>' => f.write_str("&gt;"),
                '"' => f.write_str("&quot;"),
                '\'' => f.write_str("&#39;"),
                other => f.write_char(other),
            }?;
        }
        Ok(())
    }
}

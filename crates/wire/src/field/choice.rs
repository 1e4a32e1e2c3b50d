//! A text that is one of a few. Serde's own enums would take objects, too, and call a number
//! malformed JSON.

/// Declares how the values of a type are written.
#[macro_export]
macro_rules! choice {
    ($type:ty, $name:literal: $($text:literal => $value:expr),+ $(,)?) => {
        impl $crate::field::FromText for $type {
            const NAME: &'static str = $name;
            const WANTED: &'static str = concat!("one of:" $(, " ", $text)+);

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some($value),)+
                    _ => None,
                }
            }

            fn bounds(
                string: $crate::field::ObjectBuilder,
            ) -> $crate::field::ObjectBuilder {
                string.enum_values(Some([$($text),+]))
            }
        }
    };
}

//! Enums whose variants have names in files and on the command line.

/// Declares an enum together with the names of its variants. `ALL` and `name` come from the same
/// table, so neither can miss a variant.
macro_rules! named {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$of_variant])* $variant,)*
        }

        impl $type {
            /// All variants, in order of declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Name in files and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;

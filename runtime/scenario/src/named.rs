//! Enums whose variants have names that are used in files and on the command line.

/// Declares an enum and the names of its variants. `ALL` and `name` are derived from the same
/// table, so they contain every variant.
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

            /// Returns the name in files and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

/// Declares a [`named!`] enum for values in files. Files contain its variants in snake case.
macro_rules! file_value {
    ($(#[$attribute:meta])* pub enum $type:ident { $($variants:tt)* }) => {
        $crate::named::named! {
            $(#[$attribute])*
            #[derive(
                Debug,
                Clone,
                Copy,
                PartialEq,
                Eq,
                PartialOrd,
                Ord,
                Hash,
                serde::Serialize,
                serde::Deserialize,
                schemars::JsonSchema,
            )]
            #[serde(rename_all = "snake_case")]
            pub enum $type { $($variants)* }
        }
    };
}

pub(crate) use {file_value, named};

//! Text forms of the public enumerations: their names in the market or in the literature.

/// Implements `name`, `ALL`, `Display`, `FromStr` and, with the feature `serde`, serialisation by
/// name, for an enumeration without data.
///
/// A macro, since no function can implement a trait of the standard library for another type.
macro_rules! named {
    ($type:ident, $argument:literal, $first:ident = $first_name:literal
        $(, $variant:ident = $name:literal)* $(,)?) => {
        impl $type {
            /// Every value, in the order of the declaration.
            pub const ALL: &[Self] = &[Self::$first $(, Self::$variant)*];

            /// Returns the name that the value is displayed with and parsed from.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_name,
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            /// Reads a name in upper or lower case.
            fn from_str(text: &str) -> $crate::Result<Self> {
                let found = Self::ALL.iter().find(|value| value.name().eq_ignore_ascii_case(text));
                found.copied().ok_or_else(|| $crate::Error::Text {
                    argument: $argument,
                    value: text.to_owned(),
                    requirement: concat!("one of ", $first_name $(, ", ", $name)*),
                })
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use named;

//! Text forms of the public enumerations: their names in the market or in the literature.

/// Implements `name`, `aliases`, `ALL`, `Display`, `FromStr` and, with the feature `serde`,
/// serialisation by name, for an enumeration without data.
///
/// A name may be followed by other spellings: `Act360 = "ACT/360" | "A/360"`.
///
/// A macro, since no function can implement a trait of the standard library for another type.
macro_rules! named {
    ($type:ident, $argument:literal,
        $first:ident = $first_name:literal $(| $first_alias:literal)*
        $(, $variant:ident = $name:literal $(| $alias:literal)*)* $(,)?) => {
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

            /// Returns the other names that the value is parsed from.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self {
                    Self::$first => &[$($first_alias),*],
                    $(Self::$variant => &[$($alias),*],)*
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

            /// Reads a name or an alias in upper or lower case. Blanks, underscores, hyphens, slashes
            /// and parentheses do not matter: `Modified_Following` is `modified following`.
            fn from_str(text: &str) -> $crate::Result<Self> {
                let is_named = |value: &&Self| {
                    $crate::named::spells(text, value.name())
                        || value.aliases().iter().any(|alias| $crate::named::spells(text, alias))
                };
                Self::ALL.iter().find(is_named).copied().ok_or_else(|| $crate::Error::Text {
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

/// Returns whether a text spells a name, in upper or lower case and with any separators.
pub(crate) fn spells(text: &str, name: &str) -> bool {
    letters(text).eq(letters(name))
}

/// The bytes of a text in capitals, without what separates its words.
fn letters(text: &str) -> impl Iterator<Item = u8> + '_ {
    let is_letter = |byte: &u8| !b" _-/()".contains(byte);
    text.bytes().filter(is_letter).map(|byte| byte.to_ascii_uppercase())
}

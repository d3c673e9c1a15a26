//! The units of entropies.

use std::f64::consts::E;

use crate::named::named;

/// The unit of information that the base of a logarithm gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InformationUnit {
    /// The unit of the base 2.
    Bits,
    /// The unit of the base 3.
    Trits,
    /// The unit of the base e.
    Nats,
    /// The unit of the base 10.
    Hartleys,
    /// The unit of a base whose unit has no name.
    Unnamed,
}

named!(
    InformationUnit,
    "unit",
    Bits = "bits" | "shannons",
    Trits = "trits",
    Nats = "nats",
    Hartleys = "hartleys" | "bans" | "dits",
    Unnamed = "units of the base"
);

impl InformationUnit {
    /// Returns the unit of a base. The base e is the double nearest to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::entropy::InformationUnit;
    ///
    /// assert_eq!(InformationUnit::of_base(2.0).name(), "bits");
    /// assert_eq!(InformationUnit::of_base(std::f64::consts::E).name(), "nats");
    /// assert_eq!(InformationUnit::of_base(7.0), InformationUnit::Unnamed);
    /// ```
    ///
    /// # References
    ///
    /// ISO/IEC 80000-13 (2008), items 13-24 to 13-26, for shannon (bit), hartley and nat.
    #[must_use]
    pub fn of_base(base: f64) -> Self {
        let bases =
            [(2.0, Self::Bits), (3.0, Self::Trits), (E, Self::Nats), (10.0, Self::Hartleys)];
        let found = bases.into_iter().find(|(named, _)| *named == base);
        found.map_or(Self::Unnamed, |(_, unit)| unit)
    }
}

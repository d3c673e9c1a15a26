//! The usual conventions of three currencies.

use super::compounding::Compounding;
use super::conventions::Conventions;
use super::instrument::InstrumentKind;
use crate::named::named;
use crate::time::{BusinessDayConvention, Calendar, DayCount, Frequency};

/// A currency, for the usual conventions of its instruments.
///
/// All of them are adjusted by modified following, keep month ends and have simple interest.
///
/// | | EUR | USD | GBP |
/// |---|---|---|---|
/// | settlement in business days | 2 | 2 | 0 |
/// | deposit, FRA, future | ACT/360, TARGET | ACT/360, FEDWIRE | ACT/365, UK |
/// | OIS (€STR, SOFR, SONIA) | annual, ACT/360, TARGET | annual, ACT/360, SIFMA | annual, ACT/365, UK |
/// | fixed leg of a swap | annual, 30/360, TARGET | semiannual, 30/360, FEDWIRE | semiannual, ACT/365, UK |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Market {
    /// The market of the euro.
    Euro,
    /// The market of the United States dollar.
    Dollar,
    /// The market of the pound sterling.
    Sterling,
}

named!(Market, "market", Euro = "EUR", Dollar = "USD", Sterling = "GBP");

impl Market {
    /// Returns the usual conventions of an instrument.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{InstrumentKind, Market};
    /// use quant_core::prelude::*;
    ///
    /// let deposit = Market::Sterling.conventions(InstrumentKind::Deposit);
    /// assert_eq!((deposit.day_count, deposit.settlement_days), (DayCount::Act365, 0));
    /// ```
    #[must_use]
    pub fn conventions(self, kind: InstrumentKind) -> Conventions {
        let is_swap = kind == InstrumentKind::Swap;
        let (day_count, calendar, settlement_days) = match self {
            Self::Euro if is_swap => (DayCount::Thirty360BondBasis, Calendar::Target, 2),
            Self::Euro => (DayCount::Act360, Calendar::Target, 2),
            Self::Dollar if is_swap => (DayCount::Thirty360BondBasis, Calendar::Fedwire, 2),
            Self::Dollar if kind == InstrumentKind::OvernightIndexedSwap => {
                (DayCount::Act360, Calendar::Sifma, 2)
            }
            Self::Dollar => (DayCount::Act360, Calendar::Fedwire, 2),
            Self::Sterling => (DayCount::Act365, Calendar::UnitedKingdom, 0),
        };
        Conventions {
            day_count,
            compounding: Compounding::Simple,
            calendar,
            convention: BusinessDayConvention::ModifiedFollowing,
            settlement_days,
            end_of_month: true,
        }
    }

    /// Returns the usual frequency of the fixed payments of an instrument; annual where it has none.
    #[must_use]
    pub fn frequency(self, kind: InstrumentKind) -> Frequency {
        match self {
            Self::Dollar | Self::Sterling if kind == InstrumentKind::Swap => Frequency::Semiannual,
            _ => Frequency::Annual,
        }
    }
}

//! The types and functions of the usual tasks, for one `use` line.
//!
//! ```
//! use quant_core::prelude::*;
//!
//! let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
//! assert_eq!("3M".parse::<Tenor>()?.add_to(today)?.to_string(), "2027-02-20");
//! # Ok::<(), quant_core::Error>(())
//! ```

pub use crate::curves::{Curve, CurveType, Instrument, InstrumentKind, Interpolation};
pub use crate::economics::{Ces, CobbDouglas};
pub use crate::entropy::{shannon_entropy, transfer_entropy};
pub use crate::instruments::{
    CurrencyForward, Deposit, FixedBond, ForwardRateAgreement, InterestRateSwap, LegTerms,
    OvernightIndex, OvernightSwap, Quote, SwapCurves, SwapSide, TreasuryBill, YieldConvention,
};
pub use crate::numerical::{Function, Scheme, derivative};
pub use crate::portfolio::{
    BlackLitterman, Covariance, EfficientFrontier, MarketEquilibrium, MaxSharpe, MinVariance,
    ReturnSeries, RiskParity, TargetReturn, risk_contributions,
};
pub use crate::pricing::{
    BarrierOption, Caplet, CurrencyOption, Direction, EuropeanOption, ExchangeOption, Exercise,
    ForwardOption, Knock, NormalOption, OptionType, SpreadOption, Swaption, Tree,
};
pub use crate::regulatory::Capital;
pub use crate::time::{
    BusinessDayConvention, Calendar, DayCount, Frequency, NaiveDate, Schedule, Stub, Tenor,
};

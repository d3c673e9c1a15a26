//! Instruments with known cash flows, or with those of a curve: payments, prices, yields, risk.
//!
//! | module | instrument |
//! |---|---|
//! | [`bond_yield`] | a bond's price, yield, duration and convexity, and its value on a curve |
//! | [`currency_forward`] | a forward contract on a currency, by covered interest parity |
//! | [`deposit`] | a money-market deposit and its rate in other forms |
//! | [`fixed_bond`] | a bond with a fixed coupon: its cash flows and accrued interest |
//! | [`g_spread`](mod@g_spread) | the spread of a yield over a government yield |
//! | [`level_coupon_bond`] | a bond of so many years with equal coupons: price, sensitivities, asset-swap spread |
//! | [`forward_rate_agreement`] | a forward rate agreement, settled at the start of its period |
//! | [`interest_rate_swap`] | fixed against floating payments on one or two curves |
//! | [`leg`] | the coupons of one side of a swap |
//! | [`overnight_swap`] | fixed payments against a compounded overnight rate |
//! | [`rate_risk`] | the change of a value for a basis point, in parallel and by pillar |
//! | [`swap`] | the value of a swap, its par rate and its legs |
//! | [`treasury_bill`] | a United States Treasury bill: price, discount and yields |
//! | [`zero_coupon_bond`] | a bond of one payment: price and sensitivities |
//!
//! Rates are annual decimals (0.05 is 5 %), money is in the unit of the face value. Not modelled:
//! default, optional redemption, tax.

pub mod bond_yield;
mod coupon_period;
pub mod currency_forward;
pub mod deposit;
pub mod fixed_bond;
pub mod forward_rate_agreement;
pub mod g_spread;
pub mod interest_rate_swap;
pub mod leg;
pub mod level_coupon_bond;
pub mod overnight_swap;
pub mod rate_risk;
pub mod swap;
pub mod treasury_bill;
pub mod zero_coupon_bond;

pub use bond_yield::{BondMeasures, YieldConvention};
pub use currency_forward::{CurrencyForward, CurrencyForwardValue, CurrencyPair};
pub use deposit::{Deposit, DepositValue};
pub use fixed_bond::{CashFlow, CashFlowKind, CashFlows, FixedBond};
pub use forward_rate_agreement::{ForwardRateAgreement, ForwardRateAgreementValue};
pub use g_spread::{GSpread, explain_g_spread, g_spread};
pub use interest_rate_swap::InterestRateSwap;
pub use leg::{Coupon, LegTerms, RateSource, SwapCurves, SwapLeg};
pub use level_coupon_bond::{AssetSwapSpread, LevelCouponBond};
pub use overnight_swap::{OvernightIndex, OvernightSwap};
pub use rate_risk::{BucketRisk, CurveRole, RateRisk};
pub use swap::{SwapSide, SwapValue};
pub use treasury_bill::{BillValuation, Quote, TreasuryBill};
pub use zero_coupon_bond::{ZeroCouponBond, ZeroCouponValue};

//! Instruments with known cash flows: their payments, prices and yields.
//!
//! | module | instrument |
//! |---|---|
//! | [`bond_yield`] | a bond's price, yield, duration and convexity, and its value on a curve |
//! | [`fixed_bond`] | a bond with a fixed coupon: its cash flows and accrued interest |
//! | [`g_spread`](mod@g_spread) | the spread of a yield over a government yield |
//! | [`level_coupon_bond`] | a bond of so many years with equal coupons: price, sensitivities, asset-swap spread |
//! | [`treasury_bill`] | a United States Treasury bill: price, discount and yields |
//! | [`zero_coupon_bond`] | a bond of one payment: price and sensitivities |
//!
//! Rates are annual decimals (0.05 is 5 %), money is in the unit of the face value. Not modelled:
//! default, optional redemption, tax.

pub mod bond_yield;
pub mod fixed_bond;
pub mod g_spread;
pub mod level_coupon_bond;
pub mod treasury_bill;
pub mod zero_coupon_bond;

pub use bond_yield::{BondMeasures, YieldConvention};
pub use fixed_bond::{CashFlow, CashFlowKind, CashFlows, FixedBond};
pub use g_spread::{GSpread, g_spread};
pub use level_coupon_bond::{AssetSwapSpread, LevelCouponBond};
pub use treasury_bill::{BillValuation, Quote, TreasuryBill};
pub use zero_coupon_bond::{ZeroCouponBond, ZeroCouponValue};

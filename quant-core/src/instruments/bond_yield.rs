//! Prices and yields of a fixed bond, the sensitivities between them, and its value on a curve.
//!
//! The yield to maturity is the single rate that discounts all payments to the price. Time is in
//! coupon periods: periods after the running one count as whole, and the remaining part of the
//! running period is measured by the bond's day count. By market convention payments are discounted
//! from the end of their period, not from the adjusted business day.
//!
//! Prices are in the unit of the face value: a face value of 100 gives prices per 100. Not
//! modelled: days ex-dividend, call dates, simple interest in the last period of a bond quoted by
//! [`YieldConvention::Street`].

use chrono::NaiveDate;

use super::fixed_bond::FixedBond;
use crate::arithmetic::double_double::DoubleDouble;
use crate::{Error, Result, check, curves::Curve};
use claim::Claim;

pub use claim::{BondMeasures, YieldConvention};

pub(super) mod claim;
mod explanation;

impl FixedBond {
    /// Returns the interest earned before a settlement and paid after it.
    ///
    /// The amount is that of [`cash_flows`](Self::cash_flows): zero before the issue, on a coupon
    /// date and after the last payment.
    ///
    /// # Errors
    ///
    /// Those of [`cash_flows`](Self::cash_flows).
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let note = FixedBond {
    /// #     issue_date: date("1985-11-15"), maturity_date: date("1995-11-15"), coupon_rate: 0.095,
    /// #     face_value: 100.0, frequency: Frequency::Semiannual, day_count: DayCount::ActActIcma,
    /// #     end_of_month: false, stub: Stub::ShortFront, calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// // The 9½ % Treasury note of 31 CFR 356, appendix B, section II.D.
    /// assert!((note.accrued_interest(date("1985-11-29"))? - 0.367403).abs() < 5e-7);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn accrued_interest(&self, settlement_date: NaiveDate) -> Result<f64> {
        Ok(self.cash_flows(Some(settlement_date))?.accrued_interest.unwrap_or(0.0))
    }

    /// Returns the price with accrued interest at which the bond has a yield.
    ///
    /// ```text
    /// P = d(w) Σₖ Cₖ (1 + y/f)⁻ᵏ,   k = 0, 1, 2, …
    /// d(w) = (1 + y/f)⁻ʷ by the street,   d(w) = 1 / (1 + w y/f) by the Treasury
    /// w = (τ(start, end) − τ(start, settlement)) / τ(regular start, end)
    /// ```
    ///
    /// where y is the yield, f the number of coupons a year, Cₖ the payment at the end of the
    /// k-th period after the running one, and τ the bond's day count over the running period, the
    /// regular one being of full length. So w is 1 at a coupon date, and less than 1 at the issue
    /// of a bond with a short first period. A coupon that its calendar moved past the settlement
    /// counts in full; one paid before its period ended counts no more. A long stub counts as the two
    /// regular periods that it lies in. A last period that is short, or the part of one in a long
    /// stub, is discounted by compound interest over its part of a regular period.
    ///
    /// # Errors
    ///
    /// Those of [`cash_flows`](Self::cash_flows); [`Error::Date`] for a settlement before the
    /// issue, or where nothing is left to be paid or to be discounted; [`Error::Domain`] for a
    /// yield that is not above −100 % a coupon period; [`Error::Overflow`] for a price that is no
    /// double.
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// use quant_core::instruments::bond_yield::YieldConvention;
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let note = FixedBond {
    /// #     issue_date: date("1985-11-15"), maturity_date: date("1995-11-15"), coupon_rate: 0.095,
    /// #     face_value: 100.0, frequency: Frequency::Semiannual, day_count: DayCount::ActActIcma,
    /// #     end_of_month: false, stub: Stub::ShortFront, calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// // The 9½ % Treasury note of 31 CFR 356, appendix B, section II.D.
    /// let price = note.dirty_price(date("1985-11-29"), 0.0954, YieldConvention::Treasury)?;
    /// assert!((price - 100.098321).abs() < 5e-7);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// 31 CFR part 356, appendix B, section II; Mayle (1993), "Standard Securities Calculation
    /// Methods", volume 1.
    pub fn dirty_price(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        convention: YieldConvention,
    ) -> Result<f64> {
        let claim = Claim::of(self, settlement_date)?;
        let value = claim.value(yield_to_maturity, convention)?;
        claim.money(value.price + claim.overdue.into())
    }

    /// Returns the price without accrued interest at which the bond has a yield.
    ///
    /// The clean price is the [`dirty_price`](Self::dirty_price) less the
    /// [`accrued_interest`](Self::accrued_interest), rounded once.
    ///
    /// # Errors
    ///
    /// Those of [`dirty_price`](Self::dirty_price).
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// use quant_core::instruments::bond_yield::YieldConvention;
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let bond = FixedBond {
    /// #     issue_date: date("2007-11-15"), maturity_date: date("2017-11-15"), coupon_rate: 0.0575,
    /// #     face_value: 100.0, frequency: Frequency::Semiannual,
    /// #     day_count: DayCount::Thirty360BondBasis, end_of_month: false, stub: Stub::ShortFront,
    /// #     calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// // 5¾ % to November 2017, bought in February 2008 at 6.5 %: Microsoft's example of PRICE.
    /// let price = bond.clean_price(date("2008-02-15"), 0.065, YieldConvention::Street)?;
    /// assert!((price - 94.63436162).abs() < 5e-9);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn clean_price(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        convention: YieldConvention,
    ) -> Result<f64> {
        let claim = Claim::of(self, settlement_date)?;
        let value = claim.value(yield_to_maturity, convention)?;
        claim.money(value.price + DoubleDouble::sum(claim.overdue, -claim.accrued))
    }

    /// Returns the yield at which the bond has a clean price.
    ///
    /// This function is the inverse of [`clean_price`](Self::clean_price). Newton's method solves for
    /// the logarithm of the growth in a period, with the logarithm of the price as the function. The
    /// iterates stay between bounds, and the last steps are in twice the precision, so that the yield
    /// is exact to the last bits.
    ///
    /// # Errors
    ///
    /// Those of [`cash_flows`](Self::cash_flows); [`Error::Date`] for a settlement before the
    /// issue, or where nothing is left to be paid or to be discounted; [`Error::Domain`] for a
    /// price that is not finite or that no yield above −100 % a coupon period gives, as where the
    /// price with accrued interest is not positive; [`Error::Overflow`] for a yield that is no
    /// double; [`Error::Conflict`] where negative coupons leave the last payment without worth.
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// use quant_core::instruments::bond_yield::YieldConvention;
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let bond = FixedBond {
    /// #     issue_date: date("2007-11-15"), maturity_date: date("2016-11-15"), coupon_rate: 0.0575,
    /// #     face_value: 100.0, frequency: Frequency::Semiannual,
    /// #     day_count: DayCount::Thirty360BondBasis, end_of_month: false, stub: Stub::ShortFront,
    /// #     calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// // 5¾ % to November 2016, bought in February 2008: Microsoft's example of YIELD.
    /// let rate = bond.yield_to_maturity(date("2008-02-15"), 95.04287, YieldConvention::Street)?;
    /// assert!((rate - 0.065).abs() < 1e-7);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn yield_to_maturity(
        &self,
        settlement_date: NaiveDate,
        clean_price: f64,
        convention: YieldConvention,
    ) -> Result<f64> {
        let claim = Claim::of(self, settlement_date)?;
        check::finite("clean_price", clean_price)?;
        Ok(claim.solve(clean_price, convention)?.0)
    }

    /// Returns prices, durations, convexity and the value of a basis point at a yield.
    ///
    /// ```text
    /// modified duration = −P′/P,   Macaulay duration = −(1 + y/f) P′/P
    /// convexity = P″/P,   dv01 = −P′ / 10,000
    /// ```
    ///
    /// where P is the [`dirty_price`](Self::dirty_price) as a function of the yield y, and f the
    /// number of coupons a year.
    ///
    /// # Errors
    ///
    /// Those of [`dirty_price`](Self::dirty_price); [`Error::Overflow`] also where the price is
    /// zero.
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// use quant_core::instruments::bond_yield::YieldConvention;
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let bond = FixedBond {
    /// #     issue_date: date("2008-01-01"), maturity_date: date("2016-01-01"), coupon_rate: 0.08,
    /// #     face_value: 100.0, frequency: Frequency::Semiannual, day_count: DayCount::ActActIcma,
    /// #     end_of_month: false, stub: Stub::ShortFront, calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// // An 8 % bond to January 2016, bought in January 2008 at 9 %: Microsoft's example of MDURATION.
    /// let measures = bond.measures(date("2008-01-01"), 0.09, YieldConvention::Street)?;
    /// assert!((measures.modified_duration - 5.73567).abs() < 5e-6);
    /// assert!((measures.macaulay_duration - 5.99377).abs() < 5e-6);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Macaulay (1938), "Some Theoretical Problems Suggested by the Movements of Interest Rates,
    /// Bond Yields and Stock Prices in the United States since 1856"; Mayle (1994), "Standard
    /// Securities Calculation Methods", volume 2.
    pub fn measures(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        convention: YieldConvention,
    ) -> Result<BondMeasures> {
        Claim::of(self, settlement_date)?.measures(yield_to_maturity, convention)
    }

    /// Returns the money lost for a rise of the yield by a hundredth of a percent around each of some
    /// tenors.
    ///
    /// ```text
    /// KR₍ᵢ₎ = −10⁻⁴ Σₖ wᵢ(tₖ) ∂P/∂yₖ
    /// ```
    ///
    /// where ∂P/∂yₖ is the derivative of the price by the yield that discounts the k-th payment alone, tₖ
    /// the payment's time in years, and wᵢ the hat function of the tenor i: 1 there, 0 at the tenors
    /// beside it and linear between; 1 before the first tenor and after the last. The weights of a
    /// payment add up to 1, so that the results add up to the [`dv01`](BondMeasures::dv01).
    ///
    /// # Errors
    ///
    /// Those of [`dirty_price`](Self::dirty_price); [`Error::TooFew`] without
    /// tenors; [`Error::Element`] for a tenor that is not positive or not above the one before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// use quant_core::instruments::bond_yield::YieldConvention;
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let bond = FixedBond {
    /// #     issue_date: date("2026-01-15"), maturity_date: date("2036-01-15"), coupon_rate: 0.05,
    /// #     face_value: 100.0, frequency: Frequency::Semiannual, day_count: DayCount::ActActIcma,
    /// #     end_of_month: false, stub: Stub::ShortFront, calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// let (settlement, street) = (date("2026-01-15"), YieldConvention::Street);
    /// let parts = bond.key_rate_dv01s(settlement, 0.04, street, &[2.0, 5.0, 10.0])?;
    /// let whole = bond.measures(settlement, 0.04, street)?.dv01;
    /// assert!((parts.iter().sum::<f64>() - whole).abs() < 1e-15);
    /// assert!(parts[2] > 0.8 * whole);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Ho (1992), "Key Rate Durations: Measures of Interest Rate Risks", Journal of Fixed Income 2.
    pub fn key_rate_dv01s(
        &self,
        settlement_date: NaiveDate,
        yield_to_maturity: f64,
        convention: YieldConvention,
        key_tenors: &[f64],
    ) -> Result<Vec<f64>> {
        require_key_tenors(key_tenors)?;
        let claim = Claim::of(self, settlement_date)?;
        claim.key_rate_dv01s(yield_to_maturity, convention, key_tenors)
    }

    /// Returns the present value, at a curve's reference date, of the payments after that date.
    ///
    /// ```text
    /// V = Σ Cⱼ D(tⱼ)
    /// ```
    ///
    /// where Cⱼ is paid on the day that [`cash_flows`](Self::cash_flows) says, and D(tⱼ) is the
    /// curve's discount factor at the [tenor](Curve::tenor) of that day. Nothing left to be paid
    /// is worth 0. For a settlement after the reference date, divide by its discount factor.
    ///
    /// # Errors
    ///
    /// Those of [`cash_flows`](Self::cash_flows) and [`Curve::at`]; [`Error::Overflow`] for a
    /// value that is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// # use quant_core::{instruments::fixed_bond::FixedBond, time::{NaiveDate, Stub, calendar::*, day_count::*, schedule::*}};
    /// use quant_core::curves::{Curve, CurveType, Interpolation};
    /// # let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    /// # let bond = FixedBond {
    /// #     issue_date: date("2026-01-15"), maturity_date: date("2028-01-15"), coupon_rate: 0.05,
    /// #     face_value: 100.0, frequency: Frequency::Annual, day_count: DayCount::ActActIcma,
    /// #     end_of_month: false, stub: Stub::ShortFront, calendar: Calendar::None,
    /// #     convention: BusinessDayConvention::Unadjusted,
    /// # };
    /// // A two-year bond of 5 % a year on the day of its issue.
    /// let (tenors, factors) = ([1.0, 2.0], [0.96, 0.92]);
    /// let curve = Curve::from_values(
    ///     bond.issue_date, &tenors, &factors, CurveType::Discount, Interpolation::LogLinear,
    /// )?;
    /// assert!((bond.present_value(&curve)? - (5.0 * 0.96 + 105.0 * 0.92)).abs() < 1e-13);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn present_value(&self, curve: &Curve) -> Result<f64> {
        let flows = self.cash_flows(Some(curve.reference_date()))?.cashflows;
        let mut sum = DoubleDouble::ZERO;
        for flow in flows {
            let factor = curve.at(curve.tenor(flow.date)?)?.discount_factor;
            let value = check::result("face_value", flow.amount * factor)?;
            sum = sum + value.into();
        }
        check::result("face_value", sum.high)
    }
}

/// Refuses tenors that are not positive and increasing.
pub(super) fn require_key_tenors(tenors: &[f64]) -> Result<()> {
    if tenors.is_empty() {
        return Err(Error::TooFew { argument: "key_tenors", needed: 1, found: 0 });
    }
    let before = |index: usize| index.checked_sub(1).map_or(0.0, |before| tenors[before]);
    let is_sound = |index: usize| tenors[index].is_finite() && tenors[index] > before(index);
    match (0..tenors.len()).find(|&index| !is_sound(index)) {
        None => Ok(()),
        Some(index) => Err(Error::Element {
            argument: "key_tenors",
            index,
            value: tenors[index],
            requirement: "positive, finite and above the tenor before",
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::YieldConvention::{Street, Treasury};
    use super::*;
    use crate::{
        curves::{CurveType, Interpolation},
        time::{
            calendar::{BusinessDayConvention, Calendar},
            day_count::DayCount,
            schedule::Frequency,
            schedule_rule::Stub,
        },
    };

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn bond(issue: &str, maturity: &str, coupon_rate: f64) -> FixedBond {
        FixedBond {
            issue_date: date(issue),
            maturity_date: date(maturity),
            coupon_rate,
            face_value: 100.0,
            frequency: Frequency::Semiannual,
            day_count: DayCount::ActActIcma,
            end_of_month: false,
            stub: Stub::ShortFront,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
        }
    }

    #[test]
    fn published_examples_of_the_street_agree() {
        // Microsoft's examples of PRICE, YIELD, DURATION and MDURATION.
        let mut bond_basis = bond("2007-11-15", "2017-11-15", 0.0575);
        bond_basis.day_count = DayCount::Thirty360BondBasis;
        let price = bond_basis.clean_price(date("2008-02-15"), 0.065, Street).unwrap();
        assert!((price - 94.634_361_62).abs() < 5e-9, "{price}");
        let long = bond("2018-07-01", "2048-01-01", 0.08);
        let measures = long.measures(date("2018-07-01"), 0.09, Street).unwrap();
        assert!((measures.macaulay_duration - 10.919_145_3).abs() < 5e-8, "{measures:?}");
    }

    #[test]
    fn a_long_first_period_is_priced_as_the_treasury_does() {
        // 31 CFR 356, appendix B, section II.C: 8½ % of March 1990 to May 1995, at 8.53 %.
        let mut note = bond("1990-03-01", "1995-05-15", 0.085);
        note.stub = Stub::LongFront;
        let price = note.dirty_price(date("1990-03-01"), 0.0853, Treasury).unwrap();
        assert!((price - 99.805_118).abs() < 5e-7, "{price}");
        let coupon = note.cash_flows(None).unwrap().cashflows[0].amount;
        assert!((coupon - 4.25 * (75.0 / 181.0 + 1.0)).abs() < 1e-15);
        let rate = note.yield_to_maturity(date("1990-03-01"), price, Treasury).unwrap();
        assert!((rate - 0.0853).abs() < 1e-16, "{rate}");
    }

    #[test]
    fn a_last_period_that_is_not_regular_is_discounted_by_its_part() {
        let stub = |stub, day_count| FixedBond {
            stub,
            day_count,
            ..bond("2020-01-15", "2022-04-15", 0.06)
        };
        // By 30/360 the last three months are half a period.
        let by_months = DayCount::Thirty360BondBasis;
        let price = |end, last: f64| {
            let at = |periods: f64| libm::pow(1.02, -periods);
            let regular: f64 = (1..end).map(|period| 3.0 * at(f64::from(period))).sum();
            regular + (100.0 + last) * at(4.5)
        };
        for (kind, expected) in [(Stub::ShortBack, price(5, 1.5)), (Stub::LongBack, price(4, 4.5))]
        {
            let bond = stub(kind, by_months);
            let found = bond.dirty_price(bond.issue_date, 0.04, Street).unwrap();
            assert!((found - expected).abs() < 1e-12, "{kind}: {found} {expected}");
        }
    }

    #[test]
    fn a_bond_at_its_coupon_rate_is_worth_par_on_a_coupon_date() {
        for convention in [Street, Treasury] {
            for rate in [0.0, 0.05, 0.08125, -0.01] {
                let bond = bond("2020-03-15", "2050-03-15", rate);
                let price = bond.clean_price(date("2024-09-15"), rate, convention).unwrap();
                assert_eq!(price, 100.0, "{rate}");
                let found = bond.yield_to_maturity(date("2024-09-15"), 100.0, convention).unwrap();
                assert_eq!(found, rate, "{convention:?}");
            }
        }
    }

    #[test]
    fn the_conventions_agree_on_coupon_dates_only() {
        let bond = bond("2020-03-15", "2030-03-15", 0.05);
        let at = |settlement: &str| {
            [Street, Treasury].map(|by| bond.clean_price(date(settlement), 0.07, by).unwrap())
        };
        assert_eq!(at("2023-03-15")[0], at("2023-03-15")[1]);
        assert!(at("2023-06-15")[0] > at("2023-06-15")[1] + 0.01);
    }

    #[test]
    fn a_bond_without_coupons_has_the_yield_of_compound_interest() {
        let zero = bond("2020-01-15", "2030-01-15", 0.0);
        let measures = zero.measures(date("2021-01-15"), 0.04, Street).unwrap();
        assert!((measures.clean_price - 100.0 / libm::pow(1.02, 18.0)).abs() < 1e-13);
        assert_eq!(measures.macaulay_duration, 9.0);
        assert_eq!(measures.modified_duration, 9.0 / 1.02);
        assert!((measures.convexity - 9.0 * 9.5 / (1.02 * 1.02)).abs() < 1e-13);
        let rate = zero.yield_to_maturity(date("2021-01-15"), 50.0, Street).unwrap();
        assert!((rate - 2.0 * libm::expm1(core::f64::consts::LN_2 / 18.0)).abs() < 1e-17);
    }

    #[test]
    fn payments_on_their_way_count_in_full() {
        // 24 March 1991 is a Sunday: paid on Monday, or on the Friday before.
        let moved = |convention| FixedBond {
            calendar: Calendar::Weekends,
            convention,
            day_count: DayCount::Thirty360BondBasis,
            ..bond("1990-09-24", "1991-09-24", 0.05)
        };
        let late = moved(BusinessDayConvention::Following);
        let measures = late.measures(date("1991-03-24"), 0.05, Street).unwrap();
        assert_eq!((measures.dirty_price, measures.accrued_interest), (102.5, 2.5));
        assert_eq!(late.yield_to_maturity(date("1991-03-24"), 100.0, Street), Ok(0.05));
        let early = moved(BusinessDayConvention::Preceding);
        let measures = early.measures(date("1991-03-23"), 0.05, Street).unwrap();
        assert_eq!(measures.accrued_interest, 0.0);
        assert!((measures.dirty_price - 100.0 / libm::pow(1.025, 1.0 / 180.0)).abs() < 1e-13);
    }

    #[test]
    fn every_price_without_a_yield_is_refused_by_name() {
        let good = bond("2020-03-15", "2030-03-15", 0.05);
        let refused = |bond: &FixedBond, settlement: &str, price: f64| {
            let error = bond.yield_to_maturity(date(settlement), price, Street).unwrap_err();
            (error.code(), error.argument().unwrap())
        };
        assert_eq!(refused(&good, "2023-03-15", f64::NAN), ("domain", "clean_price"));
        assert_eq!(refused(&good, "2023-03-15", 0.0), ("domain", "clean_price"));
        assert_eq!(refused(&good, "2023-06-15", -2.0), ("domain", "clean_price"));
        assert_eq!(refused(&good, "2023-06-15", 1e306), ("domain", "clean_price"));
        let zero = FixedBond { coupon_rate: 0.0, ..good };
        assert_eq!(refused(&zero, "2030-03-14", 1e-9), ("overflow", "clean_price"));
        assert_eq!(refused(&good, "2020-03-14", 100.0), ("date", "settlement_date"));
        assert_eq!(refused(&good, "2030-03-15", 100.0), ("date", "settlement_date"));
        let ruinous = FixedBond { coupon_rate: -2.0, ..good };
        assert_eq!(refused(&ruinous, "2023-03-15", 100.0), ("conflict", "coupon_rate"));
        for rate in [-2.0, -3.0, f64::NAN, f64::INFINITY] {
            let error = good.dirty_price(date("2023-06-15"), rate, Street).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("domain", Some("yield_to_maturity")));
        }
        let error = good.dirty_price(date("2023-06-15"), -1.999_999_999, Street).unwrap();
        assert!(error > 1e100);
        // By 30/360 nothing is left from the 30th to the 31st.
        let last =
            FixedBond { day_count: DayCount::ThirtyE360, ..bond("2020-07-31", "2030-07-31", 0.05) };
        assert_eq!(refused(&last, "2030-07-30", 100.0), ("conflict", "settlement_date"));
        assert_eq!(last.dirty_price(date("2030-07-30"), 0.05, Street), Ok(102.5));
    }

    #[test]
    fn a_value_on_a_curve_is_that_of_each_payment() {
        let bond = bond("2020-03-15", "2030-03-15", 0.05);
        let today = date("2024-05-01");
        let flows = bond.cash_flows(Some(today)).unwrap().cashflows;
        let curve =
            Curve::from_values(today, &[40.0], &[0.03], CurveType::Zero, Interpolation::Linear);
        let curve = curve.unwrap();
        let worth = |flow: &crate::instruments::fixed_bond::CashFlow| {
            flow.amount * libm::exp(-0.03 * curve.tenor(flow.date).unwrap())
        };
        let expected: f64 = flows.iter().map(worth).sum();
        assert!((bond.present_value(&curve).unwrap() - expected).abs() < 1e-13);
        let late = Curve::from_values(
            date("2031-01-01"),
            &[1.0],
            &[0.0],
            CurveType::Zero,
            Interpolation::Linear,
        );
        assert_eq!(bond.present_value(&late.unwrap()), Ok(0.0));
    }

    fn any_bond() -> impl Strategy<Value = (FixedBond, NaiveDate)> {
        let frequencies = [1, 2, 3, 4, 6, 12];
        let kinds = [
            DayCount::Thirty360BondBasis,
            DayCount::ThirtyE360,
            DayCount::ThirtyE360Isda,
            DayCount::Act360,
            DayCount::Act365,
            DayCount::ActActIcma,
            DayCount::ActActIsda,
            DayCount::Bus252,
        ];
        let dates = (690_000_i32..760_000, 2_i32..12_000, 0.0..1.0);
        let stubs = [Stub::ShortFront, Stub::LongFront, Stub::ShortBack, Stub::LongBack];
        let kind = (0_usize..8, 0_usize..4);
        (dates, 0_usize..6, kind, 0.0..0.15, any::<bool>()).prop_map(
            move |((start, length, part), frequency, (kind, stub), coupon_rate, end_of_month)| {
                let day = |n| NaiveDate::from_num_days_from_ce_opt(n).unwrap();
                let bond = FixedBond {
                    issue_date: day(start),
                    maturity_date: day(start + length),
                    coupon_rate,
                    face_value: 1000.0,
                    frequency: Frequency::from_count(frequencies[frequency]).unwrap(),
                    day_count: kinds[kind],
                    end_of_month,
                    stub: stubs[stub],
                    calendar: Calendar::Target,
                    convention: BusinessDayConvention::Unadjusted,
                };
                (bond, day(start + (part * f64::from(length)) as i32))
            },
        )
    }

    proptest! {
        #[test]
        fn the_yield_of_a_price_gives_the_price((bond, settlement) in any_bond(), rate in -0.5_f64..0.5, simple: bool) {
            let convention = if simple { Treasury } else { Street };
            let measures = bond.measures(settlement, rate, convention).unwrap();
            prop_assume!(measures.modified_duration > 1e-4);
            let found = bond.yield_to_maturity(settlement, measures.clean_price, convention).unwrap();
            // The price was rounded, and so the yield is known to that and to its own last bits.
            let size = measures.clean_price.abs().max(measures.accrued_interest);
            let rounding = f64::EPSILON * size / measures.dirty_price / measures.modified_duration;
            prop_assert!((found - rate).abs() <= rounding + f64::EPSILON * rate.abs());
        }

        #[test]
        fn the_measures_are_the_derivatives_of_the_price((bond, settlement) in any_bond(), rate in -0.1_f64..0.3, simple: bool) {
            let convention = if simple { Treasury } else { Street };
            let at = |rate| bond.measures(settlement, rate, convention).unwrap();
            let (step, here) = (1e-5, at(rate));
            let (up, down) = (at(rate + step), at(rate - step));
            let slope = (up.dirty_price - down.dirty_price) / (2.0 * step);
            let bend = (down.modified_duration * down.dirty_price - up.modified_duration * up.dirty_price) / (2.0 * step);
            let years = 1.0 + here.modified_duration;
            prop_assert!((slope + here.modified_duration * here.dirty_price).abs() <= 1e-7 * here.dirty_price * years * years * years);
            prop_assert!((bend - here.convexity * here.dirty_price).abs() <= 1e-6 * here.dirty_price * years * years * years * years);
            prop_assert!((here.dv01 - 1e-4 * here.modified_duration * here.dirty_price).abs() <= 1e-15 * here.dirty_price * years);
        }

        #[test]
        fn key_rate_dv01s_add_up_to_the_dv01((bond, settlement) in any_bond(), rate in -0.1_f64..0.3, first in 0.1..3.0, simple: bool) {
            let convention = if simple { Treasury } else { Street };
            let whole = bond.measures(settlement, rate, convention).unwrap().dv01;
            for tenors in [vec![first], vec![first, first + 2.0, 9.0, 30.0]] {
                let parts = bond.key_rate_dv01s(settlement, rate, convention, &tenors).unwrap();
                let size: f64 = parts.iter().map(|part| part.abs()).sum();
                prop_assert!((parts.iter().sum::<f64>() - whole).abs() <= 1e-14 * size);
            }
        }

        #[test]
        fn nothing_makes_it_panic(
            (bond, settlement) in any_bond(), coupon_rate in any::<f64>(), face_value in any::<f64>(), figure in any::<f64>(), small in -3.0..3.0, simple: bool,
        ) {
            let convention = if simple { Treasury } else { Street };
            for bond in [FixedBond { coupon_rate, ..bond }, FixedBond { coupon_rate: small, face_value, ..bond }, bond] {
                for figure in [figure, small, 100.0 * small] {
                    for found in [bond.yield_to_maturity(settlement, figure, convention), bond.clean_price(settlement, figure, convention)] {
                        prop_assert!(found.is_err() || found.is_ok_and(f64::is_finite));
                    }
                    let _ = bond.measures(settlement, figure, convention);
                    let _ = bond.key_rate_dv01s(settlement, figure, convention, &[small, figure]);
                }
            }
        }
    }
}

//! Bonds described by their years to maturity: equal coupons, without dates.

use super::bond_yield::{BondMeasures, YieldConvention, claim::Claim};
use crate::arithmetic::double_double::DoubleDouble;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Result, check, curves::Curve, time::schedule::Frequency};

/// The longest time to maturity, in years.
const MAX_MATURITY: f64 = 1_000.0;

/// The distance from a whole number of periods, in periods, that counts as none: far more than the
/// roundings of a twelfth of a year, far less than a second.
const WHOLE: f64 = 1e-9;

/// The conventions of the payments.
const PERIODS: [&str; 2] = [
    "Coupons are equal and counted back from the maturity by parts of a year, without dates.",
    "The coupon of the running period is paid in full; what accrued of it is the seller's.",
];

/// A bond with equal coupons and a number of years to maturity.
///
/// Coupons are counted back from the maturity, a period apart. Where the years are no whole number of
/// periods, the first coupon is due after the rest: it is paid in full, and what accrued of it before
/// today is the seller's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LevelCouponBond {
    /// Interest a year as a part of the face value, 0.05 being 5 %; of any sign, at most 2 (200 %) in
    /// size.
    pub coupon_rate: f64,
    /// Years to maturity; positive, at most 1,000. Within 1e-9 of a whole number of coupon periods it is
    /// that number.
    pub maturity: f64,
    /// Amount redeemed at maturity; positive.
    pub face_value: f64,
    /// Number of coupons a year.
    pub frequency: Frequency,
}

/// The spread of a par asset swap of a bond. Spreads are annual decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AssetSwapSpread {
    /// Spread of the par asset swap: the notional of the floating leg is the face value.
    pub par_spread: f64,
    /// Spread of the market-value asset swap: the notional is the price with accrued interest.
    pub market_value_spread: f64,
    /// Value of the bond's payments on the curve.
    pub curve_value: f64,
    /// Present value of 1 a year on the dates of the floating leg.
    pub annuity: f64,
    /// Interest earned before today and paid after it.
    pub accrued_interest: f64,
}

impl LevelCouponBond {
    /// Returns prices, durations, convexity and the value of a basis point at a yield.
    ///
    /// ```text
    /// P = Σ (F c / f) (1 + y/f)^{−(w + k)} + F (1 + y/f)^{−f T},   k = 0, 1, …, n − 1
    /// ```
    ///
    /// where F is the face value, c the coupon rate, f the coupons a year, T the maturity, y the yield,
    /// n = ⌈f T⌉ and w = f T − (n − 1). The yield is that of [`YieldConvention::Street`], compounded f
    /// times a year. The measures are those of [`FixedBond::measures`](super::FixedBond::measures).
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for an argument outside its documented range or a yield that is not above
    /// −100 % a coupon period; [`Error::Overflow`](crate::Error::Overflow) for a result that is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{instruments::LevelCouponBond, time::Frequency};
    ///
    /// // An 8 % bond of eight years at 9 %: Microsoft's example of DURATION and MDURATION.
    /// let frequency = Frequency::Semiannual;
    /// let bond = LevelCouponBond { coupon_rate: 0.08, maturity: 8.0, face_value: 100.0, frequency };
    /// let found = bond.measures(0.09)?;
    /// assert!((found.macaulay_duration - 5.99377).abs() < 5e-6);
    /// assert!((found.modified_duration - 5.73567).abs() < 5e-6);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn measures(&self, yield_to_maturity: f64) -> Result<BondMeasures> {
        self.claim()?.measures(yield_to_maturity, YieldConvention::Street)
    }

    /// Explains [`measures`](Self::measures).
    ///
    /// # Errors
    ///
    /// The errors of [`measures`](Self::measures).
    pub fn explain_measures(&self, yield_to_maturity: f64) -> Result<Explanation> {
        self.measures(yield_to_maturity)?;
        let method = Method::new(
            "derivatives of the price by the yield",
            "Macaulay (1938), Some Theoretical Problems Suggested by the Movements of Interest Rates; \
             Mayle (1994), Standard Securities Calculation Methods, volume 2",
        );
        let error = ErrorStatement::rounding(
            "modified_duration",
            1e-13,
            "largest relative error against 50 digits, of durations, convexity and DV01 alike",
        );
        Ok(Explanation::new(method, error).with_conventions(PERIODS).with_conventions([
            "The yield is compounded once in each coupon period, the first one included.",
            "Sensitivities are those of the price with accrued interest, in closed form.",
            "The DV01 is the loss for a rise of the yield by a hundredth of a percent.",
        ]))
    }

    /// Returns the interest earned before today and paid after it.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for an argument outside its documented range;
    /// [`Error::Overflow`](crate::Error::Overflow) for a coupon that is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::{instruments::LevelCouponBond, time::Frequency};
    ///
    /// let frequency = Frequency::Semiannual;
    /// let bond = LevelCouponBond { coupon_rate: 0.06, maturity: 2.25, face_value: 100.0, frequency };
    /// assert_eq!(bond.accrued_interest()?, 1.5);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    pub fn accrued_interest(&self) -> Result<f64> {
        let claim = self.claim()?;
        claim.money(claim.accrued.into())
    }

    /// Returns the spreads of asset swaps of the bond at a price.
    ///
    /// ```text
    /// par spread = (V − P) / (F A),   A = Σ αⱼ D(tⱼ),   market-value spread = (V − P) / (P A)
    /// ```
    ///
    /// where V is the value of the bond's payments by the discount factors D of the curve, P the price
    /// with accrued interest, F the face value, and αⱼ the floating periods, counted back from the
    /// maturity with a short first one. In the par asset swap the investor buys the bond for F, pays its
    /// coupons and receives the floating rate and the spread on F.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for an argument outside its documented range, also a price that is not
    /// positive; those of [`Curve::at`]; [`Error::Overflow`](crate::Error::Overflow) for a result that is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::curves::{Curve, CurveType, Interpolation};
    /// use quant_core::{instruments::LevelCouponBond, time::{Frequency, NaiveDate}};
    ///
    /// let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a date");
    /// let (tenors, factors) = ([1.0, 2.0], [0.96, 0.92]);
    /// let (discount, shape) = (CurveType::Discount, Interpolation::LogLinear);
    /// let curve = Curve::from_values(today, &tenors, &factors, discount, shape)?;
    /// let frequency = Frequency::Annual;
    /// let bond = LevelCouponBond { coupon_rate: 0.05, maturity: 2.0, face_value: 100.0, frequency };
    /// let found = bond.asset_swap_spread(99.0, &curve, frequency)?;
    /// assert!((found.par_spread - (101.4 - 99.0) / (100.0 * 1.88)).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// O'Kane (2000), "Introduction to Asset Swaps", Lehman Brothers; O'Kane and Sen (2005), "Credit
    /// Spreads Explained".
    pub fn asset_swap_spread(
        &self,
        dirty_price: f64,
        curve: &Curve,
        floating_frequency: Frequency,
    ) -> Result<AssetSwapSpread> {
        let claim = self.claim()?;
        check::positive("dirty_price", dirty_price)?;
        let count = f64::from(self.frequency.count());
        let mut value = DoubleDouble::ZERO;
        for (periods, amount) in claim.payments() {
            let factor = curve.at(periods / count)?.discount_factor;
            value = value + DoubleDouble::product(amount, factor);
        }
        let curve_value = claim.money(value)?;
        let annuity = Self { frequency: floating_frequency, ..*self }.annuity(curve)?;
        let gain = (curve_value - dirty_price) / annuity;
        let result = |value: f64| check::result("dirty_price", value);
        Ok(AssetSwapSpread {
            par_spread: result(gain / self.face_value)?,
            market_value_spread: result(gain / dirty_price)?,
            curve_value,
            annuity: check::result("curve", annuity)?,
            accrued_interest: claim.money(claim.accrued.into())?,
        })
    }

    /// Explains [`asset_swap_spread`](Self::asset_swap_spread).
    ///
    /// # Errors
    ///
    /// The errors of [`asset_swap_spread`](Self::asset_swap_spread).
    pub fn explain_asset_swap_spread(
        &self,
        dirty_price: f64,
        curve: &Curve,
        floating_frequency: Frequency,
    ) -> Result<Explanation> {
        let found = self.asset_swap_spread(dirty_price, curve, floating_frequency)?;
        let prices = found.curve_value.abs() + dirty_price;
        let rounding = prices / self.face_value / found.annuity;
        let method = Method::new(
            "par asset swap spread",
            "O'Kane (2000), Introduction to Asset Swaps, Lehman Brothers",
        );
        let error = ErrorStatement::rounding_within(
            "asw_spread",
            32.0 * f64::EPSILON * (found.par_spread.abs() + rounding),
            "largest error against 50 digits in units of the spread, and of the prices over the \
             annuity",
        );
        Ok(Explanation::new(method, error)
            .with_conventions(PERIODS)
            .with_conventions(curve.conventions())
            .with_conventions([
                "One curve gives the value of the bond and of the floating leg.",
                "Floating periods are parts of a year, the first short where they do not divide the life.",
                "The notional of the floating leg is the face value.",
            ]))
    }

    /// Returns the present value of 1 a year, paid at the end of each coupon period.
    fn annuity(&self, curve: &Curve) -> Result<f64> {
        let (count, part) = self.periods()?;
        let frequency = f64::from(self.frequency.count());
        let mut sum = DoubleDouble::ZERO;
        for number in 0..count {
            let length = if number == 0 { part } else { 1.0 };
            let factor = curve.at((part + number as f64) / frequency)?.discount_factor;
            sum = sum + DoubleDouble::product(length, factor);
        }
        Ok((sum / frequency.into()).high)
    }

    fn claim(&self) -> Result<Claim> {
        check::annual_rate("coupon_rate", self.coupon_rate)?;
        check::positive("face_value", self.face_value)?;
        Claim::level(self.face_value, self.coupon_rate, self.frequency.count(), self.periods()?)
    }

    /// Returns the number of coupons, and the time to the first one in periods.
    fn periods(&self) -> Result<(usize, f64)> {
        let requirement = "a positive number of years, at most 1,000";
        let is_time = self.maturity > 0.0 && self.maturity <= MAX_MATURITY;
        check::require(is_time, "maturity", self.maturity, requirement)?;
        let periods = self.maturity * f64::from(self.frequency.count());
        let nearest = libm::rint(periods);
        let periods =
            if (periods - nearest).abs() <= WHOLE && nearest > 0.0 { nearest } else { periods };
        let count = libm::ceil(periods).max(1.0);
        Ok((count as usize, periods - (count - 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curves::{CurveType, Interpolation};
    use crate::time::NaiveDate;

    const BOND: LevelCouponBond = LevelCouponBond {
        coupon_rate: 0.06,
        maturity: 10.0,
        face_value: 100.0,
        frequency: Frequency::Semiannual,
    };

    fn flat(rate: f64) -> Curve {
        let today = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
        let shape = Interpolation::Linear;
        Curve::from_values(today, &[1.0], &[rate], CurveType::Zero, shape).unwrap()
    }

    #[test]
    fn a_bond_at_its_coupon_is_at_par() {
        let found = BOND.measures(0.06).unwrap();
        assert_eq!((found.clean_price, found.accrued_interest), (100.0, 0.0));
    }

    #[test]
    fn a_stub_is_in_front() {
        let found = LevelCouponBond { maturity: 2.25, ..BOND }.measures(0.0).unwrap();
        // Coupons at 0.25, 0.75, …, 2.25; half of the first is the seller's.
        assert_eq!(
            (found.dirty_price, found.clean_price, found.accrued_interest),
            (115.0, 113.5, 1.5)
        );
        let late = LevelCouponBond { maturity: 1e-3, ..BOND }.measures(0.0).unwrap();
        assert!((late.macaulay_duration - 1e-3).abs() < 1e-17, "{late:?}");
    }

    #[test]
    fn twelfths_of_a_year_are_whole_periods() {
        for months in 1..=360 {
            let maturity = f64::from(months) / 12.0;
            let bond = LevelCouponBond { maturity, frequency: Frequency::Monthly, ..BOND };
            assert_eq!(bond.periods().unwrap(), (months as usize, 1.0), "{months}");
        }
    }

    #[test]
    fn a_bond_at_its_value_on_the_curve_has_no_spread() {
        let value = BOND.asset_swap_spread(100.0, &flat(0.05), Frequency::Quarterly).unwrap();
        let found = BOND.asset_swap_spread(value.curve_value, &flat(0.05), Frequency::Quarterly);
        assert_eq!(found.unwrap().par_spread.to_bits(), 0);
        assert!(value.par_spread > 0.0 && value.par_spread == value.market_value_spread);
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let rows = [
            (LevelCouponBond { coupon_rate: 6.0, ..BOND }, "coupon_rate"),
            (LevelCouponBond { maturity: 0.0, ..BOND }, "maturity"),
            (LevelCouponBond { maturity: f64::NAN, ..BOND }, "maturity"),
            (LevelCouponBond { maturity: 1_001.0, ..BOND }, "maturity"),
            (LevelCouponBond { face_value: 0.0, ..BOND }, "face_value"),
        ];
        for (bond, argument) in rows {
            let error = bond.measures(0.05).unwrap_err();
            assert_eq!((error.code(), error.argument()), ("domain", Some(argument)), "{bond:?}");
        }
        assert_eq!(BOND.measures(-2.0).unwrap_err().argument(), Some("yield_to_maturity"));
        let error = BOND.asset_swap_spread(0.0, &flat(0.05), Frequency::Annual).unwrap_err();
        assert_eq!(error.argument(), Some("dirty_price"));
    }

    proptest! {
        #[test]
        fn a_floating_note_with_the_spread_is_worth_the_price(
            coupon_rate in -0.05..0.3_f64, maturity in 0.01..40.0_f64, price in 40.0..160.0_f64, rate in -0.02..0.1,
        ) {
            let bond = LevelCouponBond { coupon_rate, maturity, ..BOND };
            let found = bond.asset_swap_spread(price, &flat(rate), Frequency::Quarterly).unwrap();
            // The investor pays the price, swaps the coupons for the floating rate, and ends at par.
            let swapped = found.curve_value - 100.0 * found.par_spread * found.annuity;
            prop_assert!((swapped - price).abs() <= 1e-12 * (price + found.curve_value));
        }
    }
}

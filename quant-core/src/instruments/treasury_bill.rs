//! United States Treasury bills: price, discount and yields.
//!
//! Discounts and money-market yields count actual days over 360; the bond-equivalent yield is the
//! investment rate at which the Treasury publishes its auctions. No result is rounded.

use chrono::NaiveDate;

use crate::arithmetic::without_negative_zero;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{
    Error, Result, check,
    time::{add_months, days_between, require_year},
};

/// A Treasury bill with its settlement and its quote.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TreasuryBill {
    /// Settlement date, on which the price is paid.
    pub settlement_date: NaiveDate,
    /// Date on which the face value is paid; after the settlement, by at most 366 days.
    pub maturity_date: NaiveDate,
    /// Amount paid at maturity; positive.
    pub face_value: f64,
    /// The quote from which the price and the other yields follow.
    pub quote: Quote,
}

/// The quote of a Treasury bill, in one of three forms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Quote {
    /// By its discount a year as a part of the face value; of any sign, with a positive price.
    DiscountRate(f64),
    /// By its price; positive, and above the face value where the yield is negative.
    Price(f64),
    /// By its bond-equivalent yield; of any sign, with a positive price.
    BondEquivalentYield(f64),
}

/// The longest time to maturity, in days: the regulation has no formula for a second half-year coupon.
const MOST_DAYS: i64 = 366;

/// The price, the discount and the yields of a bill.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BillValuation {
    /// Price of the bill, in the unit of the face value.
    pub price: f64,
    /// The investment rate: the yield of a bond with two coupons a year.
    pub bond_equivalent_yield: f64,
    /// The discount as a part of the face value, over 360 days.
    pub discount_rate: f64,
    /// The discount as a part of the price, over 360 days.
    pub money_market_yield: f64,
    /// Number of days from settlement to maturity.
    pub days_to_maturity: i64,
    /// The face value less the price.
    pub discount_amount: f64,
    /// Days of the year in the bond-equivalent yield: 366 where a 29 February lies in the year that
    /// follows the settlement, else 365.
    pub days_in_year: u16,
    /// True if the bond-equivalent yield has a half-year coupon, which it has beyond half of that year.
    pub is_beyond_half_year: bool,
}

impl TreasuryBill {
    /// Returns the price, the discount and the yields.
    ///
    /// ```text
    /// P = F (1 − d r/360),   money-market yield = (F − P)/P · 360/r
    ///
    /// r ≤ y/2:   i = (F − P)/P · y/r
    /// r > y/2:   P [1 + (r − y/2)(i/y)] (1 + i/2) = F
    /// ```
    ///
    /// where F is the face value, P the price, d the discount rate, r the days to maturity, i the
    /// bond-equivalent yield and y the days of the year that follows the settlement: 366 where it
    /// holds a 29 February, else 365. No bill runs longer than a year, and beyond the formula does
    /// not apply. The quadratic is solved in the form
    ///
    /// ```text
    /// i = 2 x y / (r + √(r² + (2r − y) y x)),   x = (F − P)/P
    /// ```
    ///
    /// which loses nothing for small discounts, has a solution for every positive price and meets
    /// the simple yield at r = y/2.
    ///
    /// # Errors
    ///
    /// [`Error::Date`] for a maturity that is not after the settlement, or more than 366 days after, and
    /// for a date outside the years 1 to 9999, [`Error::Domain`] for a face value or a price that is
    /// not positive, a rate or a yield that leads to such a price, or one beyond ±2 (200 %), which is a
    /// percentage by mistake, [`Error::Overflow`] where a yield is no double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::instruments::treasury_bill::{Quote, TreasuryBill};
    /// use quant_core::time::NaiveDate;
    ///
    /// // The 52-week bill of 31 CFR 356, appendix B, section VI.D.2.
    /// let bill = TreasuryBill {
    ///     settlement_date: NaiveDate::from_ymd_opt(1990, 6, 7).unwrap(),
    ///     maturity_date: NaiveDate::from_ymd_opt(1991, 6, 6).unwrap(),
    ///     face_value: 100.0,
    ///     quote: Quote::Price(92.265),
    /// };
    /// let valuation = bill.value()?;
    /// assert!((valuation.bond_equivalent_yield - 0.082373244).abs() < 5e-9);
    /// assert!((valuation.discount_rate - 0.0765).abs() < 1e-15);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// 31 CFR part 356, appendix B, section VI.
    pub fn value(&self) -> Result<BillValuation> {
        let days_to_maturity = self.validated_days()?;
        let days = days_to_maturity as f64;
        let days_in_year = days_in_following_year(self.settlement_date);
        let year = f64::from(days_in_year);
        let (price, discount_amount, discount_rate) = self.price_and_discount(days, year)?;
        let gain = discount_amount / price;
        let bond_equivalent_yield = match self.quote {
            Quote::BondEquivalentYield(quoted) => without_negative_zero(quoted),
            _ => check::result("price", bond_equivalent_yield(gain, days, year))?,
        };
        Ok(BillValuation {
            price,
            bond_equivalent_yield,
            discount_rate,
            money_market_yield: check::result("price", gain * 360.0 / days)?,
            days_to_maturity,
            discount_amount,
            days_in_year,
            is_beyond_half_year: 2.0 * days > year,
        })
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        let value = self.value()?;
        let days = value.days_to_maturity as f64;
        let (quantity, size) = match self.quote {
            Quote::Price(price) => ("yield", self.face_value / price * (366.0 / days)),
            Quote::DiscountRate(_) | Quote::BondEquivalentYield(_) => ("price", self.face_value),
        };
        let error = ErrorStatement::rounding_within(
            quantity,
            8.0 * f64::EPSILON * size,
            "largest error against 50 digits, in units of the face value; of a yield also of the \
             price, over the part of a year",
        );
        let method =
            Method::new("Treasury bill formulas", "31 CFR part 356, appendix B, section VI");
        let coupon = if value.is_beyond_half_year {
            "The bond-equivalent yield pays interest after half a year, as a bond does."
        } else {
            "The bond-equivalent yield is simple, since no half-year ends before the maturity."
        };
        let year = value.days_in_year;
        Ok(Explanation::new(method, error)
            .with_conventions([
                "The discount rate and the money-market yield count actual days over 360.",
                coupon,
            ])
            .with_conventions([format!("The year after the settlement has {year} days.")]))
    }

    fn validated_days(&self) -> Result<i64> {
        require_year("settlement_date", self.settlement_date)?;
        require_year("maturity_date", self.maturity_date)?;
        if self.maturity_date <= self.settlement_date {
            return Err(Error::Date {
                argument: "maturity_date",
                value: self.maturity_date,
                requirement: "after the settlement date",
            });
        }
        let days = days_between(self.settlement_date, self.maturity_date);
        if days > MOST_DAYS {
            return Err(Error::Date {
                argument: "maturity_date",
                value: self.maturity_date,
                requirement: "at most 366 days after the settlement date, as for every bill",
            });
        }
        check::positive("face_value", self.face_value)?;
        Ok(days)
    }

    /// The price, the discount and its rate: the one that is quoted as it was given.
    fn price_and_discount(&self, days: f64, year: f64) -> Result<(f64, f64, f64)> {
        match self.quote {
            Quote::DiscountRate(rate) => {
                check::annual_rate("discount_rate", rate)?;
                let discount =
                    check::result("discount_rate", self.face_value * (rate * days / 360.0))?;
                let price = check::result("discount_rate", self.face_value - discount)?;
                check::require(price > 0.0, "discount_rate", rate, "a rate with a positive price")?;
                Ok((price, discount, without_negative_zero(rate)))
            }
            Quote::Price(price) => {
                check::positive("price", price)?;
                let discount = self.face_value - price;
                let rate = check::result("price", discount / self.face_value * 360.0 / days)?;
                Ok((price, discount, rate))
            }
            Quote::BondEquivalentYield(quoted) => {
                check::annual_rate("yield", quoted)?;
                let (gain, growth) = growth_at_yield(quoted, days, year);
                check::require(growth > 0.0, "yield", quoted, "a yield with a positive price")?;
                let price = check::result("yield", self.face_value / growth)?;
                let discount = check::result("yield", price * gain)?;
                let rate = check::result("yield", discount / self.face_value * 360.0 / days)?;
                Ok((price, discount, rate))
            }
        }
    }
}

/// The gain over the days to maturity at this investment rate, as a part of the price, and 1 plus the
/// gain; the latter is not positive where a half-year takes more than the price.
fn growth_at_yield(quoted: f64, days: f64, year: f64) -> (f64, f64) {
    if 2.0 * days <= year {
        let gain = quoted * days / year;
        return (gain, 1.0 + gain);
    }
    let (rest, half) = ((days - 0.5 * year) * (quoted / year), 0.5 * quoted);
    // A yield is no less than −2, so at most one of the factors is negative.
    (rest + half + rest * half, (1.0 + rest) * (1.0 + half))
}

/// The investment rate of a bill that gains this part of its price over its days to maturity.
fn bond_equivalent_yield(gain: f64, days: f64, year: f64) -> f64 {
    if 2.0 * days <= year {
        return gain * year / days;
    }
    // A gain is above −1, so the square is no less than (r − y)²; rounding may take it below 0.
    let slope = (2.0 * days - year) * year;
    let square = days * days + slope * gain;
    // Where the square overflows, its root does not, and the first term is negligible.
    let root = if square.is_finite() { square.max(0.0).sqrt() } else { slope.sqrt() * gain.sqrt() };
    2.0 * gain * year / (days + root)
}

/// 366 where a 29 February lies in the year after the date, else 365.
fn days_in_following_year(date: NaiveDate) -> u16 {
    // The year after 29 February ends on 28 February, and has 365 days.
    let anniversary = add_months(date, 12).expect("a year after the year 9999 can be represented");
    if days_between(date, anniversary) == 366 { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn bill(settlement: &str, maturity: &str, quote: Quote) -> TreasuryBill {
        TreasuryBill {
            settlement_date: date(settlement),
            maturity_date: date(maturity),
            face_value: 100.0,
            quote,
        }
    }

    #[test]
    fn the_year_after_the_settlement_decides_on_366() {
        // The first two are the regulation's own.
        #[rustfmt::skip]
        let rows = [
            ("2019-02-28", 365), ("2019-03-01", 366), ("2020-02-28", 366), ("2020-02-29", 365),
            ("2020-03-01", 365), ("1899-06-01", 365), ("1999-06-01", 366), ("9999-12-31", 366),
        ];
        for (settlement, days) in rows {
            assert_eq!(days_in_following_year(date(settlement)), days, "{settlement}");
        }
    }

    #[test]
    fn a_bill_of_366_days_is_valued() {
        let value = bill("2023-03-01", "2024-03-01", Quote::Price(95.0)).value().unwrap();
        assert_eq!(value.days_to_maturity, 366);
    }

    #[test]
    fn a_yield_has_the_price_of_the_regulation() {
        // 31 CFR 356, appendix B, section VI.D.2: the 52-week bill at 92.265 yields 8.2373244 %.
        let quote = Quote::BondEquivalentYield(0.082_373_244);
        let value = bill("1990-06-07", "1991-06-06", quote).value().unwrap();
        assert!((value.price - 92.265).abs() < 5e-7, "{value:?}");
        assert!((value.discount_rate - 0.0765).abs() < 5e-9, "{value:?}");
        assert_eq!(value.bond_equivalent_yield, 0.082_373_244);
    }

    #[test]
    fn a_bill_above_par_has_negative_yields_and_one_at_par_has_none() {
        let above = bill("2026-01-02", "2026-12-31", Quote::Price(100.5)).value().unwrap();
        assert!(above.bond_equivalent_yield < 0.0 && above.money_market_yield < 0.0);
        assert!(above.discount_amount < 0.0 && above.discount_rate < 0.0);
        for quote in [Quote::Price(100.0), Quote::DiscountRate(0.0), Quote::DiscountRate(-0.0)] {
            let par = bill("2026-01-02", "2026-12-31", quote).value().unwrap();
            let zeros = [
                par.bond_equivalent_yield,
                par.discount_rate,
                par.money_market_yield,
                par.discount_amount,
            ];
            assert!(zeros.iter().all(|zero| zero.to_bits() == 0), "{par:?}");
        }
    }

    #[test]
    fn what_has_no_positive_price_is_refused_by_name() {
        let value = |maturity, quote| bill("2026-01-02", maturity, quote).value().unwrap_err();
        #[rustfmt::skip]
        let rows = [
            (value("2026-01-02", Quote::Price(99.0)), "date", "maturity_date"),
            (value("2026-01-01", Quote::Price(99.0)), "date", "maturity_date"),
            (value("2027-01-04", Quote::Price(99.0)), "date", "maturity_date"),
            (value("2056-01-02", Quote::Price(99.0)), "date", "maturity_date"),
            (value("2026-12-28", Quote::DiscountRate(1.0)), "domain", "discount_rate"),
            (value("2026-01-05", Quote::DiscountRate(2.5)), "domain", "discount_rate"),
            (value("2026-12-28", Quote::BondEquivalentYield(4.25)), "domain", "yield"),
            (value("2026-12-28", Quote::BondEquivalentYield(-2.0)), "domain", "yield"),
            (value("2026-12-28", Quote::BondEquivalentYield(f64::NAN)), "domain", "yield"),
            (value("2026-12-28", Quote::DiscountRate(f64::NAN)), "domain", "discount_rate"),
            (value("2026-12-28", Quote::DiscountRate(-1e308)), "domain", "discount_rate"),
            (value("2026-12-28", Quote::Price(0.0)), "domain", "price"),
            (value("2026-12-28", Quote::Price(-1.0)), "domain", "price"),
            (value("2026-12-28", Quote::Price(5e-324)), "overflow", "price"),
        ];
        for (error, code, argument) in rows {
            assert_eq!((error.code(), error.argument()), (code, Some(argument)));
        }
    }

    proptest! {
        #[test]
        fn the_yield_solves_the_equation_of_the_regulation(days in 1_i64..=366, price in 1.0..300.0) {
            let settlement_date = date("2023-06-15");
            let maturity_date = crate::time::add_days(settlement_date, days).unwrap();
            let quote = Quote::Price(price);
            let bill = TreasuryBill { settlement_date, maturity_date, face_value: 100.0, quote };
            let i = bill.value().unwrap().bond_equivalent_yield;
            let (r, y) = (days as f64, 366.0);
            let growth = if r <= y / 2.0 {
                1.0 + i * r / y
            } else {
                (1.0 + (r - y / 2.0) * (i / y)) * (1.0 + i / 2.0)
            };
            prop_assert!((price * growth - 100.0).abs() <= 1e-11);
        }

        #[test]
        fn a_price_and_its_discount_rate_say_the_same(days in 1_i64..=366, rate in -0.2..0.9) {
            let settlement_date = date("2026-01-02");
            let maturity_date = crate::time::add_days(settlement_date, days).unwrap();
            let value = |quote| TreasuryBill { settlement_date, maturity_date, face_value: 1000.0, quote }.value();
            let by_rate = value(Quote::DiscountRate(rate)).unwrap();
            let by_price = value(Quote::Price(by_rate.price)).unwrap();
            let size = by_rate.bond_equivalent_yield.abs() + 1.0;
            prop_assert!((by_rate.bond_equivalent_yield - by_price.bond_equivalent_yield).abs() < 1e-12 * size);
            prop_assert!((by_price.discount_rate - rate).abs() < 1e-12);
            let yielded = by_rate.bond_equivalent_yield;
            if yielded.abs() <= 2.0 {
                let by_yield = value(Quote::BondEquivalentYield(yielded)).unwrap();
                prop_assert!((by_yield.price - by_rate.price).abs() < 1e-11);
                prop_assert!((by_yield.discount_amount - by_rate.discount_amount).abs() < 1e-11);
            }
        }
    }
}

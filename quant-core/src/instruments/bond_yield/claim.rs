//! The remaining payments of a bond: their value at a yield, and the yield of a price.

use chrono::NaiveDate;

use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::exponential::exp;
use crate::arithmetic::logarithm::ln;
use crate::arithmetic::scaled::Scaled;
use crate::instruments::coupon_period::CouponPeriod;
use crate::instruments::fixed_bond::FixedBond;
use crate::named::named;
use crate::{
    Error, Result, check,
    time::{day_count::DayCount, require_year, schedule::Period},
};

/// The discounting of a yield over the remaining part of the coupon period at settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum YieldConvention {
    /// By compound interest, as over whole periods; the convention of the street and of the
    /// International Capital Market Association.
    Street,
    /// By simple interest, as the United States Treasury prices its auctions.
    Treasury,
}

named!(YieldConvention, "convention", Street = "street", Treasury = "treasury");

/// The price of a bond at a yield, and the sensitivities of the price.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BondMeasures {
    /// Price without accrued interest, as it is quoted.
    pub clean_price: f64,
    /// Price with accrued interest, as it is paid.
    pub dirty_price: f64,
    /// Interest earned before the settlement and paid after it.
    pub accrued_interest: f64,
    /// Modified duration times the growth in a coupon period, `1 + y/f`, in years. By
    /// [`YieldConvention::Street`] it is the mean time of the payments, weighted by their values.
    pub macaulay_duration: f64,
    /// Part of the dirty price lost for a rise of the yield, per unit of yield: in years.
    pub modified_duration: f64,
    /// Second derivative of the dirty price in the yield, as a part of it: in years squared.
    pub convexity: f64,
    /// Money lost for a rise of the yield by a hundredth of a percent.
    pub dv01: f64,
}

/// The largest number of Newton steps for a yield; about six are needed.
const MAX_STEPS: u32 = 200;

/// The step of the logarithm of the growth below which the steps are made in twice the precision.
const COARSE: f64 = 1e-10;

/// The largest number of steps in twice the precision.
const MOST_FINE_STEPS: u32 = 4;

/// The logarithm of the growth in a period beyond which the yield leaves the range of a double.
const MOST_GROWTH: f64 = 700.0;

/// The yield below which a yield is zero: no price in doubles distinguishes the two.
const NO_YIELD: f64 = 1e-25;

/// The remaining payments, in units of a power of two near the face value.
pub(in crate::instruments) struct Claim {
    /// The payments due at the end of the running regular period and of every later one; 0 within a
    /// long stub, which is a regular period and a part of one.
    amounts: Vec<f64>,
    /// The remaining part of the running period, in units of a regular period.
    part: f64,
    /// The length of the last period after the running one, in units of a regular period.
    last_length: f64,
    /// The payment that was due before the settlement and is paid after it.
    pub(in crate::instruments) overdue: f64,
    pub(in crate::instruments) accrued: f64,
    pub(in crate::instruments) frequency: f64,
    /// The power of two in the unit of the amounts: amounts times 2 to this power are money.
    exponent: i32,
}

/// A value, its first two derivatives in the growth in a coupon period, and that growth.
pub(in crate::instruments) struct Value {
    pub(in crate::instruments) price: DoubleDouble,
    pub(in crate::instruments) slope: DoubleDouble,
    pub(in crate::instruments) curvature: DoubleDouble,
    pub(in crate::instruments) growth: DoubleDouble,
}

impl Claim {
    pub(in crate::instruments) fn of(bond: &FixedBond, settlement: NaiveDate) -> Result<Self> {
        let periods = bond.validated_periods(Some(settlement))?;
        require_year("settlement_date", settlement)?;
        let redemption = bond.redemption()?;
        let (_, exponent) = libm::frexp(bond.face_value);
        let mut claim = Self {
            amounts: Vec::with_capacity(periods.parts()),
            part: 0.0,
            last_length: 1.0,
            overdue: 0.0,
            accrued: 0.0,
            frequency: f64::from(bond.frequency.count()),
            exponent,
        };
        if settlement < bond.issue_date {
            return Err(refused(settlement, "on or after the issue date"));
        }
        if settlement >= bond.maturity_date || settlement >= redemption.date {
            return Err(refused(settlement, "before the maturity and the last payment"));
        }
        for period in periods {
            claim.add(bond, &period, settlement)?;
        }
        let last = claim.amounts.last_mut().expect("a period ends at the maturity");
        *last += redemption.amount;
        claim.rescale();
        Ok(claim)
    }

    /// The payments of a bond of `count` equal coupons, the first after `part` of a period.
    pub(in crate::instruments) fn level(
        face_value: f64,
        coupon_rate: f64,
        frequency: u32,
        (count, part): (usize, f64),
    ) -> Result<Self> {
        let (_, exponent) = libm::frexp(face_value);
        let frequency = f64::from(frequency);
        let coupon = check::result("face_value", face_value * coupon_rate / frequency)?;
        let mut amounts = vec![coupon; count];
        *amounts.last_mut().expect("a bond has a last payment") += face_value;
        let accrued = coupon * (1.0 - part);
        let last_length = 1.0;
        let mut claim =
            Self { amounts, part, last_length, overdue: 0.0, accrued, frequency, exponent };
        claim.rescale();
        Ok(claim)
    }

    /// Returns the payments with their times in coupon periods.
    pub(in crate::instruments) fn payments(&self) -> impl Iterator<Item = (f64, f64)> {
        let indices = 0..self.amounts.len();
        indices.map(|index| (self.part + self.number(index), self.amounts[index]))
    }

    /// Returns the time from the end of the running period to a payment, in regular periods.
    fn number(&self, index: usize) -> f64 {
        if self.is_last_step(index) { (index - 1) as f64 + self.last_length } else { index as f64 }
    }

    /// Returns whether the period before a payment is the last one and not the running one.
    fn is_last_step(&self, index: usize) -> bool {
        index > 0 && index + 1 == self.amounts.len()
    }

    /// Returns the discount factor of the last period, in units of the one before; `None` where the
    /// period is regular.
    fn last_factor(&self, growth: DoubleDouble) -> Option<DoubleDouble> {
        let factor = || exp(-(DoubleDouble::from(self.last_length) * ln(Scaled::from(growth))));
        (self.last_length != 1.0).then(|| factor().to_double_double())
    }

    /// Takes in the coupon of one period.
    fn add(
        &mut self,
        bond: &FixedBond,
        period: &CouponPeriod,
        settlement: NaiveDate,
    ) -> Result<()> {
        let coupon = bond.coupon(period)?;
        let is_unpaid = coupon.date > settlement;
        if period.start() < settlement && is_unpaid {
            self.accrued += bond.interest(period, settlement.min(period.end()))?.1;
        }
        if period.end() <= settlement {
            if is_unpaid {
                self.overdue += coupon.amount;
            }
            return Ok(());
        }
        for part in period.parts().filter(|part| part.end > settlement) {
            self.add_part(bond, &part, settlement);
            self.amounts.push(0.0);
        }
        if let Some(last) = self.amounts.last_mut().filter(|_| is_unpaid) {
            *last = coupon.amount;
        }
        Ok(())
    }

    /// Takes in the length of a period of the schedule.
    fn add_part(&mut self, bond: &FixedBond, period: &Period, settlement: NaiveDate) {
        let whole = || bond.year_fraction(period, period.regular_start, period.regular_end);
        if self.amounts.is_empty() {
            self.part = fraction_left(bond, period, settlement) / whole();
        } else if period.end != period.regular_end {
            self.last_length = bond.year_fraction(period, period.start, period.end) / whole();
        }
    }

    /// Brings all amounts near 1, so that their products keep all their bits.
    fn rescale(&mut self) {
        let exponent = self.exponent;
        for amount in self.amounts.iter_mut().chain([&mut self.overdue, &mut self.accrued]) {
            *amount = libm::scalbn(*amount, -exponent);
        }
    }

    /// Converts an amount of this claim to the unit of the face value.
    pub(in crate::instruments) fn money(&self, amount: DoubleDouble) -> Result<f64> {
        check::result("yield_to_maturity", libm::scalbn(amount.high, self.exponent))
    }

    /// Returns prices, durations, convexity and the value of a basis point at a yield.
    pub(in crate::instruments) fn measures(
        &self,
        rate: f64,
        convention: YieldConvention,
    ) -> Result<BondMeasures> {
        let Value { price, slope, curvature, growth } = self.value(rate, convention)?;
        let dirty = price + self.overdue.into();
        let frequency = DoubleDouble::from(self.frequency);
        let loss = -slope / frequency;
        let result = |value: DoubleDouble| check::result("yield_to_maturity", value.high);
        Ok(BondMeasures {
            clean_price: self.money(price + DoubleDouble::sum(self.overdue, -self.accrued))?,
            dirty_price: self.money(dirty)?,
            accrued_interest: self.money(self.accrued.into())?,
            macaulay_duration: result(loss / dirty * growth)?,
            modified_duration: result(loss / dirty)?,
            convexity: result(curvature / (frequency * frequency) / dirty)?,
            dv01: self.money(loss * 1e-4.into())?,
        })
    }

    /// Returns the money lost for a basis point at each of some tenors, which are in order.
    pub(in crate::instruments) fn key_rate_dv01s(
        &self,
        rate: f64,
        convention: YieldConvention,
        tenors: &[f64],
    ) -> Result<Vec<f64>> {
        let growth = self.value(rate, convention)?.growth;
        let part = DoubleDouble::from(self.part);
        let front = self.front(growth, convention);
        let (mut factor, last) = (front, self.last_factor(growth));
        let mut losses = vec![DoubleDouble::ZERO; tenors.len()];
        for (index, &amount) in self.amounts.iter().enumerate() {
            if index > 0 {
                let last = last.filter(|_| self.is_last_step(index));
                factor = last.map_or_else(|| factor / growth, |last| factor * last);
            }
            let number = DoubleDouble::from(self.number(index));
            let time = match convention {
                YieldConvention::Street => (part + number) / growth,
                YieldConvention::Treasury => number / growth + part * front,
            };
            let loss = factor * amount.into() * time * 1e-4.into() / self.frequency.into();
            for (tenor, share) in shares(((part + number) / self.frequency.into()).high, tenors) {
                losses[tenor] = losses[tenor] + loss * share.into();
            }
        }
        losses.into_iter().map(|loss| self.money(loss)).collect()
    }

    /// Returns the discount factor of the running part of a period.
    fn front(&self, growth: DoubleDouble, convention: YieldConvention) -> DoubleDouble {
        let part = DoubleDouble::from(self.part);
        match convention {
            YieldConvention::Street => exp(-(part * ln(Scaled::from(growth)))).to_double_double(),
            YieldConvention::Treasury => {
                DoubleDouble::ONE / (DoubleDouble::ONE + part * (growth - DoubleDouble::ONE))
            }
        }
    }

    /// Returns the growth factor of one coupon period at an annual yield.
    fn growth(&self, rate: f64) -> DoubleDouble {
        DoubleDouble::ONE + DoubleDouble::from(rate) / self.frequency.into()
    }

    /// Returns the value of the payments that are not overdue, at a yield that may be out of range.
    pub(in crate::instruments) fn value(
        &self,
        rate: f64,
        convention: YieldConvention,
    ) -> Result<Value> {
        let growth = if rate.is_finite() { self.growth(rate) } else { DoubleDouble::ZERO };
        let requirement = "a finite rate above -100 % a coupon period";
        check::require(growth.high > 0.0, "yield_to_maturity", rate, requirement)?;
        Ok(self.value_at(growth, convention))
    }

    fn value_at(&self, growth: DoubleDouble, convention: YieldConvention) -> Value {
        let [sum, first, second] = self.moments(growth);
        let part = DoubleDouble::from(self.part);
        let front = self.front(growth, convention);
        match convention {
            YieldConvention::Street => {
                let price = front * sum;
                let first_moment = front * (part * sum + first);
                let second_moment =
                    front * (part * (part * sum + first + first) + second) + first_moment;
                let curvature = second_moment / (growth * growth);
                Value { price, slope: -first_moment / growth, curvature, growth }
            }
            YieldConvention::Treasury => {
                let price = front * sum;
                let slope = -front * (first / growth + part * price);
                let curvature =
                    front * ((first + second) / (growth * growth) - part * (slope + slope));
                Value { price, slope, curvature, growth }
            }
        }
    }

    /// `Σ C vᵏ`, `Σ k C vᵏ` and `Σ k² C vᵏ`, where v is one over the growth.
    fn moments(&self, growth: DoubleDouble) -> [DoubleDouble; 3] {
        let v = DoubleDouble::ONE / growth;
        let last = self.last_factor(growth).unwrap_or(v);
        let mut factor = DoubleDouble::ONE;
        let mut moments = [DoubleDouble::ZERO; 3];
        for (index, &amount) in self.amounts.iter().enumerate() {
            if index > 0 {
                factor = factor * if self.is_last_step(index) { last } else { v };
            }
            let (mut term, number) = (factor * amount.into(), self.number(index));
            for moment in &mut moments {
                *moment = *moment + term;
                term = term * DoubleDouble::from(number);
            }
        }
        moments
    }

    /// The value and how fast it falls as the logarithm of the growth rises, in plain doubles.
    fn rough_value(&self, logarithm: f64, convention: YieldConvention) -> (f64, f64) {
        let v = libm::exp(-logarithm);
        // A last period that is not regular is added at the end.
        let is_regular = self.last_length == 1.0;
        let regular = self.amounts.len() - usize::from(!is_regular);
        let (mut sum, mut derivative) = (0.0, 0.0);
        for amount in self.amounts[..regular].iter().rev() {
            derivative = derivative * v + sum;
            sum = sum * v + amount;
        }
        let mut first = v * derivative;
        if !is_regular {
            let number = self.number(regular);
            let last = self.amounts[regular] * libm::exp(-number * logarithm);
            sum += last;
            first += number * last;
        }
        match convention {
            YieldConvention::Street => {
                let front = libm::exp(-self.part * logarithm);
                (front * sum, front * (self.part * sum + first))
            }
            YieldConvention::Treasury => {
                let front = 1.0 / (1.0 + self.part * libm::expm1(logarithm));
                (front * sum, front * (first + self.part * front * sum / v))
            }
        }
    }

    /// Returns the yield of a clean price, and the number of Newton steps.
    pub(in crate::instruments) fn solve(
        &self,
        clean_price: f64,
        convention: YieldConvention,
    ) -> Result<(f64, u32)> {
        let clean = libm::scalbn(clean_price, -self.exponent);
        let target = DoubleDouble::sum(clean, self.accrued) + (-self.overdue).into();
        let impossible = |requirement| {
            Err(Error::Domain { argument: "clean_price", value: clean_price, requirement })
        };
        if self.amounts.last().is_none_or(|&last| last <= 0.0) {
            let problem = "is so negative that the last payment has no worth";
            return Err(Error::Conflict { argument: "coupon_rate", problem });
        }
        if self.part == 0.0 && self.amounts.len() == 1 {
            let problem = "leaves no time to the last payment by the day count";
            return Err(Error::Conflict { argument: "settlement_date", problem });
        }
        if target.high <= 0.0 {
            return impossible("a price that is positive with accrued interest");
        }
        let (logarithm, coarse) = self.search(target.high, convention)?;
        // The search ends at its bounds where there is nothing between them.
        if logarithm >= MOST_GROWTH - 1.0 {
            return Err(Error::Overflow { argument: "clean_price" });
        }
        let near = self.frequency * libm::expm1(logarithm);
        let (rate, fine) = self.polish(near, target, convention);
        if self.growth(rate).high > 0.0 {
            Ok((check::result("clean_price", rate)?, coarse + fine))
        } else {
            impossible("a price that a yield above -100 % a coupon period gives")
        }
    }

    /// The logarithm of the growth at which the value is near a target, and the number of steps.
    ///
    /// The value falls as the growth rises, wherever it is positive, for negative coupons too:
    /// their sum with the redemption changes its sign once.
    fn search(&self, target: f64, convention: YieldConvention) -> Result<(f64, u32)> {
        let (mut below, mut above) = (-MOST_GROWTH, MOST_GROWTH);
        let mut logarithm = 0.0;
        for steps in 1..=MAX_STEPS {
            let (price, fall) = self.rough_value(logarithm, convention);
            // For a small growth the value leaves the range of a double.
            let is_too_high = price > target || !price.is_finite();
            if is_too_high {
                below = logarithm;
            } else {
                above = logarithm;
            }
            let step = libm::log(price / target) * price / fall;
            if step.abs() <= COARSE {
                return Ok((logarithm, steps));
            }
            let next = logarithm + step;
            let is_inside = next > below && next < above && price > 0.0 && price.is_finite();
            logarithm = if is_inside { next } else { 0.5 * (below + above) };
            if above - below <= COARSE {
                return Ok((logarithm, steps));
            }
        }
        let residual = above - below;
        Err(Error::NoConvergence { method: "yield", iterations: MAX_STEPS, residual })
    }

    /// The yield near another one at which the value is the target, and the number of steps.
    fn polish(&self, near: f64, target: DoubleDouble, convention: YieldConvention) -> (f64, u32) {
        let (mut rate, mut steps) = (near, 0);
        for _ in 0..MOST_FINE_STEPS {
            let growth = self.growth(rate);
            if growth.high <= 0.0 {
                break;
            }
            let Value { price, slope, .. } = self.value_at(growth, convention);
            let step = self.frequency * ((target - price) / slope).high;
            if !step.is_finite() {
                break;
            }
            rate += step;
            steps += 1;
            if step.abs() <= 0.25 * f64::EPSILON * rate.abs() {
                break;
            }
        }
        (if rate.abs() < NO_YIELD { 0.0 } else { rate }, steps)
    }
}

/// Returns the tenors next to a time with their weights, which add up to 1: linear between two tenors,
/// and 1 at the first or the last tenor for a time beyond.
fn shares(time: f64, tenors: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    let above = tenors.partition_point(|tenor| *tenor < time);
    let pair = if above == 0 || above == tenors.len() {
        [(above.min(tenors.len() - 1), 1.0), (0, 0.0)]
    } else {
        let (left, right) = (tenors[above - 1], tenors[above]);
        let share = (time - left) / (right - left);
        [(above - 1, 1.0 - share), (above, share)]
    };
    pair.into_iter().filter(|(_, share)| *share != 0.0)
}

/// Returns the part of a year from the settlement to the end of the running period.
///
/// The result is the accrual period of the coupon less the accrued part. With months of 30 days the
/// result differs from the time between the two dates, by whole days; otherwise the two are equal.
fn fraction_left(bond: &FixedBond, period: &Period, settlement: NaiveDate) -> f64 {
    match bond.day_count {
        DayCount::Thirty360BondBasis
        | DayCount::ThirtyE360
        | DayCount::ThirtyE360Isda
        | DayCount::Thirty360Us => {
            let all = bond.year_fraction(period, period.start, period.end);
            let gone = bond.year_fraction(period, period.start, settlement);
            libm::rint(360.0 * (all - gone)).max(0.0) / 360.0
        }
        _ => bond.year_fraction(period, settlement, period.end),
    }
}

fn refused(settlement: NaiveDate, requirement: &'static str) -> Error {
    Error::Date { argument: "settlement_date", value: settlement, requirement }
}

//! One-time codes of six digits, and what they confirm.

use chrono::TimeDelta;
use zeroize::Zeroizing;

use crate::entropy::Entropy;
use crate::identity::{AccountId, Email};
use crate::vault::Digest;
use crate::{Error, Result, StoreError, Timestamp};

/// How long a code is good for.
pub const VALIDITY: TimeDelta = TimeDelta::minutes(10);
/// How often a code may be tried, right or wrong.
pub const TRIES: u32 = 5;

const CODES: u32 = 1_000_000;

/// Six digits: a secret, wiped after use, without `Debug`.
#[derive(Clone)]
pub struct Code(Zeroizing<String>);

impl Code {
    /// Reads six ASCII digits.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `otp`.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(Zeroizing::new(text.to_owned())))
        } else {
            Err(Error::invalid("otp", "six digits", "code_format"))
        }
    }

    /// Draws a code; each of the million is as likely as any other.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        // Numbers past the last whole million would make the small codes likelier.
        let end = u32::MAX - u32::MAX % CODES;
        loop {
            let mut bytes = [0; 4];
            entropy.fill(&mut bytes);
            let number = u32::from_be_bytes(bytes);
            if number < end {
                return Self(Zeroizing::new(format!("{:06}", number % CODES)));
            }
        }
    }

    /// The secret itself, for the letter.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// What a code confirms; it confirms nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// That the e-mail address of a registration is its sender's.
    Registration,
    /// The second step of a login.
    Mfa,
    /// A new password in place of a forgotten one.
    Reset,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 3] = [Self::Registration, Self::Mfa, Self::Reset];

    /// The name under which it is stored and bound into digests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registration => "registration",
            Self::Mfa => "mfa",
            Self::Reset => "reset",
        }
    }
}

/// The number of one challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeId(pub u128);

/// A code that was sent, as it is stored.
#[derive(Clone, Copy)]
pub struct Challenge {
    /// The number of the challenge.
    pub id: ChallengeId,
    /// What its code confirms.
    pub purpose: Purpose,
    /// Whose it is. A registration anew is another account, so the code of one form confirms no
    /// other.
    pub account: AccountId,
    /// To whom it was sent.
    pub recipient: Digest<Email>,
    /// What a code is compared with.
    pub digest: Digest<Code>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Challenge {
    /// Whether the code still counts: from the moment it was made, for ten minutes. A clock that
    /// was put back to before the challenge does not count either.
    #[must_use]
    pub fn is_live(created_at: Timestamp, now: Timestamp) -> bool {
        created_at <= now && now < created_at + VALIDITY
    }
}

/// A try that was counted before anything was compared.
#[derive(Clone, Copy)]
pub struct Attempt {
    /// The challenge that is tried.
    pub challenge: ChallengeId,
    /// Whose it is.
    pub account: AccountId,
    /// What the code is compared with.
    pub digest: Digest<Code>,
}

/// Where challenges are tried.
pub trait CodeStore: Send + Sync {
    /// Counts a try of the one live challenge of this recipient and purpose, and answers it.
    ///
    /// `None`, where there is none, it is used or expired ([`Challenge::is_live`]), or its
    /// [`TRIES`] are used up. One that is found expired is put out of use for good, so that a
    /// clock going back does not revive it.
    fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        now: Timestamp,
    ) -> impl Future<Output = std::result::Result<Option<Attempt>, StoreError>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SeededEntropy;

    #[test]
    fn only_six_ascii_digits_are_a_code() {
        assert!(Code::parse("000000").is_ok());
        for text in ["", "12345", "1234567", "12345a", " 12345", "+12345", "１２３４５６", "12 456"]
        {
            assert_eq!(Code::parse(text).err().expect(text).field(), Some("otp"));
        }
    }

    #[test]
    fn codes_are_spread_evenly() {
        let entropy = SeededEntropy::new(9);
        let mut tens = [0u32; 10];
        for _ in 0..100_000 {
            let code = Code::generate(&entropy);
            tens[usize::from(code.expose().as_bytes()[0] - b'0')] += 1;
        }
        // 99.99 % of fair draws stay within four standard deviations, √(100,000 · 0.1 · 0.9) = 95.
        assert!(tens.iter().all(|count| count.abs_diff(10_000) < 4 * 95), "{tens:?}");
    }

    #[test]
    fn a_code_lives_ten_minutes_to_the_millisecond() {
        let made = Timestamp::UNIX_EPOCH;
        let at = |milliseconds| made + TimeDelta::milliseconds(milliseconds);
        for (now, live) in [
            (at(-1), false),
            (at(0), true),
            (at(599_999), true),
            (at(600_000), false),
            (at(600_001), false),
        ] {
            assert_eq!(Challenge::is_live(made, now), live, "{now}");
        }
    }
}

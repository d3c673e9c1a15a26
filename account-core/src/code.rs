//! One-time codes of six digits, and the purposes that the codes confirm.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::{Error, Result, Timestamp, random};

/// The validity of a code, from its creation.
pub const VALIDITY: TimeDelta = TimeDelta::minutes(10);
/// The number of attempts at a code, right or wrong.
pub const TRIES: u32 = 5;

const CODES: u32 = 1_000_000;

/// A code of six digits: a secret, wiped after use, without `Debug`.
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

    /// Generates a code; all of the million codes are equally likely.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        // Numbers above the largest multiple of a million would make small codes likelier.
        let end = u32::MAX - u32::MAX % CODES;
        loop {
            let mut bytes = [0; 4];
            rng.fill_bytes(&mut bytes);
            let number = u32::from_be_bytes(bytes);
            if number < end {
                return Self(Zeroizing::new(format!("{:06}", number % CODES)));
            }
        }
    }

    /// Returns the secret, for the e-mail.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The purpose of a code, which confirms nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The confirmation of the e-mail address of a registration.
    Registration,
    /// The second factor of a login.
    Mfa,
    /// The replacement of a forgotten password.
    Reset,
    /// The notice of a lock, which has no code. The e-mail of the notice counts in the quota as
    /// e-mails with codes do.
    Lock,
    /// Another e-mail address for an account.
    EmailChange,
    /// The notice of a requested change of address, which has no code. The notice has a quota of its
    /// own, so that requests of other accounts for the address do not use up this quota.
    EmailChangeNotice,
}

impl Purpose {
    /// All purposes of a code.
    pub const ALL: [Self; 6] = [
        Self::Registration,
        Self::Mfa,
        Self::Reset,
        Self::Lock,
        Self::EmailChange,
        Self::EmailChangeNotice,
    ];

    /// Returns the name under which the purpose is stored and bound into digests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registration => "registration",
            Self::Mfa => "mfa",
            Self::Reset => "reset",
            Self::Lock => "lock",
            Self::EmailChange => "email_change",
            Self::EmailChangeNotice => "email_change_notice",
        }
    }
}

/// The codes that confirm a change of address.
#[derive(Clone)]
pub struct EmailChangeCodes {
    /// The code that was sent to the new address.
    pub new: Code,
    /// The code that was sent to the present address, where a second factor is on.
    pub present: Option<Code>,
}

/// The number of one challenge, which is a sent code with its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeId(pub u128);

/// A code that was sent, as stored: with its digest alone.
#[derive(Clone, Copy)]
pub struct Challenge {
    /// The number of the challenge.
    pub id: ChallengeId,
    /// The action that the code confirms.
    pub purpose: Purpose,
    /// The account of the challenge. A second registration is another account, so the code of one
    /// form confirms no other. `None` for an address without an account: no code matches, but an
    /// attempt costs the same.
    pub account: Option<AccountId>,
    /// The digest of the recipient's address.
    pub recipient: Digest<Email>,
    /// The digest that a code is compared with.
    pub digest: Digest<Code>,
    /// The time at which the code was made.
    pub created_at: Timestamp,
}

impl Challenge {
    /// Returns whether the code is valid now: for ten minutes from its creation. A code from the future is
    /// not valid, which happens when a clock is set back.
    #[must_use]
    pub fn is_live(created_at: Timestamp, now: Timestamp) -> bool {
        created_at <= now && !Self::has_expired(created_at, now)
    }

    /// Returns whether the ten minutes of the code are over.
    #[must_use]
    pub fn has_expired(created_at: Timestamp, now: Timestamp) -> bool {
        created_at + VALIDITY <= now
    }
}

/// An attempt at a code, which is counted before the code is compared.
#[derive(Clone, Copy)]
pub struct Attempt {
    /// The challenge whose code the attempt guesses.
    pub challenge: ChallengeId,
    /// The account of the challenge; `None` for an address without an account, where no code
    /// matches.
    pub account: Option<AccountId>,
    /// The digest that the code is compared with.
    pub digest: Digest<Code>,
}

/// A token for a login whose second factor is pending. Attempts that send the token are counted
/// separately from those of unknown clients. The text is 43 characters of base64url, a secret
/// without `Debug`.
#[derive(Clone)]
pub struct MfaToken(Zeroizing<String>);

impl MfaToken {
    /// Reads a token: exactly 43 characters that decode to 32 bytes; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        random::is_secret_text(text).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Makes the token of the challenge's number and its proof.
    pub(crate) fn new(bytes: &[u8; 32]) -> Self {
        Self(Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns the challenge's number and its proof.
    pub(crate) fn bytes(&self) -> [u8; 32] {
        // The buffer has one byte more than is needed, because the decoder assumes the longest text
        // of this length.
        let mut bytes = [0; 33];
        URL_SAFE_NO_PAD
            .decode_slice(self.0.as_bytes(), &mut bytes)
            .expect("a token is read or made as 32 bytes in base64url");
        let [bytes @ .., _] = bytes;
        bytes
    }

    /// Returns the secret, for the one answer that contains the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::seeded_rng;

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
        let mut rng = seeded_rng(9);
        let mut tens = [0u32; 10];
        for _ in 0..100_000 {
            let code = Code::generate(&mut rng);
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

//! Random numbers by position: Philox4x64-10.
//!
//! The n-th block of four numbers is a function of the seed and of n, so that the numbers of a seed are the
//! same everywhere and in any order of evaluation. Salmon, Moraes, Dror and Shaw (2011), "Parallel Random
//! Numbers: As Easy as 1, 2, 3"; numpy's `Philox` has the same numbers.

const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const KEY_STEPS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
const ROUNDS: u32 = 10;

/// Returns the block of four random numbers at a position.
fn block(seed: u64, position: u64) -> [u64; 4] {
    let (mut counter, mut key) = ([position, 0, 0, 0], [seed, 0]);
    for _ in 0..ROUNDS {
        let (high0, low0) = product(MULTIPLIERS[0], counter[0]);
        let (high1, low1) = product(MULTIPLIERS[1], counter[2]);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    counter
}

/// Returns the high and the low half of a product.
fn product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

/// Returns uniform random numbers above 0 and below 1: odd multiples of 2⁻⁵³.
pub(crate) fn uniforms(seed: u64) -> impl Iterator<Item = f64> {
    // numpy counts up before the first block.
    let numbers = (1..).flat_map(move |position| block(seed, position));
    numbers.map(|number| ((number >> 12) as f64 + 0.5) * 2.0_f64.powi(-52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_numpy() {
        // numpy 2.4: numpy.random.Philox(key=KEY).random_raw(4).
        assert_eq!(block(0, 1), NUMPY_KEY_0);
        assert_eq!(block(42, 1), NUMPY_KEY_42);
    }

    #[test]
    fn uniforms_lie_inside_and_have_the_moments_of_their_distribution() {
        let numbers: Vec<f64> = uniforms(7).take(100_000).collect();
        assert!(numbers.iter().all(|&number| number > 0.0 && number < 1.0));
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let square = numbers.iter().map(|number| number * number).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 4e-3 && (square - 1.0 / 3.0).abs() < 4e-3, "{mean} {square}");
    }

    const NUMPY_KEY_0: [u64; 4] = [
        0x02f4_ba64_08e4_d89b,
        0x3dd6_2b0b_9ca8_c5b2,
        0x1c86_67a5_5d90_2e79,
        0x907d_7a05_2fd5_b4dc,
    ];
    const NUMPY_KEY_42: [u64; 4] = [
        0xd1f8_817d_4d62_880e,
        0x3072_66b6_5cc8_797e,
        0xde1f_04e7_f084_ed03,
        0x6503_4a8e_78cd_1e59,
    ];
}

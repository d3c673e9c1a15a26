//! The tie between the table of golden bits and the numeric version.
//!
//! `golden_bits_version.txt` has the numeric version and a digest of each line of the table. The
//! digests of one version are only added to: a line that changes or goes needs a raised version,
//! and a raised version needs a line that has changed or gone.

use std::collections::BTreeSet;

use quant_core::NUMERIC_VERSION;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden_bits_version.txt");
const TITLE: &str = "numeric version ";
const ADVICE: &str =
    "to accept: GOLDEN_BITS=write cargo test -p quant-core --test golden_bits every_machine";

/// The numeric version of a table, and the digests of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    version: u32,
    digests: BTreeSet<String>,
}

impl Record {
    fn of(version: u32, table: &str) -> Self {
        Self { version, digests: table.lines().map(digest).collect() }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let version = lines.next()?.strip_prefix(TITLE)?.parse().ok()?;
        Some(Self { version, digests: lines.map(str::to_owned).collect() })
    }

    fn text(&self) -> String {
        let digests: Vec<&str> = self.digests.iter().map(String::as_str).collect();
        format!("{TITLE}{}\n{}\n", self.version, digests.join("\n"))
    }

    /// Returns the record that follows this one for a table under a version.
    fn followed_by(&self, version: u32, table: &str) -> Result<Self, String> {
        let next = Self::of(version, table);
        let lost = self.digests.difference(&next.digests).count();
        match (lost, version) {
            (0, version) if version == self.version => Ok(next),
            (0, _) => Err("no bit has changed, so the numeric version stays".to_owned()),
            (_, version) if version == self.version + 1 => Ok(next),
            _ => Err(format!(
                "{lost} lines have changed or gone: NUMERIC_VERSION must be {}",
                self.version + 1
            )),
        }
    }
}

/// Returns the FNV-1a digest of a line, in 64 bits.
fn digest(line: &str) -> String {
    let mix = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", line.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

fn recorded() -> Record {
    let text = std::fs::read_to_string(RECORD).expect("the record can be read");
    Record::parse(&text).expect("a record begins with its version")
}

/// Records a new table.
///
/// # Panics
///
/// Panics where the numeric version does not fit the changes of the table.
pub(crate) fn write(table: &str) {
    let next = recorded().followed_by(NUMERIC_VERSION, table).unwrap_or_else(|why| panic!("{why}"));
    std::fs::write(RECORD, next.text()).expect("the record can be written");
}

/// Checks the committed table against its record.
///
/// # Panics
///
/// Panics where a line is not recorded, or a recorded line is not in the table.
pub(crate) fn check(table: &str) {
    let (record, expected) = (recorded(), Record::of(NUMERIC_VERSION, table));
    assert_eq!(record.version, expected.version, "NUMERIC_VERSION; {ADVICE}");
    let lost = record.digests.difference(&expected.digests).count();
    assert_eq!(lost, 0, "recorded lines that the table lacks: raise NUMERIC_VERSION");
    let new = expected.digests.difference(&record.digests).count();
    assert_eq!(new, 0, "lines that are not recorded; {ADVICE}");
}

#[test]
fn a_changed_bit_needs_a_raised_version_and_a_new_line_does_not() {
    let table = "normal 0: 3fe0\nnormal 1: 3fea\n";
    let first = Record::of(1, table);
    let longer = format!("{table}normal 2: 3fef\n");
    assert_eq!(first.followed_by(1, table), Ok(first.clone()));
    assert_eq!(first.followed_by(1, &longer), Ok(Record::of(1, &longer)));
    for changed in ["normal 0: 3fe1\nnormal 1: 3fea\n", "normal 0: 3fe0\n"] {
        assert!(first.followed_by(1, changed).is_err());
        assert!(first.followed_by(3, changed).is_err());
        assert_eq!(first.followed_by(2, changed), Ok(Record::of(2, changed)));
    }
    for unchanged in [table, &longer] {
        assert!(first.followed_by(2, unchanged).is_err());
    }
    assert_eq!(Record::parse(&first.text()), Some(first));
}

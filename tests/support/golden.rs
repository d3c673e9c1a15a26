//! The golden files: results of other libraries, one to a row, and the largest error against them.

use quant_core::explanation::{ErrorScale, ErrorStatement};

use std::{
    any::type_name,
    fmt::{self, Debug, Display, Formatter},
    fs,
    str::FromStr,
};

/// One row of a golden file. `Display` writes its place and its line.
#[derive(Clone, Debug)]
pub struct Row {
    /// The file's name and the number of the line: `ces.csv:17`.
    pub place: String,
    /// The line as it is in the file.
    pub line: String,
    /// The names of the columns, as they are in the file.
    header: String,
}

/// The largest error so far. `Display` writes the error and the place of its row.
#[derive(Clone, Debug, Default)]
pub struct Largest {
    /// The error, in whatever unit its tolerance has; zero before any was seen.
    pub error: f64,
    /// The place of its row; empty while the error is zero.
    pub place: String,
}

/// The errors that explanations state, compared with the errors against golden rows.
#[derive(Debug, Default)]
pub struct Statements {
    seen: usize,
    exceeded: Vec<String>,
}

impl Statements {
    /// Compares a statement with the error of `found` for a row. Panics where a bound is exceeded.
    #[track_caller]
    pub fn see(&mut self, row: &Row, statement: &ErrorStatement, found: f64, expected: f64) {
        self.see_by(row, statement, found, expected, expected);
    }

    /// Does the same where a relative error is a fraction of `whole`, as that of a sum is of its
    /// largest term.
    #[track_caller]
    pub fn see_by(
        &mut self,
        row: &Row,
        statement: &ErrorStatement,
        found: f64,
        expected: f64,
        whole: f64,
    ) {
        let unit = match statement.scale {
            ErrorScale::Absolute => 1.0,
            ErrorScale::Relative => whole.abs(),
        };
        let (error, stated) = ((found - expected).abs(), statement.estimate * unit);
        assert!(stated.is_finite() && stated >= 0.0, "{row}: {statement:?}");
        self.seen += 1;
        if error > stated {
            let text =
                format!("{row}: {found}, expected {expected}: error {error:e}: {statement:?}");
            assert!(!statement.is_bound, "{text}");
            self.exceeded.push(text);
        }
    }

    /// Asserts that at least 95 in 100 of at least `at_least` estimates were not exceeded.
    #[track_caller]
    pub fn hold(&self, at_least: usize) {
        assert!(self.seen >= at_least, "{} statements, expected {at_least}", self.seen);
        let (exceeded, seen) = (self.exceeded.len(), self.seen);
        assert!(exceeded * 20 <= seen, "{exceeded} of {seen}: {:#?}", self.exceeded);
    }
}

/// Reads the rows of `tests/golden/{name}.csv`, which follow the line of the tool and the header.
///
/// Panics on a file of fewer rows than `at_least`, so that no test passes without rows.
#[must_use]
pub fn rows(name: &str, at_least: usize) -> Vec<Row> {
    let path = format!("{}/golden/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows = split(&format!("{name}.csv"), &text);
    assert!(rows.len() >= at_least, "{name}.csv: {} rows, expected {at_least}", rows.len());
    rows
}

fn split(file: &str, text: &str) -> Vec<Row> {
    let mut lines = text.lines().zip(1..);
    let tool = lines.next().is_some_and(|(line, _)| line.starts_with('#'));
    assert!(tool, "{file}:1: the first line names no tool");
    let (header, _) = lines.next().unwrap_or_else(|| panic!("{file}:2: no header"));
    let columns = header.split(',').count();
    let row = |(line, number): (&str, usize)| {
        let place = format!("{file}:{number}");
        let found = line.split(',').count();
        assert_eq!(found, columns, "{place}: {line}: fields, and columns of the header");
        Row { place, line: line.to_owned(), header: header.to_owned() }
    };
    lines.map(row).collect()
}

impl Row {
    /// The texts of all columns, in the order of the header.
    #[must_use]
    pub fn texts<const N: usize>(&self) -> [&str; N] {
        let texts: Vec<&str> = self.line.split(',').collect();
        let found = texts.len();
        texts.try_into().unwrap_or_else(|_| panic!("{self}: {found} columns, expected {N}"))
    }

    /// The numbers of all columns, in the order of the header.
    #[must_use]
    pub fn numbers<const N: usize>(&self) -> [f64; N] {
        self.texts().map(|text| self.parse(text))
    }

    /// The text of the column called `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        let mut columns = self.header.split(',').zip(self.line.split(','));
        let found = columns.find(|(column, _)| *column == name);
        found.unwrap_or_else(|| panic!("{self}: no column {name}")).1
    }

    /// The value of the column called `name`.
    #[must_use]
    pub fn get<T: FromStr>(&self, name: &str) -> T {
        self.parse(self.text(name))
    }

    /// The value that a text of this row spells.
    #[must_use]
    pub fn parse<T: FromStr>(&self, text: &str) -> T {
        text.parse().unwrap_or_else(|_| panic!("{self}: {text:?} is no {}", type_name::<T>()))
    }

    /// The values that a text of this row spells, between blanks or semicolons.
    #[must_use]
    pub fn list<T: FromStr>(&self, text: &str) -> Vec<T> {
        text.split([' ', ';']).map(|text| self.parse(text)).collect()
    }
}

impl Display for Row {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.line)
    }
}

impl Largest {
    /// Asserts that the error of what was `found` for a row is within its tolerance, and remembers
    /// the row of the first largest. An error that is not a number is refused.
    #[track_caller]
    pub fn see(&mut self, row: &Row, error: f64, tolerance: f64, found: &dyn Debug) {
        assert!(error <= tolerance, "{row}: {found:?}: error {error:e}, accepted {tolerance:e}");
        if error > self.error {
            (self.error, self.place) = (error, row.place.clone());
        }
    }
}

impl Display for Largest {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:e}", self.error)?;
        if self.place.is_empty() { Ok(()) } else { write!(formatter, " ({})", self.place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        let [row] = split("some.csv", &format!("# tool\nname,rate,days\n{line}\n"))
            .try_into()
            .expect("one row");
        row
    }

    #[test]
    fn columns_are_found_by_name_and_by_position() {
        let row = row("a,0.5,1 2;3");
        assert_eq!((row.text("name"), row.get::<f64>("rate")), ("a", 0.5));
        assert_eq!(row.texts(), ["a", "0.5", "1 2;3"]);
        assert_eq!(row.list::<u8>(row.text("days")), [1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = r#"some.csv:3: a,b,1: "b" is no f64"#)]
    fn a_field_of_another_type_is_told_with_its_place() {
        let _: f64 = row("a,b,1").get("rate");
    }

    #[test]
    #[should_panic(expected = "some.csv:3: a,0.5,1: no column yield")]
    fn a_missing_column_is_told_with_its_place() {
        let _ = row("a,0.5,1").text("yield");
    }

    #[test]
    #[should_panic(expected = "some.csv:3: a,0.5: fields, and columns of the header")]
    fn a_row_cut_short_is_told_with_its_place() {
        let _ = row("a,0.5");
    }

    #[test]
    fn the_row_of_the_largest_error_is_remembered() {
        let mut largest = Largest::default();
        assert_eq!(largest.to_string(), "0e0");
        largest.see(&row("a,0,1"), 0.5, 1.0, &"a");
        largest.see(&Row { place: "some.csv:4".to_owned(), ..row("b,0,1") }, 0.25, 1.0, &"b");
        assert_eq!(largest.to_string(), "5e-1 (some.csv:3)");
    }

    #[test]
    #[should_panic(expected = r#"some.csv:3: a,0,1: "what": error NaN, accepted 1e0"#)]
    fn an_error_that_is_not_a_number_is_refused() {
        Largest::default().see(&row("a,0,1"), f64::NAN, 1.0, &"what");
    }
}

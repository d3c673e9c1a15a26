//! The JSON text of a list of numbers, scanned without a JSON value for each number.
//!
//! A value of serde_json takes 72 bytes, and two bytes of a body can ask for one. A list of numbers
//! therefore stays JSON text until its type is known. A refused list costs little: its numbers are
//! counted before any of them is converted, and none is where the schema has no range.

/// The bytes that one step of [`scan`] looks at; fewer than 256, the range of its counters.
const STEP: usize = 128;
/// The text of a JSON list, which is sound JSON and may hold other values than numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberText<'a> {
    elements: &'a str,
    len: usize,
    /// True if every element is a number.
    pub(super) is_numeric: bool,
    /// True if an element is a number that may be beyond a double.
    pub(super) may_overflow: bool,
}

/// One element of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element<'a> {
    /// A number, with its text; infinite where the number is beyond a double.
    Number(f64, &'a str),
    /// The literal `null`.
    Null,
    /// Any other value.
    Other,
}

impl<'a> NumberText<'a> {
    /// Makes the list of `text`, which is one JSON value; `None` where the value is no list.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let elements = text.trim_ascii().strip_prefix('[')?.strip_suffix(']')?;
        let Scan { commas, is_numeric, may_overflow } = scan(elements.as_bytes());
        let len = if elements.trim_ascii().is_empty() {
            0
        } else if is_numeric {
            commas + 1
        } else {
            Texts(Some(elements)).count()
        };
        Some(Self { elements, len, is_numeric, may_overflow })
    }

    /// Returns the number of elements of the list.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the elements, in the order of the list.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        Texts((self.len > 0).then_some(self.elements)).map(|text| match text.as_bytes() {
            [b'-' | b'0'..=b'9', ..] => Element::Number(number(text), text),
            b"null" => Element::Null,
            _ => Element::Other,
        })
    }

    /// Returns the numbers of a numeric list; infinite where one is beyond a double.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> + use<'a> {
        let elements = self.elements.split(',').take(self.len);
        elements.map(|text| number(text.trim_ascii()))
    }
}

/// The elements that remain of a list, as their JSON text.
struct Texts<'a>(Option<&'a str>);

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0?.trim_ascii_start();
        let nested = match rest.as_bytes() {
            [b'"' | b'[' | b'{', ..] => end_of_nested(rest.as_bytes()),
            _ => 0,
        };
        let end = rest[nested..].find(',').map(|comma| nested + comma);
        self.0 = end.map(|end| &rest[end + 1..]);
        Some(rest[..end.unwrap_or(rest.len())].trim_ascii_end())
    }
}

/// Returns the place after the string, list or object that `bytes` begin with.
fn end_of_nested(bytes: &[u8]) -> usize {
    let (mut depth, mut is_string, mut at) = (0_usize, false, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => depth += 1,
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 && !is_string {
            return at;
        }
    }
    bytes.len()
}

/// The facts of a list's text that are found without a look at each element.
struct Scan {
    commas: usize,
    is_numeric: bool,
    may_overflow: bool,
}

/// Scans the text between the brackets of a list.
///
/// No branch depends on a byte, so that the compiler uses vector instructions: a refused body of
/// megabytes is scanned in about a millisecond.
fn scan(elements: &[u8]) -> Scan {
    let (mut commas, mut others, mut has_exponent, mut is_long) = (0, 0, false, false);
    for step in elements.chunks(STEP) {
        let (mut own_commas, mut own_others, mut exponents) = (0_u8, 0_u8, 0_u8);
        for &byte in step {
            let is_comma = byte == b',';
            let is_exponent = byte | 0x20 == b'e';
            let is_digit = byte.wrapping_sub(b'0') < 10;
            let is_sign_or_point = (byte == b'-') | (byte == b'+') | (byte == b'.');
            let is_space = (byte == b' ') | (byte == b'\n') | (byte == b'\r') | (byte == b'\t');
            let is_of_number = is_digit | is_sign_or_point | is_exponent;
            own_commas += u8::from(is_comma);
            exponents |= u8::from(is_exponent);
            own_others |= u8::from(!(is_of_number | is_comma | is_space));
        }
        commas += usize::from(own_commas);
        others |= own_others;
        has_exponent |= exponents != 0;
        // A number without an exponent reaches the largest double with 309 digits, and more than two
        // steps without a comma are needed for them.
        is_long |= own_commas == 0 && step.len() == STEP;
    }
    Scan { commas, is_numeric: others == 0, may_overflow: has_exponent | is_long }
}

/// Converts the JSON text of a number to the nearest double.
fn number(text: &str) -> f64 {
    // The parser of the standard library is correctly rounded, and takes every number of JSON.
    text.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<f64>> {
        let list = NumberText::new(text).filter(|list| list.is_numeric)?;
        let numbers: Vec<f64> = list.numbers().collect();
        let elements = list.elements().map(|element| match element {
            Element::Number(number, _) => number,
            other => panic!("{other:?} in {text}"),
        });
        assert_eq!(elements.collect::<Vec<_>>(), numbers, "{text}");
        assert_eq!(list.len(), numbers.len(), "{text}");
        Some(numbers)
    }

    #[test]
    fn a_list_of_numbers_is_read_and_anything_else_is_not() {
        assert_eq!(read("[]"), Some(vec![]));
        assert_eq!(read(" [ \n ] "), Some(vec![]));
        assert_eq!(read("[1,-2.5e-3 ,\t0.1 ]"), Some(vec![1.0, -0.0025, 0.1]));
        assert_eq!(read("[1e999]"), Some(vec![f64::INFINITY]));
        for other in ["7", "null", "{}", r#""[1]""#, r#"["1"]"#, "[null]", "[[1]]", "[true]"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn the_elements_of_a_mixed_list_are_told_apart() {
        let text = r#"[1 , "a,\"]\\", [2,[3]],{"b":[4,"}"]}, null,true ,-5.5]"#;
        let list = NumberText::new(text).expect("a list");
        let elements: Vec<_> = list.elements().collect();
        use Element::{Null, Number, Other};
        let expected = [Number(1.0, "1"), Other, Other, Other, Null, Other, Number(-5.5, "-5.5")];
        assert_eq!(elements, expected);
        assert_eq!(list.len(), expected.len());
        assert!(!list.is_numeric);
    }

    #[test]
    fn a_number_beyond_a_double_is_never_missed() {
        let digits = "9".repeat(309);
        for number in ["1e999", "1E999", "-1e400", &digits] {
            for before in [0, 1, 100, 1000] {
                let text = format!("[{}{number}]", "1,".repeat(before));
                let list = NumberText::new(&text).expect("a list");
                assert!(list.may_overflow, "{before} {number}");
                assert_eq!(list.numbers().filter(|number| number.is_infinite()).count(), 1);
            }
        }
        let short = format!("[{}-0.25]", "0.1, ".repeat(1000));
        assert!(!NumberText::new(&short).expect("a list").may_overflow);
    }

    #[test]
    fn hard_doubles_are_read_to_the_last_bit() {
        #[rustfmt::skip]
        let rows = [
            // text                                                        the nearest double
            ("5e-324",                                                     f64::from_bits(1)),
            ("2.4703282292062327208e-324",                                 0.0),
            ("1.7976931348623157e308",                                     f64::MAX),
            ("0.1",                                                        0.1),
            ("-0",                                                         -0.0),
            ("-0.0",                                                       -0.0),
            ("9007199254740993",                                           9_007_199_254_740_992.0),
            // Half-way between 1 and its successor, and a digit above half-way.
            ("1.00000000000000011102230246251565404236316680908203125",    1.0),
            ("1.000000000000000111022302462515654042363166809082031251",   1.0 + f64::EPSILON),
        ];
        for (text, expected) in rows {
            let found = read(&format!("[{text}]")).expect("a number");
            assert_eq!(found[0].to_bits(), expected.to_bits(), "{text}");
        }
    }
}

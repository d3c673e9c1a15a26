//! Bars as SVG, drawn by the server.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 26.0;
/// The height of a horizontal bar with its name above it.
const ROW: f64 = 44.0;
/// The space beside horizontal bars.
const MARGIN: f64 = 12.0;

/// One bar.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: u64,
}

/// Draws vertical bars over a whole-number axis. The title tells screen readers all figures.
pub(super) fn columns(title: &str, bars: &[Bar]) -> String {
    let most = ceiling(bars.iter().map(|bar| bar.value).max().unwrap_or_default());
    let height = HEIGHT - TOP - BOTTOM;
    let y = |value: u64| HEIGHT - BOTTOM - value as f64 / most as f64 * height;
    let width = (WIDTH - LEFT) / bars.len().max(1) as f64;
    let mut svg = opening(title, bars, HEIGHT);
    let mut add = |line: String| writeln!(svg, "{line}").expect("a string takes every line");
    for value in [0, most / 2, most] {
        let y = y(value);
        add(format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        ));
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 6.0,
            y + 4.0
        ));
    }
    // At most eight names fit beside each other.
    let every = bars.len().div_ceil(8).max(1);
    for (index, bar) in bars.iter().enumerate() {
        let x = LEFT + width * index as f64;
        let top = y(bar.value);
        add(rectangle(bar, [x + width * 0.15, top], [width * 0.7, HEIGHT - BOTTOM - top]));
        if index % every == 0 {
            // A narrow screen leaves out every other name.
            let class = if index / every % 2 == 1 { " class=\"between\"" } else { "" };
            add(format!(
                "<text{class} x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + width / 2.0,
                HEIGHT - 8.0,
                escaped(&bar.name)
            ));
        }
    }
    svg.push_str("</svg>");
    svg
}

/// Draws horizontal bars, each below its name and figure. The title tells screen readers all figures.
pub(super) fn rows(title: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.value).max().unwrap_or_default().max(1);
    let mut svg = opening(title, bars, ROW * bars.len() as f64 + TOP);
    let mut add = |line: String| writeln!(svg, "{line}").expect("a string takes every line");
    for (index, bar) in bars.iter().enumerate() {
        let top = ROW * index as f64;
        let length = bar.value as f64 / most as f64 * (WIDTH - 2.0 * MARGIN);
        for (x, anchor, text) in
            [(MARGIN, "start", escaped(&bar.name)), (WIDTH - MARGIN, "end", bar.value.to_string())]
        {
            let y = top + 26.0;
            add(format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"));
        }
        add(rectangle(bar, [MARGIN, top + 34.0], [length, 10.0]));
    }
    svg.push_str("</svg>");
    svg
}

/// Begins a picture of this height, with all figures as its name.
fn opening(title: &str, bars: &[Bar], height: f64) -> String {
    let figures: Vec<String> =
        bars.iter().map(|bar| format!("{}: {}", escaped(&bar.name), bar.value)).collect();
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}. {}\">",
        escaped(title),
        figures.join(", ")
    )
}

/// Draws a bar from its corner, with its width and height.
fn rectangle(bar: &Bar, [x, y]: [f64; 2], [width, height]: [f64; 2]) -> String {
    format!(
        "<rect class=\"mark-0\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">\
         <title>{}: {}</title></rect>",
        escaped(&bar.name),
        bar.value
    )
}

/// Returns the least of 2, 4, 10, 20, 40, 100, … that is no less than the value.
fn ceiling(value: u64) -> u64 {
    let mut step = 1_u64;
    loop {
        for factor in [2, 4, 10] {
            let candidate = step.saturating_mul(factor);
            if candidate >= value {
                return candidate;
            }
        }
        step = step.saturating_mul(10);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_ends_at_a_round_number_above_the_largest_value() {
        let rows = [(0, 2), (2, 2), (3, 4), (5, 10), (11, 20), (41, 100), (101, 200)];
        for (value, expected) in rows {
            assert_eq!(ceiling(value), expected, "{value}");
        }
        assert_eq!(ceiling(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_longest_horizontal_bar_is_that_of_the_largest_value() {
        let bars = [("/a", 4), ("/b", 1), ("/c", 0)];
        let svg = rows("Calls", &bars.map(|(name, value)| Bar { name: name.to_owned(), value }));
        for width in ["width=\"616.0\"", "width=\"154.0\"", "width=\"0.0\""] {
            assert_eq!(svg.matches(width).count(), 1, "{width}: {svg}");
        }
        assert!(svg.contains("aria-label=\"Calls. /a: 4, /b: 1, /c: 0\""), "{svg}");
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        for draw in [columns, rows] {
            let bar = Bar { name: "\"><script>".to_owned(), value: 1 };
            let svg = draw("Calls", &[bar]);
            assert!(!svg.contains("<script>") && svg.contains("&quot;&gt;&lt;script&gt;"), "{svg}");
        }
    }
}

//! Runnable examples; each prints its figures, and those with a chart draw it as an SVG file under
//! `target`. This library is the chart.
//!
//! - `growth`: how the time of a computation grows with its size.
//! - `price_option`: a first price with `quant-core`.
//! - `option_chain`: an option chain with its Greeks and the smile of its implied volatilities.
//! - `barrier_convergence`: barrier options on trees, against the closed form.
//! - `efficient_frontier`: the frontier of five assets by its corners, and the best portfolio on it.
//! - `yield_curve`: a bootstrapped curve, its forwards, and a smooth one through it.
//! - `transfer_entropy`: which way information goes between coupled series.
//! - `life.sh`: a life over HTTP, from guest to a metered call, against a service of its own.

use std::{error::Error, ops::Range, path::PathBuf};

pub use plotters::prelude::SeriesLabelPosition;
use plotters::{element::DashedPathElement, prelude::*, series::DashedLineSeries};

const SIZE: (u32, u32) = (960, 560);
/// Pixels of a dash and of the gap after the dash. The first line is solid; the others have dashes, so
/// that a line shows under another that coincides with it.
const DASHES: [(u32, u32); 5] = [(1, 0), (10, 6), (3, 4), (16, 4), (6, 10)];
/// Blue, vermilion, green, orange, purple: told apart by colour-blind readers too (Okabe and Ito).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(204, 121, 167),
];

/// A line of a chart.
pub struct Line {
    /// The text of the legend.
    pub name: &'static str,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A point with its name beside it.
pub struct Mark {
    /// The text beside the point.
    pub name: &'static str,
    /// The place of the point.
    pub point: (f64, f64),
}

/// A chart of lines and points over common axes.
pub struct Chart<'a> {
    /// The heading.
    pub title: &'a str,
    /// The quantity and unit of the horizontal axis.
    pub x: &'a str,
    /// The quantity and unit of the vertical axis.
    pub y: &'a str,
    /// The corner of the legend, where no line runs.
    pub legend: SeriesLabelPosition,
    /// The lines.
    pub lines: &'a [Line],
    /// The points; none for most charts.
    pub marks: &'a [Mark],
}

impl Chart<'_> {
    /// Draws the chart into `target/NAME.svg` and says so.
    ///
    /// # Errors
    ///
    /// The error of the system where the file cannot be written.
    pub fn save(&self, name: &str) -> Result<(), Box<dyn Error>> {
        let folder = PathBuf::from(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(name).with_extension("svg");
        self.draw(&path)?;
        println!("\nchart: {}", path.display());
        Ok(())
    }

    fn draw(&self, path: &std::path::Path) -> Result<(), Box<dyn Error>> {
        // The name of a point stands at its right.
        let right = if self.marks.is_empty() { 0.0 } else { 0.1 };
        let area = SVGBackend::new(path, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 22))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(
                self.range(|point| point.0, 0.0, right),
                self.range(|point| point.1, 0.05, 0.05),
            )?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 13))
            .x_label_formatter(&label)
            .y_label_formatter(&label)
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .draw()?;
        let looks = COLOURS.iter().zip(DASHES).cycle();
        for (line, (colour, (dash, gap))) in self.lines.iter().zip(looks) {
            let style = colour.stroke_width(2);
            let points = line.points.iter().copied();
            let drawn = if gap == 0 {
                chart.draw_series(LineSeries::new(points, style))?
            } else {
                chart.draw_series(DashedLineSeries::new(points, dash, gap, style))?
            };
            drawn.label(line.name).legend(move |(x, y)| {
                DashedPathElement::new([(x, y), (x + 18, y)], dash, gap, style)
            });
        }
        chart.draw_series(self.marks.iter().map(|mark| {
            EmptyElement::at(mark.point)
                + Circle::new((0, 0), 4, BLACK.filled())
                + Text::new(mark.name, (8, -5), ("sans-serif", 13))
        }))?;
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .label_font(("sans-serif", 14))
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        area.present()?;
        Ok(())
    }

    /// Returns the range of an axis, with margins relative to the range.
    fn range(
        &self,
        coordinate: impl Fn(&(f64, f64)) -> f64,
        before: f64,
        after: f64,
    ) -> Range<f64> {
        let lines = || self.lines.iter().flat_map(|line| &line.points);
        let values = || lines().chain(self.marks.iter().map(|mark| &mark.point)).map(&coordinate);
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        low - before * (high - low)..high + after * (high - low)
    }
}

/// Returns the label of a tick: a whole number without a fraction, any other without the digits that
/// rounding errors add.
fn label(value: &f64) -> String {
    format!("{}", (value * 1e9).round() / 1e9 + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_has_the_shortest_label() {
        let labels = [100.0, 0.1 + 0.2, -0.0, 12.5].map(|value| label(&value));
        assert_eq!(labels, ["100", "0.3", "0", "12.5"]);
    }

    #[test]
    fn a_chart_has_its_points_and_tells_coinciding_lines_apart() {
        let line = |name| Line { name, points: vec![(0.0, 1.0), (10.0, 2.0)] };
        let chart = Chart {
            title: "two lines in one place",
            x: "steps",
            y: "price",
            legend: SeriesLabelPosition::UpperLeft,
            lines: &[line("solid"), line("dashed")],
            marks: &[Mark { name: "a point", point: (12.0, 3.0) }],
        };
        let path = std::env::temp_dir().join(format!("chart-{}.svg", std::process::id()));
        chart.draw(&path).expect("a chart");
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::remove_file(&path).expect("a file to remove");
        assert!(text.contains("a point") && text.contains("<circle"), "{text}");
        let pieces = text.matches("stroke=\"#D55E00\"").count();
        assert!(pieces > 10, "{pieces} dashes of the second line");
        assert!(!text.contains(">10.0<"), "{text}");
    }
}

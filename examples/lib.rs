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
use plotters::prelude::*;

const SIZE: (u32, u32) = (960, 560);
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

/// A chart of lines over common axes.
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
        let area = SVGBackend::new(path, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 22))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(
                self.range(|point| point.0, 0.0),
                self.range(|point| point.1, 0.05),
            )?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 13))
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let style = colour.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        }
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

    /// Returns the range of an axis, with a margin relative to the range.
    fn range(&self, coordinate: impl Fn(&(f64, f64)) -> f64, margin: f64) -> Range<f64> {
        let values = || self.lines.iter().flat_map(|line| &line.points).map(&coordinate);
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        let room = margin * (high - low);
        low - room..high + room
    }
}

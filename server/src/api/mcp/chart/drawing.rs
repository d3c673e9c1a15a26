//! Panels of lines or bars, drawn as SVG.

use std::ops::Range;

use plotters::{coord::Shift, element::DashedPathElement, prelude::*, series::DashedLineSeries};

/// The size of one panel, in pixels.
const SIZE: (u32, u32) = (720, 360);
/// The largest magnitude that an axis shows.
const LARGEST: f64 = 1e100;
/// The least span of an axis, relative to its largest magnitude.
const LEAST_SPAN: f64 = 1e-9;
/// The most characters of a name.
const NAME_CHARACTERS: usize = 24;
/// The most names under bars.
const MOST_NAMES: usize = 8;
/// Pixels of a dash and of its gap, so that lines that coincide stay apart. The first is solid.
const DASHES: [(u32, u32); 4] = [(1, 0), (10, 6), (3, 4), (16, 4)];
/// Blue, vermilion, green, purple: told apart by colour-blind readers too (Okabe and Ito).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
const GRID: RGBColor = RGBColor(225, 225, 225);

type DrawError = Box<dyn std::error::Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line with its name.
pub(super) struct NamedLine {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// One part of a picture.
pub(super) enum Panel {
    /// Lines over one axis.
    Lines { title: String, across: String, series: Vec<NamedLine> },
    /// Bars side by side.
    Bars { title: String, up: String, bars: Vec<(String, f64)> },
}

impl Panel {
    /// Returns whether axes can show the values.
    pub(super) fn can_be_drawn(&self) -> bool {
        let fits = |value: f64| value.abs() <= LARGEST;
        match self {
            Self::Lines { series, .. } => {
                let mut points = series.iter().flat_map(|line| &line.points);
                points.all(|(x, y)| fits(*x) && fits(*y))
            }
            Self::Bars { bars, .. } => bars.iter().all(|(_, value)| fits(*value)),
        }
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawError> {
        match self {
            Self::Lines { title, across, series } => lines(area, title, across, series),
            Self::Bars { title, up, bars } => draw_bars(area, title, up, bars),
        }
    }
}

/// Draws panels one below the other.
pub(super) fn svg(panels: &[Panel]) -> Result<String, DrawError> {
    let mut text = String::new();
    let (width, height) = SIZE;
    let count = u32::try_from(panels.len())?;
    let root = SVGBackend::with_string(&mut text, (width, height * count)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, panel) in root.split_evenly((panels.len(), 1)).iter().zip(panels) {
        panel.draw(area)?;
    }
    root.present()?;
    drop(root);
    Ok(text)
}

fn lines(
    area: &Area<'_>,
    title: &str,
    across: &str,
    series: &[NamedLine],
) -> Result<(), DrawError> {
    let points = || series.iter().flat_map(|line| &line.points);
    let x = range(points().map(|(x, _)| *x), false);
    let y = range(points().map(|(_, y)| *y), false);
    let names: Vec<&str> = series.iter().map(|line| line.name.as_str()).collect();
    let mut chart = chart_on(area, title).build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(across)
        .y_desc(names.join(", "))
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .draw()?;
    let looks = COLOURS.iter().zip(DASHES).cycle();
    for (line, (colour, (dash, gap))) in series.iter().zip(looks) {
        let style = colour.stroke_width(2);
        let points = line.points.iter().copied();
        let drawn = if gap == 0 {
            chart.draw_series(LineSeries::new(points, style))?
        } else {
            chart.draw_series(DashedLineSeries::new(points, dash, gap, style))?
        };
        drawn
            .label(clean(&line.name))
            .legend(move |(x, y)| DashedPathElement::new([(x, y), (x + 18, y)], dash, gap, style));
    }
    if series.len() > 1 {
        let labels = &mut chart.configure_series_labels();
        labels.background_style(WHITE.mix(0.85)).border_style(GRID).draw()?;
    }
    Ok(())
}

fn draw_bars(
    area: &Area<'_>,
    title: &str,
    up: &str,
    bars: &[(String, f64)],
) -> Result<(), DrawError> {
    let y = range(bars.iter().map(|(_, value)| *value), true);
    let places = || (0_u32..).map(f64::from);
    let end = places().nth(bars.len()).unwrap_or_default();
    let every = bars.len().div_ceil(MOST_NAMES);
    let mut chart = chart_on(area, title).build_cartesian_2d(0.0..end, y)?;
    chart
        .configure_mesh()
        .y_desc(up)
        .disable_x_mesh()
        .disable_x_axis()
        .y_label_formatter(&label)
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .draw()?;
    let bodies = places().zip(bars).map(|(x, (_, value))| {
        Rectangle::new([(x + 0.15, 0.0), (x + 0.85, *value)], COLOURS[0].filled())
    });
    chart.draw_series(bodies)?;
    let lowest = chart.y_range().start;
    let named = places().zip(bars).step_by(every.max(1));
    chart.draw_series(named.map(|(x, (name, _))| {
        EmptyElement::at((x + 0.15, lowest)) + Text::new(clean(name), (0, 8), ("sans-serif", 12))
    }))?;
    Ok(())
}

fn chart_on<'a, 'b>(area: &'b Area<'a>, title: &str) -> ChartBuilder<'b, 'a, SVGBackend<'a>> {
    let mut chart = ChartBuilder::on(area);
    chart
        .caption(clean(title), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(76);
    chart
}

/// Returns the range of an axis. Values that are nearly equal get room around them.
fn range(values: impl Iterator<Item = f64>, has_zero: bool) -> Range<f64> {
    let zero = has_zero.then_some(0.0);
    let (low, high) = values
        .chain(zero)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let largest = low.abs().max(high.abs());
    if high - low > largest * LEAST_SPAN && high - low > f64::MIN_POSITIVE {
        return low..high;
    }
    let room = if largest > f64::MIN_POSITIVE { largest * 0.05 } else { 1.0 };
    low - room..high + room
}

/// Returns the text of a tick, with at most six significant digits.
fn label(value: &f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(*value);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-4..1e7).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
    }
}

/// Returns a text without characters that XML does not have, in its first characters.
fn clean(text: &str) -> String {
    let is_written = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let mut clean: String = text.chars().filter(is_written).take(NAME_CHARACTERS * 2).collect();
    if clean.chars().count() > NAME_CHARACTERS * 2 - 1 {
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_has_the_shortest_text() {
        for (value, text) in [
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (100.0, "100"),
            (1e9, "1e9"),
            (-2.5e-7, "-2.5e-7"),
            (12.5, "12.5"),
        ] {
            assert_eq!(label(&value), text);
        }
    }

    #[test]
    fn an_axis_has_room_around_equal_values() {
        for (values, has_zero, expected) in [
            (&[1.0, 3.0][..], false, 1.0..3.0),
            (&[1.0, 3.0], true, 0.0..3.0),
            (&[0.0, 0.0], false, -1.0..1.0),
            (&[2.0, 2.0], false, 1.9..2.1),
        ] {
            assert_eq!(range(values.iter().copied(), has_zero), expected, "{values:?}");
        }
    }
}

//! The log of a command that serves.

use std::{fmt, io::IsTerminal as _};

use tracing::{Subscriber, field::Field};
use tracing_subscriber::{
    Layer,
    field::MakeExt as _,
    filter::{LevelFilter, Targets},
    fmt::{
        MakeWriter,
        format::{Writer, debug_fn},
        layer,
    },
    prelude::*,
    registry::LookupSpan,
};

use super::CommandError;
use crate::{
    config::LogFormat,
    http::ACCESS,
    telemetry::{SPANS, SpanExport},
};

/// Writes the log to standard error, where other crates log warnings and errors only, and begins the
/// export of spans where a collector is named.
pub(super) fn start(format: LogFormat) -> Result<Option<SpanExport>, CommandError> {
    let export = SpanExport::start()?;
    subscriber(format, std::io::stderr, export.as_ref()).init();
    Ok(export)
}

/// Returns what writes the log, and exports spans where there is an export.
fn subscriber<W>(
    format: LogFormat,
    writer: W,
    export: Option<&SpanExport>,
) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // The line for every request is written in JSON only.
    let access = if format == LogFormat::Json { LevelFilter::INFO } else { LevelFilter::OFF };
    let lines = Targets::new()
        .with_target("quant_server", LevelFilter::INFO)
        .with_target(ACCESS, access)
        .with_target(SPANS, LevelFilter::OFF)
        .with_default(LevelFilter::WARN);
    let written = match format {
        LogFormat::Text => text(writer).boxed(),
        LogFormat::Json => layer().json().with_writer(writer).boxed(),
    };
    // An absent layer is not added as `None`: it has no filter, so that every span would be made.
    let mut layers = vec![written.with_filter(lines).boxed()];
    if let Some(export) = export {
        // Each statement of the database is a span of sea-orm.
        let spans = Targets::new()
            .with_target(SPANS, LevelFilter::INFO)
            .with_target("sea_orm", LevelFilter::INFO);
        let exported = tracing_opentelemetry::layer().with_tracer(export.tracer());
        layers.push(exported.with_filter(spans).boxed());
    }
    tracing_subscriber::registry().with(layers)
}

/// Returns the log as lines of text.
fn text<S, W>(writer: W) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // Colours are for a terminal, not for a file.
    let lines = layer().with_ansi(std::io::stderr().is_terminal()).with_writer(writer);
    lines.fmt_fields(debug_fn(write_field).delimited(" "))
}

/// Writes the message or a field with its control characters escaped. The library leaves line breaks
/// as they are, with which a text from outside, as in an error, could write a line of its own.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{}=", field.name())?;
    }
    for character in format!("{value:?}").chars() {
        if character.is_control() {
            write!(writer, "{}", character.escape_default())?;
        } else {
            writer.write_char(character)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    /// A writer that keeps its text.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn without_an_export_no_span_is_made() {
        for format in [LogFormat::Text, LogFormat::Json] {
            tracing::subscriber::with_default(subscriber(format, io::sink, None), || {
                assert!(tracing::info_span!(target: SPANS, "request").is_disabled());
                assert!(tracing::info_span!(target: "sea_orm", "statement").is_disabled());
                assert!(tracing::enabled!(target: "quant_server", tracing::Level::INFO));
            });
        }
    }

    #[test]
    fn no_text_begins_a_line_of_the_log() {
        let kept = Kept::default();
        let writer = kept.clone();
        let lines = tracing_subscriber::registry().with(text(move || writer.clone()));
        tracing::subscriber::with_default(lines, || {
            let forged = "refused\r\n2026-01-01T00:00:00Z  INFO quant_server: \u{1b}[2Kall is well";
            tracing::error!(error = %forged, text = forged, count = 3, "a message\nin two lines");
        });
        let written = String::from_utf8(kept.0.lock().expect("no panic").clone()).expect("text");
        assert_eq!(written.lines().count(), 1, "{written}");
        let line = written.strip_suffix('\n').expect("a whole line");
        assert!(!line.contains(char::is_control), "{line:?}");
        let escaped = r"refused\r\n2026-01-01T00:00:00Z  INFO quant_server: \u{1b}[2Kall is well";
        let fields = format!(r#"a message\nin two lines error={escaped} text="{escaped}" count=3"#);
        assert!(line.ends_with(&fields), "{line}");
    }
}

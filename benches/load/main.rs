//! `quant-load`: an example, so that `cargo run` at the root goes on to mean the service.

fn main() -> std::process::ExitCode {
    quant_load::run()
}

//! The program `quant-load`. It is an example, so that `cargo run` at the root still starts the
//! service.

fn main() -> std::process::ExitCode {
    quant_load::run()
}

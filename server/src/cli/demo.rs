//! `quant-server demo`: a complete service on temporary data.

use std::path::Path;

use account_core::{Email, NewAccount, Password, Tier, Username};
use clap::{Args, Parser};
use poem_openapi::types::{Example, ToJSON};
use rand::{
    distr::{Alphanumeric, SampleString},
    rand_core::UnwrapErr,
    rngs::SysRng,
};

use super::{command_error::CommandError, serve};
use crate::{api::quantlib::pricing::European, app::App, clock::Clock, config::ServeArgs};

/// Credits of the demo's account.
const CREDITS: u64 = 1_000_000;
/// The e-mail address of the demo's account.
const EMAIL: &str = "demo@example.com";
/// The characters of the password of the demo's account.
const PASSWORD_CHARACTERS: usize = 16;

#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// Address and port to listen on; port 0 takes a free one and prints it.
    #[arg(long, env = "QS_BIND", default_value = "127.0.0.1:8080")]
    bind: String,
}

/// The other settings of `serve`, with their defaults.
#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    serve: ServeArgs,
}

pub(super) async fn run(args: &DemoArgs) -> Result<(), CommandError> {
    let folder = tempfile::Builder::new().prefix("quant-server-demo-").tempdir()?;
    let mut serve_args = Defaults::parse_from(["quant-server"]).serve;
    serve_args.server.bind.clone_from(&args.bind);
    serve_args.storage.data_dir = folder.path().to_owned();
    serve_args.storage.database_url = None;
    serve_args.storage.master_key_file = None;
    serve_args.limits.redis_url = None;
    serve_args.mail.smtp_url = None;
    serve_args.mcp.mcp_url = None;
    let mut config = serve_args.check()?;
    let listener = serve::bind(config.bind).await?;
    config.bound_to(listener.local_addr()?);
    let app = App::start(&config, Clock::system()).await?;
    let password = Alphanumeric.sample_string(&mut UnwrapErr(SysRng), PASSWORD_CHARACTERS);
    let account = NewAccount {
        email: Email::parse(EMAIL)?,
        username: Username::parse("demo")?,
        password: Some(Password::choose(&password)?),
        tier: Tier::Enterprise,
        credits: Some(CREDITS),
        hourly_limit: None,
        is_admin: false,
    };
    let created = app.service().accounts.create_account(account, app.service().clock.now()).await?;
    let address = listener.local_addr()?.to_string();
    print!("{}", welcome(&address, created.api_key.expose(), &password, folder.path()));
    serve::serve(app, &config, listener).await
}

fn welcome(address: &str, key: &str, password: &str, folder: &Path) -> String {
    let folder = folder.display();
    let body = European::example().to_json().unwrap_or_default();
    format!(
        "quant-server demo: throw-away data, tier ENTERPRISE, {CREDITS} credits\n  \
         reference   http://{address}/docs\n  \
         playground  http://{address}/playground\n  \
         console     http://{address}/console (sign in as {EMAIL}, password {password})\n  \
         data        {folder}/ (gone when this ends)\n  \
         e-mails     {folder}/mail/\n\
         API key: {key}\n\
         Price an option:\n  \
         curl -s http://{address}/quantlib/pricing/bs/price \\\n    \
         -H 'X-API-Key: {key}' \\\n    \
         -H 'Content-Type: application/json' \\\n    \
         -d '{body}'\n"
    )
}

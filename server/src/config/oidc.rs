//! The identity provider, and the website that browsers return to.

use std::fmt;

use clap::Args;

use super::problems::{Problems, given};

/// The settings of the sign-in by an identity provider.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Identity provider")]
pub struct OidcArgs {
    /// The identity provider to sign in by: the issuer of an OpenID Connect provider, exactly as it
    /// calls itself. Needs QS_IDP_CLIENT_ID and QS_PUBLIC_URL; the provider must know the redirect
    /// address QS_PUBLIC_URL/user/auth/idp/callback.
    #[arg(long, env = "QS_IDP_ISSUER")]
    pub idp_issuer: Option<String>,
    /// The identifier of this service at the identity provider.
    #[arg(long, env = "QS_IDP_CLIENT_ID")]
    pub idp_client_id: Option<String>,
    /// The secret of this service at the identity provider; a public client has none.
    #[arg(long, env = "QS_IDP_CLIENT_SECRET", hide_env_values = true)]
    pub idp_client_secret: Option<String>,
    /// The website that browsers are sent to after a sign-in by the identity provider, as in
    /// `https://www.example.com`. Without one the service has the pages itself.
    #[arg(long, env = "QS_WEBSITE_URL")]
    pub website_url: Option<String>,
}

/// The settings of the sign-in by an identity provider, checked.
#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The identity provider, if there is one.
    pub provider: Option<IdpRoute>,
    /// The website that browsers are sent to, without a slash at the end.
    pub website_url: Option<String>,
}

/// An identity provider, with the registration of this service there.
#[derive(Clone, PartialEq, Eq)]
pub struct IdpRoute {
    /// The issuer, exactly as the provider names itself in its tokens.
    pub issuer: String,
    /// The client id of this service at the provider.
    pub client_id: String,
    /// The client secret of this service; `None` for a public client.
    pub client_secret: Option<String>,
    /// The address at which browsers reach this service, without a slash at the end.
    pub public_url: String,
}

impl fmt::Debug for IdpRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdpRoute({}, {}, …)", self.issuer, self.client_id)
    }
}

impl OidcArgs {
    pub(super) fn check(&self, public_url: Option<&str>, problems: &mut Problems) -> OidcSettings {
        let provider = self.provider(public_url, problems);
        let website_url = given(self.website_url.as_deref());
        let website_url = website_url.map(|url| problems.base_url("QS_WEBSITE_URL", url));
        OidcSettings { provider, website_url }
    }

    /// Checks the provider: issuer, identifier and the service's own address are set, or none.
    fn provider(&self, public_url: Option<&str>, problems: &mut Problems) -> Option<IdpRoute> {
        let issuer = given(self.idp_issuer.as_deref());
        let client_id = given(self.idp_client_id.as_deref());
        let client_secret = given(self.idp_client_secret.as_deref()).map(str::to_owned);
        let Some(issuer) = issuer else {
            for (name, is_set) in [
                ("QS_IDP_CLIENT_ID", client_id.is_some()),
                ("QS_IDP_CLIENT_SECRET", client_secret.is_some()),
            ] {
                if is_set {
                    problems.add_missing(name, "QS_IDP_ISSUER");
                }
            }
            return None;
        };
        // A slash at the end belongs to the issuer's name.
        problems.base_url("QS_IDP_ISSUER", issuer);
        for (name, is_set) in
            [("QS_IDP_CLIENT_ID", client_id.is_some()), ("QS_PUBLIC_URL", public_url.is_some())]
        {
            if !is_set {
                problems.add_missing("QS_IDP_ISSUER", name);
            }
        }
        let public_url = public_url?.to_owned();
        let (issuer, client_id) = (issuer.to_owned(), client_id?.to_owned());
        Some(IdpRoute { issuer, client_id, client_secret, public_url })
    }
}

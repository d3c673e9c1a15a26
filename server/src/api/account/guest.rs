//! Temporary keys without registration.

use std::time::Duration;

use account_core::Device;
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{fault, refuse, refuse_faults},
    fields::{EXAMPLE_SECOND, text},
};
use crate::api::own_refusals::{OwnRefusal, OwnRefusals, own};
use crate::http::{
    Anonymous, Answer, ApiError, Body, JsonString, Moment, Tag, Text, json_string::moment,
};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[("create_guest_key", &[TOO_MANY_GUESTS])];

const TOO_MANY_GUESTS: OwnRefusal = own(
    "too_many_guest_keys",
    "The guest keys of this network, of this device or of all have been made today.",
    || ApiError::TooManyGuests { retry_after: Duration::from_secs(3600) },
);

/// The endpoint of guest keys.
#[derive(Default)]
pub struct Guests;

#[OpenApi(prefix_path = "/guest", tag = "Tag::Guest")]
impl Guests {
    /// Create a guest key.
    ///
    /// Valid for 24 hours, for FREE endpoints, with 60 requests an hour and 50 a day. The keys of
    /// one network share a budget of requests. The number of keys created in a day is limited by
    /// network, by device and in total.
    #[oai(path = "/create", method = "post", operation_id = "create_guest_key")]
    async fn create(
        &self,
        anonymous: Anonymous,
        body: Body<GuestForm>,
    ) -> Result<Answer<GuestKey>> {
        let call = anonymous.context();
        let device = Device::parse(&body.device_id, text(&body.device_name), text(&body.platform))
            .map_err(|errors| refuse_faults(call, errors.iter().map(fault).collect()))?;
        let issued = call
            .state
            .accounts
            .create_guest(device, call.address, call.state.settings.guest_keys, call.at)
            .await;
        let issued = issued.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(GuestKey {
            api_key: issued.api_key.expose().to_owned(),
            credit_balance: issued.credit_balance,
            expires_at: JsonString(issued.expires_at),
            requests_today: 0,
        }))
    }
}

/// The device of a guest key.
#[derive(Clone, Object)]
#[oai(rename = "GuestRequest", example)]
pub struct GuestForm {
    /// A device id that the client chooses; 1 to 255 characters.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub device_id: Text,
    /// The name of the device, as its owner calls the device.
    #[oai(nullable, validator(max_length = 255))]
    pub device_name: Option<Text>,
    /// The operating system of the device, as in `linux`.
    #[oai(nullable, validator(max_length = 255))]
    pub platform: Option<Text>,
}

/// A guest key.
#[derive(Clone, Object)]
#[oai(rename = "GuestKey", example)]
pub struct GuestKey {
    /// The key, for the header `X-API-Key`.
    pub api_key: String,
    /// Credits of the key.
    pub credit_balance: u64,
    /// The expiry of the key.
    pub expires_at: Moment,
    /// Requests made with the key today.
    pub requests_today: u32,
}

impl Example for GuestForm {
    fn example() -> Self {
        Self {
            device_id: "workstation-7".into(),
            device_name: Some("Desk by the window".into()),
            platform: Some("linux".into()),
        }
    }
}

impl Example for GuestKey {
    fn example() -> Self {
        Self {
            api_key: "fk_guest_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            credit_balance: account_core::tier::GUEST_CREDITS,
            expires_at: moment(EXAMPLE_SECOND),
            requests_today: 0,
        }
    }
}

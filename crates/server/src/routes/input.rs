//! Reading what a request says, with a refusal that says what is wrong with it.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header;
use axum::http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::api::{CALL_MAX, Denial, Kind};

/// How long the body of a request may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// So many long bodies are under way at a time, from their first byte to their answer, and what is
/// long: they are held in memory.
const LONG_MAX: usize = 4;
static LONG: Semaphore = Semaphore::const_new(LONG_MAX);
const SHORT: usize = 1 << 20;

/// The longest key of a submission.
const KEY_MAX: usize = 128;

/// What the query says.
pub(crate) struct Asking<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asking<T> {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Denial> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(told)) => Ok(Self(told)),
            Err(error) => Err(Denial::new(Kind::Malformed, error.body_text())),
        }
    }
}

/// What stands in the path.
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Denial> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(told)) => Ok(Self(told)),
            Err(error) => Err(Denial::new(Kind::Malformed, error.body_text())),
        }
    }
}

/// What names a submission, where something does.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Denial> {
        let Some(given) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        match given.to_str() {
            Ok(key) if (1..=KEY_MAX).contains(&key.len()) => Ok(Self(Some(key.to_owned()))),
            _ => {
                let why = format!("an Idempotency-Key has 1 to {KEY_MAX} letters of ASCII");
                Err(Denial::new(Kind::Malformed, why))
            }
        }
    }
}

/// The body, as JSON, and what lets a long one be held in memory: until the answer is known.
pub(crate) struct Told<T>(pub(crate) T, pub(crate) Option<Room>);

/// Room for one long body.
pub(crate) type Room = SemaphorePermit<'static>;

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Told<T> {
    type Rejection = Denial;

    async fn from_request(request: Request, _: &S) -> Result<Self, Denial> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let why = "send JSON, and say so: Content-Type: application/json";
            return Err(Denial::new(Kind::Foreign, why));
        }
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        let is_short = length.is_some_and(|length| length <= SHORT);
        let room = match is_short {
            true => None,
            false => Some(room(&LONG, PATIENCE).await?),
        };
        let bytes = read(request.into_body()).await?;
        serde_json::from_slice(&bytes).map(|told| Self(told, room)).map_err(|error| {
            let kind = match error.classify() {
                Category::Data => Kind::Invalid,
                _ => Kind::Malformed,
            };
            Denial::new(kind, format!("understand the call: {error}"))
        })
    }
}

/// Room for a long body, once there is.
async fn room(rooms: &'static Semaphore, patience: Duration) -> Result<Room, Denial> {
    match tokio::time::timeout(patience, rooms.acquire()).await {
        Ok(Ok(room)) => Ok(room),
        _ => {
            let why = format!("{LONG_MAX} long calls are under way already; try again later");
            Err(Denial::new(Kind::Unavailable, why))
        }
    }
}

async fn read(body: Body) -> Result<Bytes, Denial> {
    let collected = Limited::new(body, CALL_MAX).collect();
    match tokio::time::timeout(PATIENCE, collected).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let why = format!("a call has at most {CALL_MAX} bytes; ask in parts");
            Err(Denial::new(Kind::Large, why))
        }
        Ok(Err(error)) => Err(Denial::new(Kind::Malformed, format!("read the call: {error}"))),
        Err(_) => {
            let why = format!("the call did not come within {} s", PATIENCE.as_secs());
            Err(Denial::new(Kind::Slow, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    static ONE: Semaphore = Semaphore::const_new(1);

    fn told(length: usize) -> Request {
        let body = Body::from(format!("\"{}\"", "x".repeat(length - 2)));
        let request =
            axum::http::Request::post("/").header(header::CONTENT_TYPE, "application/json");
        request.header(header::CONTENT_LENGTH, length).body(body).unwrap()
    }

    #[tokio::test]
    async fn a_long_body_has_its_room_until_it_is_answered() {
        let Told(_, room) = Told::<Value>::from_request(told(SHORT), &()).await.unwrap();
        assert!(room.is_none(), "a short one needs none");
        let before = LONG.available_permits();
        let Told(_, room) = Told::<Value>::from_request(told(SHORT + 1), &()).await.unwrap();
        assert_eq!(LONG.available_permits(), before - 1);
        drop(room);
        assert_eq!(LONG.available_permits(), before);
    }

    #[tokio::test]
    async fn whoever_finds_no_room_for_long_is_told_so() {
        let _taken = ONE.acquire().await.unwrap();
        assert_eq!(room(&ONE, Duration::from_millis(1)).await.unwrap_err().kind, Kind::Unavailable);
    }
}

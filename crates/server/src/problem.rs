//! Refusals as HTTP has them: a status and a problem document of RFC 9457.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::{Denial, Kind, Problem};

/// What to say after so many seconds again, where it was asked too often or nobody can answer.
const AGAIN: HeaderValue = HeaderValue::from_static("1");

impl Kind {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Missing => StatusCode::NOT_FOUND,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Foreign => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Large => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Often => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// A problem document.
pub(crate) fn respond(status: StatusCode, detail: String) -> Response {
    let title = status.canonical_reason().unwrap_or("Problem").to_owned();
    let problem = Problem { status: status.as_u16(), title, detail };
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, AGAIN);
        }
        _ => {}
    }
    response
}

impl IntoResponse for Denial {
    fn into_response(self) -> Response {
        respond(self.kind.status(), self.why)
    }
}

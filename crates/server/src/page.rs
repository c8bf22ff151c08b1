//! The dashboard's files, as they are: no build step, and nothing from elsewhere.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Nothing but these files, and no frame around them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Every file with its path and kind.
const FILES: [(&str, &str, &str); 1] =
    [("/", "text/html; charset=utf-8", include_str!("page/index.html"))];

/// The file of a path, where there is one.
pub(crate) fn find(path: &str) -> Option<Response> {
    let (_, kind, text) = FILES.iter().find(|(known, _, _)| *known == path)?;
    let headers = [
        (header::CONTENT_TYPE, *kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    let headers = headers
        .map(|(name, value): (HeaderName, &'static str)| (name, HeaderValue::from_static(value)));
    Some((StatusCode::OK, headers, *text).into_response())
}

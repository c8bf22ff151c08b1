//! The dashboard's files, as they are: no build step, and nothing from elsewhere.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Nothing but these files, and no frame around them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Kinds of files.
const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file with its path and kind.
const FILES: [(&str, &str, &str); 27] = [
    ("/api.js", SCRIPT, include_str!("page/api.js")),
    ("/app.js", SCRIPT, include_str!("page/app.js")),
    ("/charts.css", STYLE, include_str!("page/charts.css")),
    ("/dom.js", SCRIPT, include_str!("page/dom.js")),
    ("/fetching.js", SCRIPT, include_str!("page/fetching.js")),
    ("/fleet.js", SCRIPT, include_str!("page/fleet.js")),
    ("/forecasts.js", SCRIPT, include_str!("page/forecasts.js")),
    ("/format.js", SCRIPT, include_str!("page/format.js")),
    ("/front.js", SCRIPT, include_str!("page/front.js")),
    ("/happenings.js", SCRIPT, include_str!("page/happenings.js")),
    ("/", HTML, include_str!("page/index.html")),
    ("/job.js", SCRIPT, include_str!("page/job.js")),
    ("/list.js", SCRIPT, include_str!("page/list.js")),
    ("/live.js", SCRIPT, include_str!("page/live.js")),
    ("/log.js", SCRIPT, include_str!("page/log.js")),
    ("/node.js", SCRIPT, include_str!("page/node.js")),
    ("/panels.css", STYLE, include_str!("page/panels.css")),
    ("/policy.js", SCRIPT, include_str!("page/policy.js")),
    ("/queue.js", SCRIPT, include_str!("page/queue.js")),
    ("/rights.js", SCRIPT, include_str!("page/rights.js")),
    ("/shell.js", SCRIPT, include_str!("page/shell.js")),
    ("/store.js", SCRIPT, include_str!("page/store.js")),
    ("/style.css", STYLE, include_str!("page/style.css")),
    ("/submit.js", SCRIPT, include_str!("page/submit.js")),
    ("/theme.js", SCRIPT, include_str!("page/theme.js")),
    ("/timeline.js", SCRIPT, include_str!("page/timeline.js")),
    ("/why.js", SCRIPT, include_str!("page/why.js")),
];

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

//! How the daemon is, what happens, and its end.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use super::ask;
use super::input::Told;
use crate::api::{AlertView, Call, Denial, DownRequest, Kind, Running, StatusView, Whoami};
use crate::door::{Admin, House, Reader, Visitor, Watcher};
use crate::metrics as measured;

/// How often a client that hears nothing is told that all is well.
const PULSE: Duration = Duration::from_secs(15);

/// How the daemon and its fleet are.
#[utoipa::path(get, path = "/v1/status", responses(
    (status = 200, description = "How it is.", body = StatusView),
))]
pub(crate) async fn status(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Status, caller).await
}

/// Who asks, and what they may.
#[utoipa::path(get, path = "/v1/whoami", responses(
    (status = 200, description = "Who asks.", body = Whoami),
))]
pub(crate) async fn whoami(visitor: Visitor) -> Json<Whoami> {
    Json(Whoami { scope: visitor.scope, user: visitor.caller.user.uid })
}

/// What happens, as server-sent events. The header `Last-Event-ID` goes on after that event.
#[utoipa::path(get, path = "/v1/events", params(
    ("Last-Event-ID" = Option<String>, Header, description = "The last event that was seen."),
), responses(
    (status = 200, description = "Events, each an `EventView`.", body = String,
     content_type = "text/event-stream"),
))]
pub(crate) async fn events(
    State(house): State<Arc<House>>,
    Watcher { proof, caller }: Watcher,
    headers: HeaderMap,
) -> Result<Response, Denial> {
    let places = &house.listeners[usize::from(caller.is_operator)];
    let Some(place) = places.take(caller.user.uid) else {
        let why = "too many clients listen already, of yours or of all; try again later";
        return Err(Denial::new(Kind::Unavailable, why));
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let mut listener = house.happened.listen(last);
    // One piece waits for the client at most: whoever is slower than that is told to ask again.
    let (pieces, stream) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        let _place = place;
        if pieces.send(Bytes::from_static(b": welcome\n\n")).await.is_err() {
            return;
        }
        let lapse = house.lapse(proof.as_ref());
        tokio::pin!(lapse);
        loop {
            let piece = tokio::select! {
                () = pieces.closed() => return,
                () = &mut lapse => return,
                heard = tokio::time::timeout(PULSE, listener.next()) => match heard {
                    Ok(Some(text)) => Bytes::from(text),
                    Ok(None) => return,
                    Err(_) => Bytes::from_static(b": all is well\n\n"),
                },
            };
            if pieces.send(piece).await.is_err() {
                return;
            }
        }
    });
    let stream = ReceiverStream::new(stream).map(Ok::<_, std::convert::Infallible>);
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(stream)).into_response())
}

/// The rules of alerts, and how each stands.
#[utoipa::path(get, path = "/v1/alerts", responses(
    (status = 200, description = "The alerts.", body = Vec<AlertView>),
))]
pub(crate) async fn alerts(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Alerts, caller).await
}

/// What is measured, in the text of OpenMetrics.
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, description = "The metrics.", body = String,
     content_type = "application/openmetrics-text"),
))]
pub(crate) async fn metrics(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
) -> Result<Response, Denial> {
    let families = house.counter.figures(caller).await?;
    let text = measured::text(families).map_err(|error| {
        Denial::new(Kind::Unavailable, format!("write the metrics down: {error}"))
    })?;
    Ok(([(header::CONTENT_TYPE, measured::CONTENT_TYPE)], text).into_response())
}

/// End the daemon.
#[utoipa::path(post, path = "/v1/down", request_body = DownRequest, responses(
    (status = 200, description = "It ends; so many tasks run.", body = Running),
))]
pub(crate) async fn down(
    State(house): State<Arc<House>>,
    Admin(caller): Admin,
    Told(DownRequest { how }, _room): Told<DownRequest>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Down { how }, caller).await
}

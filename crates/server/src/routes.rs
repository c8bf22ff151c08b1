//! The routes of the API, and the document that describes them.

mod document;
mod input;
mod jobs;
mod nodes;
mod tokens;
mod watching;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Call, Caller, Denial, Kind};
use crate::door::{Anybody, House};
use crate::{page, problem};

/// The API as one service.
pub(crate) fn router(house: Arc<House>) -> Router {
    let (router, mut document) = OpenApiRouter::with_openapi(document::outline())
        .routes(routes!(jobs::list, jobs::submit))
        .routes(routes!(jobs::show))
        .routes(routes!(jobs::explain))
        .routes(routes!(jobs::output))
        .routes(routes!(jobs::end))
        .routes(routes!(jobs::cancel))
        .routes(routes!(jobs::hold))
        .routes(routes!(jobs::release))
        .routes(routes!(jobs::plan))
        .routes(routes!(nodes::list))
        .routes(routes!(nodes::drain))
        .routes(routes!(nodes::resume))
        .routes(routes!(nodes::policy, nodes::apply))
        .routes(routes!(nodes::timeline))
        .routes(routes!(nodes::front))
        .routes(routes!(watching::status))
        .routes(routes!(watching::whoami))
        .routes(routes!(watching::events))
        .routes(routes!(watching::alerts))
        .routes(routes!(watching::metrics))
        .routes(routes!(watching::down))
        .routes(routes!(tokens::list, tokens::make))
        .routes(routes!(tokens::revoke))
        .split_for_parts();
    house.version.clone_into(&mut document.info.version);
    let document = Arc::new(document::complete(document));
    let describe = move || async move { Json(Arc::clone(&document)).into_response() };
    router
        .route("/openapi.json", routing::get(describe))
        .route("/health", routing::get(health))
        .fallback(other)
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(Arc::clone(&house), count))
        .with_state(house)
}

/// The longest that the daemon may leave a call lying: turns of large fleets take their time.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// Whether the daemon takes calls up. Anybody may ask, so that the daemon itself is not.
async fn health(State(house): State<Arc<House>>, Anybody: Anybody) -> Result<&'static str, Denial> {
    let idle = house.counter.idle(Instant::now());
    match idle > IDLE_MAX {
        false => Ok("ok\n"),
        true => {
            let why = format!("the daemon has taken no call up for {} s", idle.as_secs());
            Err(Denial::new(Kind::Unavailable, why))
        }
    }
}

async fn other(method: Method, uri: Uri) -> Response {
    let file = (method == Method::GET).then(|| page::find(uri.path())).flatten();
    file.unwrap_or_else(|| {
        let why = format!("there is nothing at {}; /openapi.json lists what there is", uri.path());
        problem::respond(StatusCode::NOT_FOUND, why)
    })
}

async fn not_allowed(method: Method, uri: Uri) -> Response {
    let why = format!("{} does not take {method}; /openapi.json lists what it does", uri.path());
    problem::respond(StatusCode::METHOD_NOT_ALLOWED, why)
}

/// Counts what is answered, and how long that took.
async fn count(State(house): State<Arc<House>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let path = request.uri().path();
    // These wait on purpose: how long they take says nothing.
    let waits = path.ends_with("/end") || path == "/v1/events";
    let response = next.run(request).await;
    let took = (!waits).then(|| began.elapsed());
    house.traffic.count(response.status().as_u16(), took);
    response
}

/// Asks the daemon, and answers with what it says.
async fn ask(house: &House, call: Call, caller: Caller) -> Result<Json<Value>, Denial> {
    house.counter.ask(call, caller).await.map(Json)
}

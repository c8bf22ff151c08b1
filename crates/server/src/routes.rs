//! The routes of the API, and the document that describes them.

mod input;
mod jobs;
mod nodes;
mod tokens;
mod watching;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing};
use serde_json::Value;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Call, Caller, Denial, Problem};
use crate::door::House;
use crate::{page, problem};

/// How a call may be refused: any; one that names something in its path, query or body; one that
/// has a body.
const ANY: [(&str, &str); 4] = [
    ("401", "Nobody is known by this token."),
    ("403", "Whoever asks may not."),
    ("429", "Asked too often."),
    ("503", "It cannot be done at the moment."),
];
const NAMING: [(&str, &str); 3] = [
    ("400", "It cannot be read."),
    ("404", "There is no such thing."),
    ("409", "Things are not such that it can be done."),
];
const TELLING: [(&str, &str); 4] = [
    ("408", "The body did not come in time."),
    ("413", "The body is too long."),
    ("415", "The body is not JSON."),
    ("422", "What is asked makes no sense."),
];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Motley",
        description = "What a daemon of Motley is asked, and what it answers. Over its Unix \
                       socket the system says who asks; over TCP a token does.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(Problem, crate::api::EventView)),
    security(("token" = []))
)]
struct Document;

/// The API as one service.
pub(crate) fn router(house: Arc<House>) -> Router {
    let (router, mut document) = OpenApiRouter::with_openapi(Document::openapi())
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
    complete(&mut document);
    let document = Arc::new(document);
    let describe = move || async move { Json(Arc::clone(&document)).into_response() };
    router
        .route("/openapi.json", routing::get(describe))
        .route("/health", routing::get(health))
        .fallback(other)
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(Arc::clone(&house), count))
        .with_state(house)
}

/// Adds what every call has: how a token is sent, and how any call may be refused.
fn complete(document: &mut utoipa::openapi::OpenApi) {
    let token = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    if let Some(components) = &mut document.components {
        components.add_security_scheme("token", token);
    }
    for item in document.paths.paths.values_mut() {
        let calls = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
        for call in calls.into_iter().flatten() {
            let has_body = call.request_body.is_some();
            let names = has_body || call.parameters.as_ref().is_some_and(|it| !it.is_empty());
            let naming = NAMING.iter().filter(|_| names);
            let telling = TELLING.iter().filter(|_| has_body);
            for (status, what) in ANY.iter().chain(naming).chain(telling) {
                call.responses.responses.insert((*status).to_owned(), refusal(what).into());
            }
        }
    }
}

fn refusal(what: &str) -> utoipa::openapi::Response {
    let problem = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(problem)).build();
    let response = ResponseBuilder::new().description(what);
    response.content("application/problem+json", content).build()
}

/// Whether the daemon answers at all. Anybody may ask.
async fn health(State(house): State<Arc<House>>) -> Response {
    match house.counter.ask(Call::Alive, Caller::default()).await {
        Ok(_) => "ok\n".into_response(),
        Err(refusal) => refusal.into_response(),
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
    // These wait on purpose.
    let waits = request.uri().path().ends_with("/end");
    let response = next.run(request).await;
    if !waits {
        house.traffic.count(response.status().as_u16(), began.elapsed());
    }
    response
}

/// Asks the daemon, and answers with what it says.
async fn ask(house: &House, call: Call, caller: Caller) -> Result<Json<Value>, Denial> {
    house.counter.ask(call, caller).await.map(Json)
}

//! The document that describes the API: what the routes say of themselves, and what holds for all.

use serde_json::Value;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Described, Ref, ResponseBuilder};

use super::jobs::{JobState, Stream};
use crate::api::Problem;

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
    components(schemas(Problem, crate::api::EventView, JobState, Stream)),
    security(("token" = []))
)]
struct Document;

/// What the document begins with.
pub(super) fn outline() -> Described {
    Document::openapi()
}

/// The document, with what every call has: how a token is sent, and how any call may be refused.
pub(super) fn complete(mut document: Described) -> Value {
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
    let mut document = serde_json::to_value(document).unwrap_or_default();
    bound(&mut document);
    document
}

/// Says of every number without a sign how large it may be: where that is left to its width, many
/// tools take it that it has one.
fn bound(part: &mut Value) {
    match part {
        Value::Array(parts) => parts.iter_mut().for_each(bound),
        Value::Object(members) => {
            members.values_mut().for_each(bound);
            if members.get("minimum") != Some(&Value::from(0)) {
                return;
            }
            let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
            // The names are those of the registry of OpenAPI; utoipa writes them otherwise.
            let (name, most) = match format {
                "u-int8" => ("uint8", u64::from(u8::MAX)),
                "u-int16" => ("uint16", u64::from(u16::MAX)),
                "u-int32" => ("uint32", u64::from(u32::MAX)),
                _ => ("uint64", u64::MAX),
            };
            if members.get("type").is_some_and(is_whole) {
                members.insert("format".to_owned(), name.into());
                members.entry("maximum").or_insert_with(|| most.into());
            }
        }
        _ => {}
    }
}

/// Whether this is the type of a whole number, or of one that may be missing.
fn is_whole(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(is_whole),
        _ => kind == "integer",
    }
}

fn refusal(what: &str) -> utoipa::openapi::Response {
    let problem = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(problem)).build();
    let response = ResponseBuilder::new().description(what);
    response.content("application/problem+json", content).build()
}

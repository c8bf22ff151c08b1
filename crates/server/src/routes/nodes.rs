//! Nodes, the policy, and what is expected.

#![expect(unused_qualifications, reason = "the macro of utoipa writes paths in full")]

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::ask;
use super::input::{Asking, Named, Told};
use super::jobs::within;
use crate::api::{
    Call, Denial, FrontView, NODES_MAX, NodeName, NodePage, PolicyName, PolicyText, PolicyView,
    Problem, TimelineView,
};
use crate::door::{Admin, House, Reader};

/// How many nodes are listed where nobody says.
const LISTED: usize = 1_000;

/// Which nodes to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NodesAsked {
    /// From this one on, counted from 0.
    #[serde(default)]
    from: usize,
    /// At most so many: 1 to 10,000.
    #[param(minimum = 1, maximum = 10_000)]
    limit: Option<usize>,
}

/// List the nodes.
#[utoipa::path(get, path = "/v1/nodes", operation_id = "list_nodes", params(NodesAsked), responses(
    (status = 200, description = "Some of the nodes.", body = NodePage, links(
        ("drain" = (operation_id = "drain", parameters(("node" = "$response.body#/nodes/0/name")))),
        ("resume" = (
            operation_id = "resume", parameters(("node" = "$response.body#/nodes/0/name")),
        )),
    )),
))]
pub(crate) async fn list(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
    Asking(NodesAsked { from, limit }): Asking<NodesAsked>,
) -> Result<Json<Value>, Denial> {
    let most = within(limit.unwrap_or(LISTED), NODES_MAX)?;
    ask(&house, Call::Nodes { from, most }, caller).await
}

/// Start nothing more on a node; what runs goes on.
#[utoipa::path(post, path = "/v1/nodes/{node}/drain", params(
    ("node" = String, Path, description = "Its name."),
), responses((status = 200, description = "It is drained.", body = NodeName)))]
pub(crate) async fn drain(
    State(house): State<Arc<House>>,
    Admin(caller): Admin,
    Named(node): Named<String>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Drain { node }, caller).await
}

/// Let a node that was drained take work.
#[utoipa::path(post, path = "/v1/nodes/{node}/resume", params(
    ("node" = String, Path, description = "Its name."),
), responses((status = 200, description = "It takes work.", body = NodeName)))]
pub(crate) async fn resume(
    State(house): State<Arc<House>>,
    Admin(caller): Admin,
    Named(node): Named<String>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Resume { node }, caller).await
}

/// The policy in force, and its weights at the moment.
#[utoipa::path(get, path = "/v1/policy", responses(
    (status = 200, description = "The policy.", body = PolicyView),
))]
pub(crate) async fn policy(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Policy, caller).await
}

/// Plan by this policy from now on.
#[utoipa::path(put, path = "/v1/policy", request_body = PolicyText, responses(
    (status = 200, description = "It is in force.", body = PolicyName),
))]
pub(crate) async fn apply(
    State(house): State<Arc<House>>,
    Admin(caller): Admin,
    Told(PolicyText { text }, _room): Told<PolicyText>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Apply { text }, caller).await
}

/// Which part of the time line.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TimelineAsked {
    /// Without what ended before this moment, in microseconds since 1970.
    since: Option<u64>,
}

/// What ran where lately, what runs, and what is expected to.
#[utoipa::path(get, path = "/v1/timeline", params(TimelineAsked), responses(
    (status = 200, description = "The time line.", body = TimelineView),
))]
pub(crate) async fn timeline(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
    Asking(TimelineAsked { since }): Asking<TimelineAsked>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Timeline { since }, caller).await
}

/// What other weights of the policy would make of the jobs that wait.
#[utoipa::path(get, path = "/v1/front", responses(
    (status = 200, description = "The front.", body = FrontView),
    (status = 409, description = "There is nothing to trade.", body = Problem,
     content_type = "application/problem+json"),
))]
pub(crate) async fn front(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Front, caller).await
}

//! Tokens: listing, making, revoking.

use std::sync::{Arc, PoisonError};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::input::{Named, Told};
use crate::api::{Denial, Kind, Scope, TokenMade, TokenRequest, TokenView};
use crate::door::{Admin, House, Owner};
use crate::token::{TokenError, Wanted};

/// The longest that a token holds whose end is told, in seconds: a hundred years.
const HOLDS_MAX: u64 = 3_155_760_000;

impl From<TokenError> for Denial {
    fn from(error: TokenError) -> Self {
        let kind = match &error {
            TokenError::Taken(_) | TokenError::Full => Kind::Conflict,
            TokenError::Name(_) => Kind::Invalid,
            TokenError::Missing(_) => Kind::Missing,
            TokenError::File { .. } | TokenError::Garbled { .. } => Kind::Unavailable,
        };
        let why = match &error {
            TokenError::File { source, .. } => format!("{error}: {source}"),
            _ => error.to_string(),
        };
        Self::new(kind, why)
    }
}

/// List the tokens.
#[utoipa::path(get, path = "/v1/tokens", operation_id = "list_tokens", responses(
    (status = 200, description = "The tokens.", body = Vec<TokenView>),
))]
pub(crate) async fn list(State(house): State<Arc<House>>, Admin(_): Admin) -> Json<Vec<TokenView>> {
    Json(house.tokens.read().unwrap_or_else(PoisonError::into_inner).list())
}

/// Make a token that acts as whoever asks; over TCP this needs the scope admin.
#[utoipa::path(post, path = "/v1/tokens", request_body = TokenRequest, responses(
    (status = 201, description = "The token, with its secret.", body = TokenMade, links(
        ("revoke" = (operation_id = "revoke", parameters(("name" = "$response.body#/token/name")))),
    )),
))]
pub(crate) async fn make(
    State(house): State<Arc<House>>,
    Owner(caller): Owner,
    Told(TokenRequest { name, scope, seconds }, _room): Told<TokenRequest>,
) -> Result<(StatusCode, Json<TokenMade>), Denial> {
    if scope == Scope::Admin && !caller.is_operator {
        let why = "only who may change everything makes a token that may";
        return Err(Denial::new(Kind::Forbidden, why));
    }
    if seconds.is_some_and(|seconds| !(1..=HOLDS_MAX).contains(&seconds)) {
        let why = format!("a token holds for 1 to {HOLDS_MAX} seconds, or until it is revoked");
        return Err(Denial::new(Kind::Invalid, why));
    }
    let wanted = Wanted { name, scope, user: caller.user, seconds };
    let made = on_disk(&house, move |tokens| tokens.make(wanted)).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Revoke a token: it holds no more from now on; over TCP this needs the scope admin.
#[utoipa::path(delete, path = "/v1/tokens/{name}", params(
    ("name" = String, Path, description = "Its name."),
), responses((status = 200, description = "The token that was revoked.", body = TokenView)))]
pub(crate) async fn revoke(
    State(house): State<Arc<House>>,
    Owner(caller): Owner,
    Named(name): Named<String>,
) -> Result<Json<TokenView>, Denial> {
    let owner = house.tokens.read().unwrap_or_else(PoisonError::into_inner).owner(&name);
    if owner.is_some_and(|owner| owner != caller.user.uid) && !caller.is_operator {
        return Err(Denial::new(Kind::Forbidden, "this token belongs to another user"));
    }
    on_disk(&house, move |tokens| tokens.revoke(&name)).await.map(Json)
}

/// Changes tokens where waiting for the disk holds up nobody else.
async fn on_disk<T: Send + 'static>(
    house: &Arc<House>,
    change: impl FnOnce(&mut crate::token::Tokens) -> Result<T, TokenError> + Send + 'static,
) -> Result<T, Denial> {
    let house = Arc::clone(house);
    let changed = tokio::task::spawn_blocking(move || {
        let changed = change(&mut house.tokens.write().unwrap_or_else(PoisonError::into_inner));
        // Whoever watches by a token sees whether it still holds.
        house.tokens_changed.send_replace(());
        changed
    });
    match changed.await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Denial::new(Kind::Unavailable, format!("change tokens: {error}"))),
    }
}

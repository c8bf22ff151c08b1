//! The door: who is there, and what they may.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use fleet::User;
use tokio::sync::watch;

use crate::api::{Caller, Denial, Kind, Scope};
use crate::desk::Counter;
use crate::events::Happened;
use crate::metrics::Traffic;
use crate::pace::{Limit, Pace, Who};
use crate::places::{Most, Places};
use crate::serve::OutputSource;
use crate::token::{Proof, Tokens, now};

/// How often one user may ask: far above what people and their scripts need.
const USERS: Limit = Limit { burst: 5_000.0, each_second: 2_000.0 };

/// How often one address may ask without a token that holds.
const STRANGERS: Limit = Limit { burst: 50.0, each_second: 5.0 };

/// The most that listen for events at a time: users, and operators, whom nobody is to lock out.
const LISTENERS_MAX: Most = Most { all: 200, each: 100 };
const OPERATORS_MAX: Most = Most { all: 50, each: 50 };

/// How often it is looked whether a token still holds, where nobody says otherwise: the clock of
/// the system may be set.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peer {
    /// A user of this machine; the system says who.
    User(User),
    /// Somebody who comes from there.
    Stranger(IpAddr),
}

/// What all requests share.
pub(crate) struct House {
    pub(crate) counter: Counter,
    pub(crate) tokens: RwLock<Tokens>,
    /// Told whenever a token was made or revoked.
    pub(crate) tokens_changed: watch::Sender<()>,
    pub(crate) happened: Happened,
    pub(crate) output: OutputSource,
    pub(crate) version: &'static str,
    pub(crate) traffic: Arc<Traffic>,
    /// Places of those who listen for events: of users, and of operators.
    pub(crate) listeners: [Places; 2],
    users: Pace,
    strangers: Pace,
}

impl House {
    pub(crate) fn new(
        counter: Counter,
        tokens: Tokens,
        happened: Happened,
        (version, output): (&'static str, OutputSource),
    ) -> Self {
        let (users, strangers) = (Pace::new(USERS), Pace::new(STRANGERS));
        let tokens = RwLock::new(tokens);
        let traffic = Arc::default();
        let (tokens_changed, _) = watch::channel(());
        Self {
            counter,
            tokens,
            tokens_changed,
            happened,
            output,
            version,
            traffic,
            listeners: [Places::new(LISTENERS_MAX), Places::new(OPERATORS_MAX)],
            users,
            strangers,
        }
    }

    /// Returns once what was proved does not hold any more; never where the system said who asks.
    pub(crate) async fn lapse(&self, proof: Option<&Proof>) {
        let Some(proof) = proof else { return std::future::pending().await };
        let mut changed = self.tokens_changed.subscribe();
        loop {
            let rest = {
                let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
                let Some(token) = tokens.find(proof, now()) else { return };
                token.expires.map_or(LOOK_AGAIN, |expires| {
                    Duration::from_micros(expires.saturating_sub(now())).min(LOOK_AGAIN)
                })
            };
            let _ = tokio::time::timeout(rest, changed.changed()).await;
        }
    }

    fn admit(&self, parts: &Parts) -> Result<Visitor, Denial> {
        let visitor = match parts.extensions.get::<Peer>() {
            Some(Peer::User(user)) => user_of_machine(*user)?,
            Some(Peer::Stranger(address)) => self.bearer(parts, *address)?,
            None => return Err(Denial::new(Kind::Unknown, "nobody knows who asks")),
        };
        match self.users.take(Who::User(visitor.caller.user.uid), Instant::now()) {
            true => Ok(visitor),
            false => Err(Denial::new(Kind::Often, "you ask too often; slow down")),
        }
    }

    /// Refuses one who proves nothing and asks too often.
    fn slow_down(&self, who: Who) -> Result<(), Denial> {
        match self.strangers.take(who, Instant::now()) {
            true => Ok(()),
            false => Err(Denial::new(Kind::Often, "too many requests without a token that holds")),
        }
    }

    fn bearer(&self, parts: &Parts, address: IpAddr) -> Result<Visitor, Denial> {
        let given = parts.headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        let secret = given.and_then(|value| {
            let (scheme, secret) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
        });
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let proof = secret.map(Proof::of);
        if let Some(token) = proof.as_ref().and_then(|proof| tokens.find(proof, now())) {
            let caller = Caller { user: token.user(), is_operator: token.scope == Scope::Admin };
            return Ok(Visitor { caller, scope: token.scope, proof });
        }
        drop(tokens);
        self.slow_down(Who::Stranger(address))?;
        Err(Denial::new(
            Kind::Unknown,
            match secret {
                Some(_) => "this token is not known, was revoked, or holds no more",
                None => "send a token: Authorization: Bearer …; motley token create makes one",
            },
        ))
    }
}

/// Whether a user of this machine may do everything: root, and whoever runs the daemon.
pub(crate) fn is_operator(user: User) -> bool {
    user.uid == 0 || user.uid == rustix::process::geteuid().as_raw()
}

/// A user of this machine, over the socket.
fn user_of_machine(user: User) -> Result<Visitor, Denial> {
    let is_operator = is_operator(user);
    if !rustix::process::geteuid().is_root() && !is_operator {
        let other = "this daemon serves another user; start one of your own: motley up";
        return Err(Denial::new(Kind::Forbidden, other));
    }
    let scope = if is_operator { Scope::Admin } else { Scope::Submit };
    Ok(Visitor { caller: Caller { user, is_operator }, scope, proof: None })
}

/// Who asks, known and let in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    pub(crate) scope: Scope,
    /// Where the system does not say who asks.
    proof: Option<Proof>,
}

impl Visitor {
    fn need(self, scope: Scope) -> Result<Caller, Denial> {
        if self.scope >= scope {
            return Ok(self.caller);
        }
        let (has, needs) = (self.scope.name(), scope.name());
        let why = format!("this needs the scope {needs}, and you have {has}");
        Err(Denial::new(Kind::Forbidden, why))
    }
}

impl FromRequestParts<Arc<House>> for Visitor {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, Denial> {
        house.admit(parts)
    }
}

/// One who may look.
pub(crate) struct Reader(pub(crate) Caller);

/// One who may submit.
pub(crate) struct Submitter(pub(crate) Caller);

/// One who may change everything.
pub(crate) struct Admin(pub(crate) Caller);

/// Anybody, who proves nothing.
pub(crate) struct Anybody;

impl FromRequestParts<Arc<House>> for Anybody {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, Denial> {
        match parts.extensions.get::<Peer>() {
            Some(Peer::User(user)) => house.slow_down(Who::User(user.uid))?,
            Some(Peer::Stranger(address)) => house.slow_down(Who::Stranger(*address))?,
            None => return Err(Denial::new(Kind::Unknown, "nobody knows who asks")),
        }
        Ok(Self)
    }
}

/// One who may look and goes on to, for as long as what they proved holds.
pub(crate) struct Watcher {
    pub(crate) caller: Caller,
    pub(crate) proof: Option<Proof>,
}

impl FromRequestParts<Arc<House>> for Watcher {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, Denial> {
        let visitor = house.admit(parts)?;
        let proof = visitor.proof.clone();
        visitor.need(Scope::Read).map(|caller| Self { caller, proof })
    }
}

macro_rules! needs {
    ($role:ident, $scope:expr) => {
        impl FromRequestParts<Arc<House>> for $role {
            type Rejection = Denial;

            async fn from_request_parts(
                parts: &mut Parts,
                house: &Arc<House>,
            ) -> Result<Self, Denial> {
                house.admit(parts)?.need($scope).map(Self)
            }
        }
    };
}

/// One who may make and revoke tokens: a user of this machine, and a token only if it may do
/// everything. Any other could make itself a second one, which would outlive its end and its
/// revocation, and could revoke tokens that may more than it.
pub(crate) struct Owner(pub(crate) Caller);

impl FromRequestParts<Arc<House>> for Owner {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Self, Denial> {
        let scope = match parts.extensions.get::<Peer>() {
            Some(Peer::User(_)) => Scope::Submit,
            _ => Scope::Admin,
        };
        house.admit(parts)?.need(scope).map(Self)
    }
}

needs!(Reader, Scope::Read);
needs!(Submitter, Scope::Submit);
needs!(Admin, Scope::Admin);

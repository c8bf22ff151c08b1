//! Tokens: what clients over TCP prove themselves by.
//!
//! A secret is 256 bits from the system's generator, shown once. What is kept
//! is its SHA-256, which is enough for a secret that nobody can guess: a slow
//! hash protects short ones. The file is the daemon's own, written anew and
//! renamed into place for every change.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fleet::User;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::api::{Scope, TokenMade, TokenView};

/// The most tokens.
pub const TOKENS_MAX: usize = 1_000;

/// What every secret begins with, so that one that got lost is known for what it is.
const MARK: &str = "motley_";

/// The version of the file.
const FORMAT: u32 = 1;

/// One token as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    name: String,
    pub(crate) scope: Scope,
    uid: u32,
    gid: u32,
    made: u64,
    pub(crate) expires: Option<u64>,
    /// The SHA-256 of the secret, in hexadecimal.
    digest: String,
}

impl Token {
    pub(crate) fn user(&self) -> User {
        User { uid: self.uid, gid: self.gid }
    }

    fn view(&self) -> TokenView {
        TokenView {
            name: self.name.clone(),
            scope: self.scope,
            user: self.uid,
            made: self.made,
            expires: self.expires,
        }
    }
}

/// What proves who asks: the digest of a secret, so that how long it takes to compare it tells
/// nothing about the secret.
#[derive(Clone, Debug)]
pub(crate) struct Proof(String);

impl Proof {
    pub(crate) fn of(secret: &str) -> Self {
        Self(digest(secret))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: u32,
    tokens: Vec<Token>,
}

/// The tokens of one daemon.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    tokens: Vec<Token>,
}

/// A token that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) user: User,
    /// For so many seconds, where that is bounded.
    pub(crate) seconds: Option<u64>,
}

/// Why tokens cannot be read, made or revoked.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("use the tokens in {}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file says something else.
    #[error("read the tokens in {}: {what}", path.display())]
    Garbled {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The name is taken.
    #[error("there is a token {0:?} already; revoke it first, or give another name")]
    Taken(String),
    /// The name is not one.
    #[error("{0:?} is not a name for a token: give 1 to 64 letters, digits, dots, - or _")]
    Name(String),
    /// There are too many.
    #[error("there are {TOKENS_MAX} tokens already; revoke some")]
    Full,
    /// There is none of this name.
    #[error("there is no token {0:?}; motley token list shows them")]
    Missing(String),
}

impl Tokens {
    pub(crate) fn open(path: &Path) -> Result<Self, TokenError> {
        let path = path.to_owned();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path, tokens: Vec::new() });
            }
            Err(source) => return Err(TokenError::File { path, source }),
        };
        match serde_json::from_str::<Text>(&text) {
            Ok(Text { format: FORMAT, tokens }) => Ok(Self { path, tokens }),
            Ok(Text { format, .. }) => {
                let what = format!("its format is {format}, and this program reads {FORMAT}");
                Err(TokenError::Garbled { path, what })
            }
            Err(error) => Err(TokenError::Garbled { path, what: error.to_string() }),
        }
    }

    /// What a proof belongs to, if it holds at this moment.
    pub(crate) fn find(&self, proof: &Proof, now: u64) -> Option<&Token> {
        let found = self.tokens.iter().find(|token| token.digest == proof.0)?;
        found.expires.is_none_or(|expires| now < expires).then_some(found)
    }

    pub(crate) fn list(&self) -> Vec<TokenView> {
        self.tokens.iter().map(Token::view).collect()
    }

    pub(crate) fn make(&mut self, wanted: Wanted) -> Result<TokenMade, TokenError> {
        let Wanted { name, scope, user, seconds } = wanted;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_letter) {
            return Err(TokenError::Name(name));
        }
        let made = now();
        // One that holds no more makes room.
        self.tokens.retain(|token| token.expires.is_none_or(|expires| made < expires));
        if self.tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Taken(name));
        }
        if self.tokens.len() >= TOKENS_MAX {
            return Err(TokenError::Full);
        }
        let secret = secret().map_err(|source| self.failed(source))?;
        let expires = seconds.map(|seconds| made.saturating_add(seconds.saturating_mul(1_000_000)));
        let digest = digest(&secret);
        let token = Token { name, scope, uid: user.uid, gid: user.gid, made, expires, digest };
        let view = token.view();
        self.tokens.push(token);
        self.save().inspect_err(|_| drop(self.tokens.pop()))?;
        Ok(TokenMade { secret, token: view })
    }

    pub(crate) fn owner(&self, name: &str) -> Option<u32> {
        self.tokens.iter().find(|token| token.name == name).map(|token| token.uid)
    }

    pub(crate) fn revoke(&mut self, name: &str) -> Result<TokenView, TokenError> {
        let place = self.tokens.iter().position(|token| token.name == name);
        let place = place.ok_or_else(|| TokenError::Missing(name.to_owned()))?;
        let token = self.tokens.remove(place);
        match self.save() {
            Ok(()) => Ok(token.view()),
            Err(error) => {
                self.tokens.insert(place, token);
                Err(error)
            }
        }
    }

    fn save(&self) -> Result<(), TokenError> {
        let text = Text { format: FORMAT, tokens: self.tokens.clone() };
        let text = serde_json::to_vec_pretty(&text).map_err(io::Error::from);
        text.and_then(|text| replace(&self.path, &text)).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> TokenError {
        TokenError::File { path: self.path.clone(), source }
    }
}

/// Writes a file so that after a loss of power it is the old or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let options = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new);
    let mut file = options?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(format!("{MARK}{}", hex(&bytes)))
}

fn digest(secret: &str) -> String {
    hex(&Sha256::digest(secret))
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Now, in microseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

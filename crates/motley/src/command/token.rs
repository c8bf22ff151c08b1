//! Tokens of clients over TCP.

use super::live::{client, show};
use crate::args::live::Token;
use crate::client::Client;
use crate::daemon::Place;
use crate::{out, render};

pub(super) fn run(command: Token) -> anyhow::Result<()> {
    match command {
        Token::Create { name, scope, span, ask } => {
            let seconds = span.map(|span| span.0 / 1_000_000);
            let made = client(&ask)?.make_token(&name, scope, seconds)?;
            show(&ask, &made, |made| format!("{}\n", made.secret))
        }
        Token::List(ask) => {
            let tokens = client(&ask)?.tokens()?;
            show(&ask, &tokens, |tokens| render::live::tokens(tokens))
        }
        Token::Revoke { name, at } => {
            let mut client = Client::connect(&Place::choose(at.directory.as_deref())?)?;
            let revoked = client.revoke_token(&name)?;
            out::print(&format!("token {} is revoked\n", revoked.name))
        }
    }
}

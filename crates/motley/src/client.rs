//! The client's side of the socket.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::net::UnixStream;

use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;

use crate::api::{Answer, Call};
use crate::daemon::Place;

/// A connection to the daemon.
pub struct Client {
    reader: BufReader<UnixStream>,
}

impl Client {
    /// Finds the daemon of a directory.
    ///
    /// # Errors
    /// If none answers: how to start one.
    pub fn connect(place: &Place) -> anyhow::Result<Self> {
        match UnixStream::connect(place.socket()) {
            Ok(stream) => Ok(Self { reader: BufReader::new(stream) }),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
            {
                bail!(
                    "reach the daemon in {}: none runs there; start one with: motley up --detach",
                    place.directory().display()
                )
            }
            Err(error) => Err(error)
                .with_context(|| format!("reach the daemon in {}", place.directory().display())),
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// If the daemon refuses, or is gone.
    pub fn ask<T: DeserializeOwned>(&mut self, call: &Call) -> anyhow::Result<T> {
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        self.reader.get_mut().write_all(&line).context("ask the daemon")?;
        let mut answer = String::new();
        let read = self.reader.read_line(&mut answer).context("hear from the daemon")?;
        if read == 0 {
            bail!("hear from the daemon: it ended before it answered; motley status says more");
        }
        match serde_json::from_str(&answer).context("understand the daemon")? {
            Answer::Done(value) => Ok(serde_json::from_value(value)?),
            Answer::Refused(why) => bail!("{}: {why}", call.verb()),
        }
    }
}

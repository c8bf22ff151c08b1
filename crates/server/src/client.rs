//! The client's side of the API: a blocking one, over a Unix socket.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

use crate::api::Problem;

/// A connection to a daemon.
pub struct Client {
    socket: PathBuf,
    runtime: Runtime,
    sender: Sender,
}

type Sender = SendRequest<Full<Bytes>>;

/// Why there is no answer, or none that was hoped for.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("nobody listens there")]
    Nobody(#[source] io::Error),
    /// The connection broke.
    #[error("the daemon ended before it answered; motley status says more")]
    Broken(#[source] hyper::Error),
    /// The daemon refuses.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// The daemon says what makes no sense.
    #[error("understand the daemon")]
    Garbled(#[source] serde_json::Error),
}

/// A refusal as it came.
#[derive(Debug)]
pub struct Refused(pub Problem);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

/// A request: a method, a path with its query, and a body.
#[derive(Clone, Debug)]
pub struct Ask {
    method: Method,
    path: String,
    body: Option<Vec<u8>>,
}

impl Ask {
    /// Asks for what is there.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: None }
    }

    /// Asks for something to be done.
    #[must_use]
    pub fn post(path: impl Into<String>) -> Self {
        Self { method: Method::POST, ..Self::get(path) }
    }

    /// Asks for something to be replaced.
    #[must_use]
    pub fn put(path: impl Into<String>) -> Self {
        Self { method: Method::PUT, ..Self::get(path) }
    }

    /// Asks for something to be removed.
    #[must_use]
    pub fn delete(path: impl Into<String>) -> Self {
        Self { method: Method::DELETE, ..Self::get(path) }
    }

    /// With this said.
    #[must_use]
    pub fn telling(mut self, body: &impl Serialize) -> Self {
        self.body = Some(serde_json::to_vec(body).unwrap_or_default());
        self
    }
}

/// A name as a part of a path.
#[must_use]
pub fn part(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let letter = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(letter).collect()
}

impl Client {
    /// Connects to the daemon at a socket.
    ///
    /// # Errors
    /// If nobody listens there.
    pub fn connect(socket: &Path) -> Result<Self, ClientError> {
        let runtime = Builder::new_current_thread().enable_io().build();
        let runtime = runtime.map_err(ClientError::Nobody)?;
        let sender = runtime.block_on(reach(socket))?;
        Ok(Self { socket: socket.to_owned(), runtime, sender })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// If the daemon refuses, or is gone.
    pub fn ask<T: DeserializeOwned>(&mut self, ask: &Ask) -> Result<T, ClientError> {
        let (status, body) = self.send(ask)?;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(ClientError::Garbled);
        }
        let problem = serde_json::from_slice(&body).unwrap_or_else(|_| Problem {
            status: status.as_u16(),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            detail: String::from_utf8_lossy(&body).into_owned(),
        });
        Err(ClientError::Refused(Box::new(Refused(problem))))
    }

    fn send(&mut self, ask: &Ask) -> Result<(StatusCode, Bytes), ClientError> {
        let body = ask.body.clone().unwrap_or_default();
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = ask.path.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::HOST, header::HeaderValue::from_static("motley"));
        if ask.body.is_some() {
            let json = header::HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
        }
        let Self { runtime, sender, socket } = self;
        runtime.block_on(async {
            // A connection that was idle for a while is closed by the daemon.
            if sender.ready().await.is_err() {
                *sender = reach(socket).await?;
            }
            match converse(sender, request.clone()).await {
                // What only looks may be asked twice, and what was never sent too: a large
                // submission may take longer to write down than the daemon waits for a request.
                Err(error) if error.is_canceled() || *request.method() == Method::GET => {
                    *sender = reach(socket).await?;
                    converse(sender, request).await
                }
                answered => answered,
            }
            .map_err(ClientError::Broken)
        })
    }
}

async fn reach(socket: &Path) -> Result<Sender, ClientError> {
    let stream = UnixStream::connect(socket).await.map_err(ClientError::Nobody)?;
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = shaken.map_err(ClientError::Broken)?;
    // What becomes of the connection is told to whoever waits for an answer.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

async fn converse(
    sender: &mut Sender,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Bytes), hyper::Error> {
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    Ok((status, answer.into_body().collect().await?.to_bytes()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn what_was_never_sent_is_sent_over_a_new_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let (tell, is_closed) = std::sync::mpsc::channel();
        let served = std::thread::spawn(move || {
            // As a daemon does that has waited for long enough.
            drop(listener.accept().unwrap());
            tell.send(()).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let count = stream.read(&mut asked).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n7").unwrap();
            String::from_utf8_lossy(&asked[..count]).into_owned()
        });
        let mut client = Client::connect(&path).unwrap();
        is_closed.recv().unwrap();
        assert_eq!(client.ask::<u32>(&Ask::post("/v1/jobs")).unwrap(), 7);
        assert!(served.join().unwrap().starts_with("POST /v1/jobs "));
    }
}

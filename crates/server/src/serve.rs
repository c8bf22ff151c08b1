//! Listening: a runtime of its own, on which every connection is served within bounds.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use fleet::{RunId, User};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

use crate::desk::{self, Desk};
use crate::door::{House, Peer, is_operator};
use crate::events::Happened;
use crate::metrics::{Family, Traffic};
use crate::places::{Most, Places};
use crate::routes;
use crate::token::{TokenError, Tokens};

/// So many connections over TCP are served at a time; more wait in the queue of the system. All
/// come from this machine or its proxy, so that their addresses tell nobody from another.
const STRANGERS_MAX: usize = 256;

/// So many of users of this machine over the socket, and so many of operators, whom nobody is to
/// lock out; all together are fewer than the files that a process may open by default.
const USERS_MAX: Most = Most { all: 384, each: 192 };
const OPERATORS_MAX: Most = Most { all: 256, each: 256 };

/// How long a client may take nothing of what it is sent.
const UNREAD: Duration = Duration::from_secs(30);

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(5);

/// The longest head of a request, and the most headers.
const HEAD_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 64;

/// How long answers that are under way may take when the daemon ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// After what could not be accepted.
const PAUSE: Duration = Duration::from_millis(20);

/// How a server is set up.
pub struct Settings {
    /// Where its Unix socket is to be.
    pub socket: PathBuf,
    /// Where its tokens are kept.
    pub tokens: PathBuf,
    /// Where it listens beside the socket.
    pub listen: Option<Listen>,
    /// The version of the program.
    pub version: &'static str,
    /// What tasks printed.
    pub output: OutputSource,
}

/// An address of TCP.
#[derive(Clone, Copy, Debug)]
pub struct Listen {
    /// The address.
    pub address: SocketAddr,
    /// Whether something before it, which ends TLS, is the only one that can reach it.
    pub is_behind_proxy: bool,
}

/// A part of what a run printed on one stream.
#[derive(Debug)]
pub struct OutputPart {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many were not kept, once it is known that no more will come.
    pub dropped: Option<u64>,
}

/// Reads what a run printed: on its output, or as errors; from a byte on. Blocking.
pub type OutputSource = Arc<dyn Fn(RunId, bool, u64) -> io::Result<OutputPart> + Send + Sync>;

/// Why nothing can be served.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It cannot be listened there.
    #[error("listen at {at}")]
    Listen {
        /// Where.
        at: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The network could read along.
    #[error(
        "listen at {0}: others could read along there, since what is sent is not encrypted; listen \
         at 127.0.0.1 and put a proxy with TLS before it, or say --behind-proxy if one is"
    )]
    Exposed(SocketAddr),
    /// The tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// Threads cannot be started.
    #[error("start to serve")]
    Threads(#[source] io::Error),
}

/// Serves until it is dropped.
pub struct Server {
    runtime: Option<Runtime>,
    stop: watch::Sender<bool>,
    /// Held by every connection: it closes once the last one is gone.
    gone: mpsc::Receiver<()>,
    socket: PathBuf,
    address: Option<SocketAddr>,
    happened: Happened,
    traffic: Arc<Traffic>,
}

/// Listens from now on. `wake` is called when something lies at the desk.
///
/// # Errors
/// If it cannot be listened, or the tokens cannot be read.
pub fn open(
    settings: Settings,
    wake: Box<dyn Fn() + Send + Sync>,
) -> Result<(Server, Desk), OpenError> {
    let Settings { socket, tokens, listen, version, output } = settings;
    if let Some(Listen { address, is_behind_proxy: false }) = listen
        && !is_loopback(address.ip())
    {
        return Err(OpenError::Exposed(address));
    }
    let (counter, desk) = desk::new(wake);
    let happened = Happened::new();
    let tokens = Tokens::open(&tokens)?;
    let house = House::new(counter, tokens, happened.clone(), (version, output));
    let traffic = Arc::clone(&house.traffic);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .thread_name("motley-api")
        .thread_stack_size(1 << 20)
        .enable_all()
        .build()
        .map_err(OpenError::Threads)?;
    let (stop, stopped) = watch::channel(false);
    let (held, gone) = mpsc::channel(1);
    let room = Arc::new(Semaphore::new(STRANGERS_MAX));
    let places = [Places::new(USERS_MAX), Places::new(OPERATORS_MAX)];
    let router = routes::router(Arc::new(house));
    let hall = Hall { router, room, places, unread: UNREAD, stopped, held };
    let own = listen_on_socket(&runtime, &socket)?;
    runtime.spawn(accept_users(own, hall.clone()));
    let mut address = None;
    if let Some(listen) = listen {
        let failed = |source| OpenError::Listen { at: listen.address.to_string(), source };
        let listener = runtime.block_on(TcpListener::bind(listen.address)).map_err(failed)?;
        address = Some(listener.local_addr().map_err(failed)?);
        runtime.spawn(accept_strangers(listener, hall));
    }
    Ok((Server { runtime: Some(runtime), stop, gone, socket, address, happened, traffic }, desk))
}

impl Server {
    /// What is told to those who listen for events.
    #[must_use]
    pub fn happened(&self) -> &Happened {
        &self.happened
    }

    /// What was asked of it so far, as metrics.
    #[must_use]
    pub fn families(&self) -> [Family; 2] {
        self.traffic.families()
    }

    /// The address of TCP at which it listens, with the port that the system chose where 0 was
    /// asked for.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.happened.end();
        if let Some(runtime) = self.runtime.take() {
            runtime.block_on(async {
                let _ = tokio::time::timeout(FAREWELL, self.gone.recv()).await;
            });
            runtime.shutdown_timeout(FAREWELL);
        }
        // Last of all: whoever sees that it is gone may start the next daemon.
        let _ = fs::remove_file(&self.socket);
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn listen_on_socket(runtime: &Runtime, path: &Path) -> Result<UnixListener, OpenError> {
    let failed = |source| OpenError::Listen { at: path.display().to_string(), source };
    let _ = fs::remove_file(path);
    let _entered = runtime.enter();
    let listener = UnixListener::bind(path).map_err(failed)?;
    // As root it serves every user, each as whom the system says it is; else only its own.
    let mode = if rustix::process::geteuid().is_root() { 0o666 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)?;
    Ok(listener)
}

/// What every connection needs.
#[derive(Clone)]
struct Hall {
    router: Router,
    room: Arc<Semaphore>,
    /// Of users of this machine, and of operators.
    places: [Places; 2],
    unread: Duration,
    stopped: watch::Receiver<bool>,
    held: mpsc::Sender<()>,
}

impl Hall {
    /// Room for one more connection over TCP, once there is; `None` once the daemon ends.
    async fn room(&mut self) -> Option<OwnedSemaphorePermit> {
        let room = Arc::clone(&self.room);
        tokio::select! {
            () = over(&mut self.stopped) => None,
            permit = room.acquire_owned() => permit.ok(),
        }
    }
}

/// Returns once the daemon ends.
async fn over(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn accept_users(listener: UnixListener, mut hall: Hall) {
    loop {
        let accepted = tokio::select! {
            () = over(&mut hall.stopped) => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(peer) = stream.peer_cred() else { continue };
        let user = User { uid: peer.uid(), gid: peer.gid() };
        match hall.places[usize::from(is_operator(user))].take(user.uid) {
            Some(place) => {
                tokio::spawn(converse(stream, Peer::User(user), hall.clone(), place));
            }
            None => refuse(&stream),
        }
    }
}

/// Says that there is no room, as far as that can be said at once.
fn refuse(stream: &UnixStream) {
    let why = "you have too many connections, or all users together; try again in a moment";
    let body = serde_json::json!({ "status": 503, "title": "Service Unavailable", "detail": why });
    let body = body.to_string();
    let length = body.len();
    let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n\
                Retry-After: 1\r\nConnection: close\r\n";
    let _ = stream.try_write(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes());
}

async fn accept_strangers(listener: TcpListener, mut hall: Hall) {
    while let Some(permit) = hall.room().await {
        let accepted = tokio::select! {
            () = over(&mut hall.stopped) => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        tokio::spawn(converse(stream, Peer::Stranger(from.ip()), hall.clone(), permit));
    }
}

/// Serves one connection until it closes, or the daemon ends.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Send + 'static,
    peer: Peer,
    mut hall: Hall,
    _place: impl Send + 'static,
) {
    let _held = hall.held;
    let mut stream = TimeoutStream::new(stream);
    // One that takes nothing of its answer would have its place for ever.
    stream.set_write_timeout(Some(hall.unread));
    let service = hall.router.map_request(move |mut request: hyper::Request<_>| {
        request.extensions_mut().insert(peer);
        request
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(service));
    tokio::pin!(connection);
    tokio::select! {
        // A connection that breaks is its client's affair.
        _ = &mut connection => {}
        () = over(&mut hall.stopped) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing;

    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_of_an_answer_is_let_go() {
        let (_stop, stopped) = watch::channel(false);
        let (held, _gone) = mpsc::channel(1);
        let most = Most { all: 1, each: 1 };
        let places = [Places::new(most), Places::new(most)];
        let long = || async { vec![0_u8; 16 << 20] };
        let router = Router::new().route("/", routing::get(long));
        let (room, unread) = (Arc::new(Semaphore::new(1)), Duration::from_millis(50));
        let hall = Hall { router, room, places, unread, stopped, held };
        let (client, stream) = UnixStream::pair().unwrap();
        let asked = b"GET / HTTP/1.1\r\nHost: m\r\n\r\n";
        assert_eq!(client.try_write(asked).unwrap(), asked.len());
        let place = hall.places[0].take(7);
        let peer = Peer::User(User { uid: 7, gid: 7 });
        let served = converse(stream, peer, hall.clone(), place);
        tokio::time::timeout(Duration::from_secs(20), served).await.expect("it is let go");
        assert!(hall.places[0].take(7).is_some(), "its place is free");
    }

    #[tokio::test]
    async fn who_finds_no_place_is_told_so() {
        let (client, stream) = UnixStream::pair().unwrap();
        refuse(&stream);
        drop(stream);
        client.readable().await.unwrap();
        let mut said = vec![0; 4096];
        let count = client.try_read(&mut said).unwrap();
        let said = String::from_utf8_lossy(&said[..count]).into_owned();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
        serde_json::from_str::<crate::api::Problem>(body).unwrap();
    }
}

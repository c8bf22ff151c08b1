//! The API over TCP, as programs that are not ours use it: plain requests, good and bad.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::{Place, wait_until};

/// A daemon that listens at a port of its own, and tokens of each scope.
struct Web {
    place: Place,
    address: String,
    secrets: [String; 3],
}

/// An answer: status, headers in small letters, body.
struct Heard {
    status: u16,
    headers: String,
    body: String,
}

impl Heard {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

const READ: usize = 0;
const SUBMIT: usize = 1;
const ADMIN: usize = 2;

impl Web {
    fn up(more: &[&str]) -> Self {
        let place = Place::new();
        let all: Vec<&str> = ["up", "--detach", "--listen", "127.0.0.1:0"]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        let (status, _, errors) = place.run(&all);
        assert_eq!(status, 0, "{errors}");
        let secrets = ["read", "submit", "admin"].map(|scope| {
            let (status, secret, errors) = place.run(&["token", "create", scope, "--scope", scope]);
            assert_eq!(status, 0, "{errors}");
            secret.trim().to_owned()
        });
        let address = place.json(&["status", "--json"])["address"].as_str().unwrap().to_owned();
        let address = address.strip_prefix("http://").unwrap().to_owned();
        Self { place, address, secrets }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends these bytes, and reads until the daemon closes.
    fn raw(&self, bytes: &[u8]) -> Heard {
        let mut stream = self.connect();
        // It may have said no and closed before it has read everything.
        let _ = stream.write_all(bytes);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said).into_owned();
        let (head, body) = said.split_once("\r\n\r\n").unwrap_or((&said, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Heard { status, headers: head.to_lowercase(), body: body.to_owned() }
    }

    fn ask(&self, line: &str, who: Option<usize>, more: &[&str], body: &str) -> Heard {
        let mut head = format!("{line} HTTP/1.1\r\nHost: motley\r\nConnection: close\r\n");
        if let Some(who) = who {
            head.push_str(&format!("Authorization: Bearer {}\r\n", self.secrets[who]));
        }
        if !body.is_empty() {
            let length = body.len();
            head.push_str("Content-Type: application/json\r\n");
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        more.iter().for_each(|header| head.push_str(&format!("{header}\r\n")));
        self.raw(format!("{head}\r\n{body}").as_bytes())
    }

    fn get(&self, path: &str, who: usize) -> Heard {
        self.ask(&format!("GET {path}"), Some(who), &[], "")
    }

    fn post(&self, path: &str, who: usize, body: &Value) -> Heard {
        self.ask(&format!("POST {path}"), Some(who), &[], &body.to_string())
    }
}

fn job(name: &str, cores: u32, arguments: &[&str]) -> Value {
    json!({ "jobs": [{
        "job": { "name": name, "alternative": [{ "cores": cores }] },
        "arguments": arguments,
        "directory": "/",
        "environment": ["PATH=/usr/bin:/bin"],
    }] })
}

#[test]
fn a_job_is_submitted_watched_and_read_over_tcp() {
    let web = Web::up(&[]);
    let made = web.post("/v1/jobs", SUBMIT, &job("hello", 1, &["sh", "-c", "echo hello"]));
    assert_eq!((made.status, made.json()), (201, json!({ "jobs": [1] })));
    let ended = web.get("/v1/jobs/1/end?timeout=30", READ).json();
    assert_eq!((ended["state"].as_str(), ended["status"].as_u64()), (Some("done"), Some(0)));
    let printed = web.get("/v1/jobs/hello/output?from=2", READ).json();
    assert_eq!(
        printed,
        json!({
            "bytes": "llo\n", "next": 6, "attempt": 0, "latest": 0, "dropped": 0, "ended": true,
        })
    );
    let errors = web.get("/v1/jobs/1/output?stream=errors", READ).json();
    assert_eq!(errors["bytes"], "");
    let why = web.get("/v1/jobs/1/explanation", READ).json();
    assert!(why["text"].as_str().unwrap().contains("placed on"), "{why}");
    let lanes = web.get("/v1/timeline", READ).json();
    assert_eq!(lanes["lanes"][0]["bars"][0]["state"], "ended");
    let later = lanes["now"].as_u64().unwrap() + 1;
    let lanes = web.get(&format!("/v1/timeline?since={later}"), READ).json();
    assert_eq!(lanes["lanes"], json!([]));
    let waits = web.post("/v1/jobs", SUBMIT, &job("large", 4096, &["true"]));
    assert_eq!(waits.json()["jobs"], json!([2]));
    assert!(web.get("/v1/jobs/2/end?timeout=0", READ).json()["ended"].is_null());
}

#[test]
fn what_each_attempt_printed_is_read_by_its_own_bytes() {
    let web = Web::up(&[]);
    // Each attempt prints less than the one before.
    let script = "printf \"$MOTLEY_ATTEMPT%0$((3 - MOTLEY_ATTEMPT))d\" 7; exit 1";
    let mut wanted = job("again", 1, &["sh", "-c", script]);
    wanted["jobs"][0]["restart"] = json!({ "retries": 2, "requeue": true });
    assert_eq!(web.post("/v1/jobs", SUBMIT, &wanted).status, 201);
    web.get("/v1/jobs/1/end?timeout=60", READ);
    let of = |query: &str| web.get(&format!("/v1/jobs/1/output{query}"), READ);
    for (query, bytes, attempt) in [
        ("?attempt=0", "0007", 0),
        ("?attempt=0&from=3", "7", 0),
        ("?attempt=1", "107", 1),
        ("?attempt=2", "27", 2),
        ("", "27", 2),
        // Whoever says no attempt is told of which this is, however far they had come in another.
        ("?from=4", "", 2),
    ] {
        let told = of(query).json();
        assert_eq!((&told["bytes"], &told["attempt"]), (&json!(bytes), &json!(attempt)), "{query}");
        assert_eq!((&told["latest"], &told["ended"]), (&json!(2), &json!(true)), "{query}");
    }
    assert_eq!(of("?attempt=3").status, 404);
    let logs = |more: &[&str]| web.place.run(&[&["job", "logs", "1"], more].concat());
    assert_eq!(logs(&[]).1, "27");
    assert_eq!(logs(&["--attempt", "1"]).1, "107");
    assert_eq!(logs(&["--attempt", "3"]).0, 1);
}

#[test]
fn each_part_of_a_listing_counts() {
    let web = Web::up(&[]);
    for name in ["one", "two", "three"] {
        assert_eq!(web.post("/v1/jobs", SUBMIT, &job(name, 4096, &["true"])).status, 201);
    }
    web.post("/v1/jobs", SUBMIT, &job("ended", 1, &["true"]));
    web.get("/v1/jobs/4/end", READ);
    web.post("/v1/hold", SUBMIT, &json!({ "jobs": ["1"] }));
    wait_until("it is held", || web.get("/v1/jobs/1", READ).json()["state"] == "held");
    let of = |query: &str| -> (Vec<u64>, Value) {
        let page = web.get(&format!("/v1/jobs{query}"), READ).json();
        let jobs = page["jobs"].as_array().unwrap();
        (jobs.iter().map(|job| job["id"].as_u64().unwrap()).collect(), page["next"].clone())
    };
    assert_eq!(of(""), (vec![3, 2, 1], Value::Null));
    assert_eq!(of("?ended=true").0, [4, 3, 2, 1]);
    assert_eq!(of("?state=held").0, [1]);
    assert_eq!(of("?state=done").0, [4]);
    assert_eq!(of("?name=t").0, [3, 2]);
    assert_eq!(of("?tenant=nobody").0, Vec::<u64>::new());
    assert_eq!(of("?limit=2"), (vec![3, 2], json!(2)));
    assert_eq!(of("?limit=2&below=2"), (vec![1], Value::Null));
    for wrong in ["?limit=0", "?limit=10001", "?state=odd", "?below=-1", "?odd=1"] {
        assert_eq!(web.get(&format!("/v1/jobs{wrong}"), READ).status, 400, "{wrong}");
    }
    let nodes = web.get("/v1/nodes", READ).json();
    assert_eq!((nodes["nodes"].as_array().unwrap().len(), &nodes["next"]), (1, &Value::Null));
    let nodes = web.get("/v1/nodes?from=1", READ).json();
    assert_eq!(nodes["nodes"], json!([]));
}

#[test]
fn tokens_may_what_their_scope_says_and_nothing_once_they_are_revoked() {
    let web = Web::up(&[]);
    let waiting = job("waiting", 4096, &["true"]);
    web.post("/v1/jobs", SUBMIT, &waiting);
    let one = json!({ "jobs": ["1"] });
    let node = web.get("/v1/nodes", READ).json()["nodes"][0]["name"].as_str().unwrap().to_owned();
    let drain = format!("/v1/nodes/{node}/drain");
    let token = json!({ "name": "more", "scope": "admin" });
    for (who, statuses) in [(READ, [403; 6]), (SUBMIT, [201, 200, 200, 403, 403, 403])] {
        let seen = [
            web.post("/v1/jobs", who, &waiting).status,
            web.post("/v1/hold", who, &one).status,
            web.post("/v1/plan", who, &waiting["jobs"][0]).status,
            web.post(&drain, who, &json!({})).status,
            web.post("/v1/tokens", who, &token).status,
            web.post("/v1/down", who, &json!({ "how": "leave" })).status,
        ];
        assert_eq!(seen, statuses, "{who}");
        assert_eq!(web.get("/v1/tokens", who).status, 403);
    }
    // One that may not everything could make itself another that outlives it, or revoke a better.
    for who in [READ, SUBMIT] {
        let token = json!({ "name": "heir", "scope": "read" });
        assert_eq!(web.post("/v1/tokens", who, &token).status, 403);
        for name in ["submit", "admin", "nobody"] {
            let revoke = format!("DELETE /v1/tokens/{name}");
            assert_eq!(web.ask(&revoke, Some(who), &[], "").status, 403, "{who} {name}");
        }
    }
    assert_eq!(web.post("/v1/tokens", ADMIN, &token).status, 201);
    assert_eq!(web.ask("DELETE /v1/tokens/more", Some(ADMIN), &[], "").status, 200);
    assert_eq!(web.post("/v1/tokens", ADMIN, &token).status, 201);
    assert_eq!(web.post("/v1/tokens", ADMIN, &token).status, 409, "the name is taken");
    let whoami = web.get("/v1/whoami", SUBMIT).json();
    assert_eq!(whoami["scope"], "submit");
    // At rest there is no secret.
    let kept = std::fs::read_to_string(web.place.file("motley/tokens.json")).unwrap();
    assert!(web.secrets.iter().all(|secret| !kept.contains(&secret[7..])), "{kept}");
    assert!(web.place.run(&["token", "list"]).1.contains("submit"));
    assert_eq!(web.place.run(&["token", "revoke", "read"]).0, 0);
    let refused = web.get("/v1/status", READ);
    assert_eq!((refused.status, &refused.json()["status"]), (401, &json!(401)));
    assert_eq!(web.place.run(&["token", "revoke", "read"]).0, 1);
    let (_, short, _) = web.place.run(&["token", "create", "short", "--for", "1s"]);
    let head = format!(
        "GET /v1/status HTTP/1.1\r\nHost: m\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
        short.trim()
    );
    wait_until("it holds no more", || web.raw(head.as_bytes()).status == 401);
}

#[test]
fn bad_requests_are_refused_in_words_and_the_daemon_goes_on() {
    let web = Web::up(&[]);
    let status = |heard: Heard| heard.status;
    let tell = |more: &[&str], body: &str| web.ask("POST /v1/jobs", Some(SUBMIT), more, body);
    assert_eq!(status(web.ask("GET /v1/status", None, &[], "")), 401);
    assert_eq!(status(web.ask("GET /v1/status", None, &["Authorization: Basic eDp5"], "")), 401);
    assert_eq!(status(web.get("/v1/nothing", ADMIN)), 404);
    assert_eq!(status(web.get("/v1/jobs/77", READ)), 404);
    assert_eq!(status(web.get("/v1/jobs/%ff", READ)), 400);
    let not_allowed = web.ask("DELETE /v1/jobs", Some(ADMIN), &[], "");
    assert_eq!(not_allowed.status, 405);
    assert!(not_allowed.headers.contains("allow: "), "{}", not_allowed.headers);
    assert_eq!(status(tell(&[], "{")), 400);
    assert_eq!(status(tell(&[], "{\"jobs\": 7}")), 422);
    assert_eq!(status(tell(&[], "{\"jobs\": []}")), 422);
    assert_eq!(status(tell(&[], "{\"jobs\": [], \"odd\": 1}")), 422);
    assert_eq!(status(tell(&[&format!("Idempotency-Key: {}", "x".repeat(200))], "{}")), 400);
    let foreign = "POST /v1/jobs HTTP/1.1\r\nHost: m\r\nConnection: close\r\nContent-Length: 2\r\n";
    let head = format!("{foreign}Authorization: Bearer {}\r\n\r\n{{}}", web.secrets[SUBMIT]);
    assert_eq!(status(web.raw(head.as_bytes())), 415);
    let long = 65 << 20;
    let head = format!(
        "POST /v1/jobs HTTP/1.1\r\nHost: m\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {long}\r\nAuthorization: Bearer {}\r\n\r\n",
        web.secrets[SUBMIT]
    );
    let mut bytes = head.into_bytes();
    bytes.resize(bytes.len() + long, b' ');
    // Either it says so, or it closes before it has read it all.
    assert!([0, 413].contains(&status(web.raw(&bytes))));
    assert_eq!(status(web.raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")), 400);
    let many = "X: y\r\n".repeat(1_000);
    assert!(
        [400, 431].contains(&status(web.raw(format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes())))
    );
    let huge = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(200_000));
    assert!([400, 414, 431].contains(&status(web.raw(huge.as_bytes()))));
    // One that trickles its head is let go, and holds up nobody meanwhile.
    let mut slow = web.connect();
    slow.write_all(b"GET /v1/sta").unwrap();
    assert_eq!(status(web.get("/v1/status", READ)), 200);
    let mut said = Vec::new();
    slow.read_to_end(&mut said).unwrap();
    assert!(!String::from_utf8_lossy(&said).contains("200"));
    assert_eq!(web.ask("GET /health", None, &[], "").body, "ok\n");
}

#[test]
fn strangers_are_slowed_down_and_users_with_a_token_are_not() {
    let web = Web::up(&[]);
    let seen: Vec<u16> = (0..80).map(|_| web.ask("GET /v1/status", None, &[], "").status).collect();
    assert!(seen.starts_with(&[401; 20]) && seen.ends_with(&[429]), "{seen:?}");
    assert_eq!(web.get("/v1/status", READ).status, 200);
    // Whether the daemon is well is asked of the same bucket.
    let seen: Vec<u16> = (0..20).map(|_| web.ask("GET /health", None, &[], "").status).collect();
    assert!(seen.contains(&429) && seen.iter().all(|status| [200, 429].contains(status)));
}

#[test]
fn a_key_submits_once_whatever_happens_between() {
    let web = Web::up(&[]);
    let tell = |key: &str, name: &str| {
        let key = format!("Idempotency-Key: {key}");
        let body = job(name, 4096, &["true"]).to_string();
        web.ask("POST /v1/jobs", Some(SUBMIT), &[&key], &body)
    };
    assert_eq!(tell("a", "one").json()["jobs"], json!([1]));
    assert_eq!(tell("a", "one").json()["jobs"], json!([1]));
    assert_eq!(tell("b", "one").json()["jobs"], json!([2]));
    let other = tell("a", "other");
    assert_eq!(other.status, 409, "{}", other.body);
    web.place.kill_daemon();
    let address = web.address.clone();
    let (status, _, errors) = web.place.run(&["up", "--detach", "--listen", &address]);
    assert_eq!(status, 0, "{errors}");
    assert_eq!(tell("a", "one").json()["jobs"], json!([1]));
    assert_eq!(web.place.json(&["jobs", "--json"]).as_array().unwrap().len(), 2);
}

#[test]
fn what_happens_is_told_to_those_who_listen_and_told_again_from_where_they_were() {
    let web = Web::up(&[]);
    let listen = |last: &str| {
        let mut stream = web.connect();
        let secret = &web.secrets[READ];
        let head = format!(
            "GET /v1/events HTTP/1.1\r\nHost: m\r\nLast-Event-ID: {last}\r\nAuthorization: Bearer {secret}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut stream = listen("");
    let hear = |stream: &mut TcpStream, what: &str| {
        let mut heard = String::new();
        let mut bytes = [0; 4096];
        while !heard.contains(what) {
            let count = stream.read(&mut bytes).unwrap();
            assert!(count > 0, "waits for {what}: {heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        heard
    };
    // Whoever comes with an id of nobody's is told to ask for everything.
    hear(&mut stream, "event: reset");
    web.post("/v1/jobs", SUBMIT, &job("told", 1, &["true"]));
    let heard = hear(&mut stream, "\"state\":\"done\"");
    assert!(heard.contains("event: job") && heard.contains("event: node"), "{heard}");
    let first = heard.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    drop(stream);
    let again = hear(&mut listen(&first), "\"state\":\"done\"");
    assert!(!again.contains("event: reset"), "{again}");
    let policy = json!({ "text": web.place.run(&["policy", "show", "pack"]).1 });
    let mut stream = listen(&first);
    let put = web.ask("PUT /v1/policy", Some(ADMIN), &[], &policy.to_string());
    assert_eq!(put.json(), json!({ "policy": "pack" }));
    hear(&mut stream, "event: policy");
    assert_eq!(web.get("/v1/policy", READ).json()["name"], "pack");
}

#[test]
fn whoever_watches_by_a_token_stops_when_it_holds_no_more() {
    let web = Web::up(&[]);
    web.post("/v1/jobs", SUBMIT, &job("waiting", 4096, &["true"]));
    let open = |path: &str, secret: &str| {
        let mut stream = web.connect();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: m\r\nConnection: close\r\nAuthorization: Bearer {secret}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let rest = |mut stream: TcpStream| {
        let mut heard = String::new();
        // A stream that went on would be at its patience's end in 30 s.
        stream.read_to_string(&mut heard).unwrap();
        heard
    };
    let both =
        |secret: &str| [open("/v1/events", secret), open("/v1/jobs/1/end?timeout=600", secret)];
    let is_over = |[events, end]: [TcpStream; 2]| {
        let (events, end) = (rest(events), rest(end));
        assert!(events.contains("200 OK") && events.contains(": welcome"), "{events}");
        assert!(end.contains(" 401 ") && end.contains("revoked"), "{end}");
    };
    let (revoked, kept) = (both(&web.secrets[READ]), both(&web.secrets[SUBMIT]));
    // They are answered only once they were let in.
    let mut first = [0; 9];
    revoked[0].try_clone().unwrap().read_exact(&mut first).unwrap();
    let (_, short, _) = web.place.run(&["token", "create", "short", "--for", "2s"]);
    let short = both(short.trim());
    assert_eq!(web.place.run(&["token", "revoke", "read"]).0, 0);
    let [events, end] = revoked;
    assert!(rest(events).contains(": welcome"));
    assert!(rest(end).contains(" 401 "));
    is_over(short);
    // That of another goes on.
    kept[0].set_nonblocking(true).unwrap();
    let mut heard = [0; 4096];
    assert!((&kept[0]).read(&mut heard).unwrap() > 0);
    let more = (&kept[0]).read(&mut heard);
    assert_eq!(more.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn what_was_acknowledged_is_there_at_once_however_many_ask() {
    let web = Web::up(&[]);
    let place = std::sync::Mutex::new(0_u32);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let made = web.post("/v1/jobs", SUBMIT, &job("held", 4096, &["true"])).json();
                    let path = format!("/v1/jobs/{}", made["jobs"][0]);
                    assert_eq!(web.get(&path, READ).status, 200, "{path}");
                    let one = json!({ "jobs": [made["jobs"][0].to_string()] });
                    assert_eq!(web.post("/v1/cancel", SUBMIT, &one).status, 200, "{path}");
                    *place.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(place.into_inner().unwrap(), 80);
}

#[test]
fn what_is_measured_is_told_and_moves_with_what_happens() {
    let web = Web::up(&[]);
    let of = |name: &str| -> Option<f64> {
        let text = web.get("/metrics", READ).body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    };
    let done = "motley_tasks_ended_total{result=\"done\"}";
    assert_eq!(of(done), Some(0.0));
    web.post("/v1/jobs", SUBMIT, &job("a", 1, &["true"]));
    web.get("/v1/jobs/1/end", READ);
    assert_eq!(of(done), Some(1.0));
    assert_eq!(of("motley_queue_incoming_jobs_total"), Some(1.0));
    assert_eq!(of("motley_task_scheduling_sli_duration_seconds_count"), Some(1.0));
    web.post("/v1/jobs", SUBMIT, &job("b", 4096, &["true"]));
    let waits = "motley_pending_tasks{queue=\"unschedulable\"}";
    wait_until("it waits", || of(waits) == Some(1.0));
    web.post("/v1/hold", SUBMIT, &json!({ "all": true }));
    wait_until("it is held", || of("motley_pending_tasks{queue=\"gated\"}") == Some(1.0));
    assert_eq!(of("motley_nodes{state=\"up\"}"), Some(1.0));
    assert!(of("motley_http_requests_total{code=\"2xx\"}") > Some(5.0));
    let whole = "motley_phase_duration_seconds_count{phase=\"whole\"}";
    assert!(of(whole) > Some(2.0), "{:?}", of(whole));
    assert!(of("process_resident_memory_bytes") > Some(1e6));
    let text = web.get("/metrics", READ).body;
    // No device of this machine tells how warm it is unless it has a sensor.
    assert!(text.ends_with("# EOF\n") && !text.contains("job=\""), "{text}");
    assert_eq!(web.ask("GET /metrics", None, &[], "").status, 401);
}

#[test]
fn the_dashboard_comes_from_the_daemon_alone_and_is_locked_in() {
    let web = Web::up(&[]);
    let page = web.ask("GET /", None, &[], "");
    assert_eq!(page.status, 200);
    assert!(
        page.headers.contains("content-security-policy: default-src 'none'"),
        "{}",
        page.headers
    );
    let named = page
        .body
        .split(['"', '\''])
        .filter(|part| (part.ends_with(".js") || part.ends_with(".css")) && !part.contains(' '));
    let named: Vec<_> = named.collect();
    assert!(named.len() > 2, "{named:?}");
    for file in named {
        let found =
            web.ask(&format!("GET /{}", file.trim_start_matches(['.', '/'])), None, &[], "");
        assert_eq!(found.status, 200, "{file}");
    }
    assert!(!page.body.contains("http://") || page.body.contains("http://www.w3.org/2000/svg"));
    assert!(!page.body.contains("https://"));
}

#[test]
fn only_loopback_is_listened_at_unless_a_proxy_stands_before_it() {
    let place = Place::new();
    let (status, _, errors) = place.run(&["up", "--detach", "--listen", "0.0.0.0:0"]);
    assert!(status == 1 && errors.contains("--behind-proxy"), "{errors}");
    let (status, _, errors) = place.run(&["up", "--detach", "--listen", "nowhere"]);
    assert!(status == 1 && errors.contains("ADDRESS:PORT"), "{errors}");
    let (status, _, errors) = place.run(&["up", "--detach", "--behind-proxy"]);
    assert!(status == 1 && errors.contains("--listen"), "{errors}");
    let all = ["up", "--detach", "--listen", "0.0.0.0:0", "--behind-proxy"];
    assert_eq!(place.run(&all).0, 0);
}

#[test]
fn the_document_of_the_api_names_nothing_that_it_does_not_describe() {
    let web = Web::up(&[]);
    let document = web.ask("GET /openapi.json", None, &[], "").json();
    let mut parts = vec![&document];
    let (mut references, mut numbers, mut names) = (0, 0, Vec::new());
    while let Some(part) = parts.pop() {
        if let Some(path) = part["$ref"].as_str() {
            let found = document.pointer(path.strip_prefix('#').unwrap());
            assert!(found.is_some(), "{path}");
            references += 1;
        }
        names.extend(part["operationId"].as_str().filter(|_| part["responses"].is_object()));
        // A number without a sign says how large it may be.
        if part["minimum"] == 0 {
            assert!(part["maximum"].is_u64(), "{part}");
            assert!(part["format"].as_str().is_some_and(|format| format.starts_with("uint")));
            numbers += 1;
        }
        match part {
            Value::Array(inner) => parts.extend(inner),
            Value::Object(inner) => parts.extend(inner.values()),
            _ => {}
        }
    }
    assert!(
        references > 50 && numbers > 40 && names.len() > 20,
        "{references} {numbers} {names:?}"
    );
    let task = document["paths"]["/v1/jobs/{job}/output"]["get"]["parameters"].clone();
    let task = task.as_array().unwrap().iter().find(|it| it["name"] == "task").unwrap();
    assert_eq!(task["schema"]["maximum"], u32::MAX);
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "each call has a name of its own: {names:?}");
    let statuses = |path: &str| document["paths"][path]["get"]["responses"].clone();
    assert!(statuses("/v1/front")["409"].is_object(), "{}", statuses("/v1/front"));
    assert_eq!(web.get("/v1/front", READ).status, 409, "nothing waits");
}

#[test]
fn a_token_holds_for_as_long_as_makes_sense() {
    let web = Web::up(&[]);
    let make = |seconds: u64| {
        let wanted = json!({ "name": "bounded", "scope": "read", "seconds": seconds });
        web.post("/v1/tokens", ADMIN, &wanted)
    };
    for wrong in [0, 3_155_760_001, u64::MAX] {
        assert_eq!(make(wrong).status, 422, "{wrong}");
    }
    assert_eq!(make(3_155_760_000).status, 201);
    // What an option may not be is known before anything is asked.
    for wrong in ["0s", "999ms", "soon"] {
        let (status, _, errors) = web.place.run(&["token", "create", "short", "--for", wrong]);
        assert_eq!(status, 2, "{wrong}: {errors}");
    }
    assert_eq!(web.place.run(&["token", "create", "short", "--for", "1s"]).0, 0);
}

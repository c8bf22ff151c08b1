//! A real browser, moved over WebDriver: the few calls that the tests need, over plain HTTP.
//!
//! `chromedriver` starts a headless Chromium for each session and ends it with it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Anything on the page may take so long before a test gives up: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN: Duration = Duration::from_millis(50);

/// The member by which WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How the page is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) scheme: &'static str,
}

pub(crate) const WIDE: Look = Look { width: 1280, scheme: "light" };
pub(crate) const NARROW: Look = Look { width: 360, scheme: "light" };
pub(crate) const HEIGHT: u32 = 800;

/// One window of a browser.
pub(crate) struct Browser {
    driver: Child,
    agent: ureq::Agent,
    session: String,
}

/// Whether the tests of the page can run: where there is no chromedriver they say that they are
/// skipped, unless `MOTLEY_CI` says that nothing may be.
pub(crate) fn is_there() -> bool {
    let found = Command::new("chromedriver").arg("--version").stdout(Stdio::null()).status();
    let is_there = found.is_ok_and(|status| status.success());
    assert!(is_there || std::env::var_os("MOTLEY_CI").is_none(), "there is no chromedriver");
    if !is_there {
        println!("skipped: there is no chromedriver; install chromium and chromium-driver");
    }
    is_there
}

impl Browser {
    pub(crate) fn open() -> Self {
        let mut driver = Command::new("chromedriver");
        driver.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = driver.spawn().unwrap();
        let mut said = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = |line: &str| -> Option<u16> {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        };
        let port = said.by_ref().map_while(Result::ok).find_map(|line| port(&line)).unwrap();
        // It goes on to talk, and is not to wait for a reader.
        spawn(move || said.for_each(drop));
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE * 2))
            .build()
            .into();
        let home = format!("http://127.0.0.1:{port}");
        let mut browser = Self { driver, agent, session: home.clone() };
        let options = json!({ "args": [
            // Tests may run as root in a container, where neither of these two works.
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
            "--hide-scrollbars", "--no-first-run", "--disable-extensions",
            format!("--window-size={},{HEIGHT}", WIDE.width),
        ] });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let made = browser.call("/session", &wanted);
        browser.session = format!("{home}/session/{}", made["sessionId"].as_str().unwrap());
        browser.look(WIDE);
        browser
    }

    fn call(&self, path: &str, body: &Value) -> Value {
        let mut answer = self
            .agent
            .post(format!("{}{path}", self.session))
            .header("Content-Type", "application/json")
            .send(body.to_string())
            .unwrap();
        let status = answer.status();
        let mut told: Value =
            serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        assert!(status.is_success(), "{path} {body}: {told}");
        told["value"].take()
    }

    pub(crate) fn go(&self, address: &str) {
        self.call("/url", &json!({ "url": address }));
    }

    /// What a piece of script returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The value of an expression, as text.
    pub(crate) fn text(&self, expression: &str) -> String {
        let value = self.run(&format!("return String({expression} ?? '')"));
        value.as_str().unwrap().to_owned()
    }

    pub(crate) fn number(&self, expression: &str) -> f64 {
        self.run(&format!("return Number({expression})")).as_f64().unwrap_or(f64::NAN)
    }

    /// Waits until an expression is true. What it looks into may not be there yet.
    pub(crate) fn until(&self, expression: &str) {
        let test = format!("try {{ return Boolean({expression}) }} catch {{ return false }}");
        let since = Instant::now();
        while self.run(&test) != json!(true) {
            if since.elapsed() > PATIENCE {
                panic!("waited for {expression}; see {}", self.shoot("failed").display());
            }
            sleep(BETWEEN);
        }
    }

    /// Waits until there is an element that is seen.
    pub(crate) fn see(&self, selector: &str) {
        self.until(&format!("document.querySelector({selector:?})?.checkVisibility()"));
    }

    fn element(&self, selector: &str) -> String {
        self.see(selector);
        let found = self.call("/element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Clicks as a hand does: what lies under something else is not hit.
    pub(crate) fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.call(&format!("/element/{element}/click"), &json!({}));
    }

    /// Writes into a field, in place of what is there.
    pub(crate) fn write(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.call(&format!("/element/{element}/clear"), &json!({}));
        self.call(&format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Chooses an entry of a selection.
    pub(crate) fn choose(&self, selector: &str, value: &str) {
        self.until(&format!(
            "[...document.querySelector({selector:?}).options].some(it => it.value === {value:?})"
        ));
        let script = format!(
            "const it = document.querySelector({selector:?}); it.value = {value:?};
             it.dispatchEvent(new Event('change', {{ bubbles: true }})); return it.value"
        );
        assert_eq!(self.run(&script), json!(value), "{selector}");
    }

    /// Presses keys one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: &[&str]) {
        let pressed = keys
            .iter()
            .flat_map(|key| ["keyDown", "keyUp"].map(|what| json!({ "type": what, "value": key })));
        let keys = json!([{ "type": "key", "id": "keys", "actions": pressed.collect::<Vec<_>>() }]);
        self.call("/actions", &json!({ "actions": keys }));
    }

    pub(crate) fn look(&self, look: Look) {
        let size = json!({ "width": look.width, "height": HEIGHT, "deviceScaleFactor": 1,
                           "mobile": look.width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
        let scheme = json!([{ "name": "prefers-color-scheme", "value": look.scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": scheme }));
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.call("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    /// Takes a picture into `MOTLEY_SHOTS`, or where cargo keeps what tests leave.
    pub(crate) fn shoot(&self, name: &str) -> PathBuf {
        let folder = std::env::var_os("MOTLEY_SHOTS").map(PathBuf::from);
        let folder = folder.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
        let mut answer = self.agent.get(format!("{}/screenshot", self.session)).call().unwrap();
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        let told: Value = serde_json::from_str(&text).unwrap();
        let file = folder.join(format!("page-{name}.png"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&file, STANDARD.decode(told["value"].as_str().unwrap()).unwrap()).unwrap();
        file
    }

    /// What the page complained of since it was asked last: errors of scripts, refused files.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.call("/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().unwrap().iter();
        let grave = entries.filter(|entry| entry["level"] == "SEVERE");
        grave.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

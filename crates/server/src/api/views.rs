//! What clients are shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Why a call failed, as RFC 9457 has it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// The status of HTTP.
    pub status: u16,
    /// What the status means.
    pub title: String,
    /// What is wrong here, and what to do.
    pub detail: String,
}

/// How the daemon is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StatusView {
    /// The version of the program.
    pub version: String,
    /// The number of its process.
    pub pid: u32,
    /// Its directory.
    pub directory: String,
    /// Where its dashboard and its API are, where it listens beside its socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The policy in force.
    pub policy: String,
    /// Jobs that wait, run, are held or blocked, and have ended.
    pub jobs: BTreeMap<String, u64>,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that ended since the daemon began.
    #[serde(default)]
    pub ended_tasks: u64,
    /// What it cannot do on this machine, and what is wrong at the moment.
    pub notes: Vec<String>,
    /// What its turns cost, phase by phase.
    #[serde(default)]
    pub phases: Vec<PhaseView>,
}

/// What a phase of turns costs, in milliseconds: of the turns, since the daemon began, that took in
/// what was asked or gave orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PhaseView {
    /// `collect`, `match`, `decide`, `write`, `order`, `start` or `whole`.
    pub phase: String,
    /// How many turns are counted; of `start`, how many processes.
    pub count: u64,
    /// The mean.
    pub mean_ms: f64,
    /// Half took at most so long.
    pub p50_ms: f64,
    /// 95 of 100 took at most so long.
    pub p95_ms: f64,
    /// 99 of 100 took at most so long.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// The numbers that jobs got, or have.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Numbers {
    /// In the order in which they were given.
    pub jobs: Vec<u64>,
}

/// Some of the jobs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct JobPage {
    /// The jobs, the newest first.
    pub jobs: Vec<JobView>,
    /// Where there are more: what to give as `below` to have the next.
    pub next: Option<u64>,
}

/// One job.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub user: u32,
    /// Who it is accounted to.
    pub tenant: String,
    /// Larger goes first.
    pub priority: i32,
    /// How it stands: `waiting`, `held`, `blocked`, `running`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// How many tasks it has.
    pub tasks: u32,
    /// Tasks that wait.
    pub waiting: u32,
    /// Tasks that run.
    pub running: u32,
    /// Tasks that did their work.
    pub done: u32,
    /// Tasks that failed.
    pub failed: u32,
    /// Tasks that were cancelled.
    pub cancelled: u32,
    /// Why it waits, where it does.
    pub reason: Option<String>,
    /// What its tasks run.
    pub command: String,
    /// When it was submitted, in microseconds since 1970.
    pub submitted: u64,
    /// When its last task ended.
    pub ended: Option<u64>,
    /// What its tasks used that have ended, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<UsageView>,
    /// What runs, and where; at most as many as are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunView>,
    /// The first tasks that failed, with how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Vec<Value>>)]
    pub failures: Vec<(u32, String)>,
    /// The status with which a program that waits for the job ends.
    pub status: u8,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// The number of its task, as the user counts.
    pub task: u32,
    /// Which attempt it is; the first is 0.
    pub attempt: u32,
    /// Where.
    pub node: String,
    /// With what.
    pub grant: String,
    /// Since when, in microseconds since 1970.
    pub since: u64,
    /// What it has used so far, where it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<UsageView>,
}

/// What was used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// Processor time.
    pub cpu_seconds: f64,
    /// The most memory of one task.
    pub memory_bytes: u64,
}

/// A page about one job, as figures and as text.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    /// The figures; `docs/explain.md` describes them.
    #[schema(value_type = Object)]
    pub page: Value,
    /// The same as text.
    pub text: String,
}

/// A part of what a task printed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Printed {
    /// The bytes, each as the letter with its number.
    pub bytes: String,
    /// What to give as `from` to have what comes next of the same attempt.
    pub next: u64,
    /// Which attempt at the task printed it; the first is 0.
    pub attempt: u32,
    /// The latest attempt at the task. Where that is another, nothing more comes of this one; what
    /// the next printed begins at 0.
    pub latest: u32,
    /// How many bytes of it were not kept, once it is known that no more will come.
    pub dropped: Option<u64>,
    /// Whether the job has ended.
    pub ended: bool,
}

/// Some of the nodes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NodePage {
    /// The nodes.
    pub nodes: Vec<NodeView>,
    /// Where there are more: what to give as `from` to have the next.
    pub next: Option<usize>,
}

/// How much of something is free, and how much there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Amount {
    /// What nobody holds.
    pub free: f64,
    /// All of it.
    pub whole: f64,
}

/// One node.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// `up`, `drained` or `lost`.
    pub state: String,
    /// The model of its processors.
    pub model: String,
    /// Its cores.
    pub cores: Amount,
    /// Its memory.
    pub memory_bytes: Amount,
    /// Its devices.
    pub devices: Vec<DeviceView>,
    /// How many runs it has.
    pub runs: usize,
}

/// One device.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeviceView {
    /// What it is.
    pub model: String,
    /// Its kind: `gpu`, `tpu`, `fpga`, `npu` or `qpu`.
    pub kind: String,
    /// How much of it: 1 is all.
    pub share: Amount,
    /// Its memory; a whole of 0 where it has none of its own.
    pub memory_bytes: Amount,
    /// How warm it is, where that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius: Option<f64>,
    /// What it draws in watts, where that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
    /// How busy it is, of 1, where that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
}

/// The name of a node.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeName {
    /// The name.
    pub node: String,
}

/// The policy in force.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PolicyView {
    /// Its name.
    pub name: String,
    /// What its file says; a policy that came with the program says what its file would.
    pub text: String,
    /// Its tiers with the weights that hold at the moment, the one that goes first first.
    pub tiers: Vec<TierView>,
}

/// One tier of a policy.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TierView {
    /// The weights of its objectives.
    pub weights: Vec<WeightView>,
}

/// How much one objective counts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WeightView {
    /// The objective.
    pub objective: String,
    /// Its weight.
    pub weight: f64,
}

/// The text of a policy's file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyText {
    /// The text, as TOML.
    pub text: String,
}

/// The name of a policy.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PolicyName {
    /// The name.
    pub policy: String,
}

/// How many tasks run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Running {
    /// How many.
    pub running: u64,
}

/// What ran where lately, what runs, and what is expected to.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineView {
    /// Now, in microseconds since 1970.
    pub now: u64,
    /// One for each node that had or has runs, or is expected to.
    pub lanes: Vec<LaneView>,
    /// Whether there was more than is shown.
    pub is_cut: bool,
}

/// What one node ran, runs and will run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LaneView {
    /// The node.
    pub node: String,
    /// Its runs, by when they began.
    pub bars: Vec<BarView>,
}

/// One run over time.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BarView {
    /// The number of its job.
    pub job: u64,
    /// The name of its job.
    pub name: String,
    /// The number of its task.
    pub task: u32,
    /// `ended`, `running` or `expected`.
    pub state: String,
    /// When it began, or is expected to, in microseconds since 1970.
    pub from: u64,
    /// When it ended, or is expected to, where that is known.
    pub to: Option<u64>,
    /// The devices that it holds, by their place in the node.
    pub devices: Vec<u16>,
    /// The cores that it holds.
    pub cores: f64,
}

/// What other weights of the policy would make of the jobs that wait.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FrontView {
    /// The objectives that are traded.
    pub objectives: Vec<String>,
    /// The figure that each is measured by.
    pub figures: Vec<String>,
    /// The points, none of which is worse in all than another, and the policy in force.
    pub points: Vec<PointView>,
    /// How many jobs it was made of.
    pub jobs: usize,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// One outcome of a front.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PointView {
    /// How it is come by.
    pub label: String,
    /// The figures, in the order of the objectives: seconds, joules, parts of one, or numbers.
    pub values: Vec<f64>,
    /// Whether it is the policy in force.
    pub is_policy: bool,
    /// Whether it is the knee.
    pub is_knee: bool,
    /// Whether no other is better in all.
    pub is_on_front: bool,
}

/// How an alert stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    /// What it watches is as it should be.
    Inactive,
    /// It is not, and not yet for long enough.
    Pending,
    /// It is not, for long enough.
    Firing,
    /// It was firing, and is as it should be again.
    Resolved,
}

/// A rule, and how it stands for one set of labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AlertView {
    /// The name of the rule.
    pub name: String,
    /// What it means and what to do.
    pub summary: String,
    /// How bad it is: `info`, `warning` or `critical`.
    pub severity: String,
    /// What is asked, in words: `motley_jobs{state="waiting"} above 100 for 5m`.
    pub rule: String,
    /// The labels of what is watched.
    pub labels: BTreeMap<String, String>,
    /// How it stands.
    pub state: AlertState,
    /// What was measured last, where there was anything.
    pub value: Option<f64>,
    /// Since when it stands like this, in microseconds since 1970; 0 where nothing was ever wrong.
    pub since: u64,
}

/// What something is about that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A job: `job` says how it stands now.
    Job,
    /// A node: `node` says how it stands now.
    Node,
    /// The policy: `text` is its name.
    Policy,
    /// An alert: `alert` says how it stands now.
    Alert,
    /// What the daemon wrote into its log: `text`.
    Log,
    /// More happened than was kept: everything should be asked for again.
    Reset,
}

/// Something that happened.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// What it is about.
    pub kind: EventKind,
    /// When, in microseconds since 1970.
    pub at: u64,
    /// The job, without its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobView>,
    /// The node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeView>,
    /// The alert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<AlertView>,
    /// A text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl EventView {
    /// Something of this kind, with nothing said about it.
    #[must_use]
    pub fn new(kind: EventKind, at: u64) -> Self {
        Self { kind, at, job: None, node: None, alert: None, text: None }
    }
}

/// A token, without what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// Its name.
    pub name: String,
    /// What it may.
    pub scope: Scope,
    /// The number of the user whose jobs it may change.
    pub user: u32,
    /// When it was made, in microseconds since 1970.
    pub made: u64,
    /// Until when it holds, where that is bounded.
    pub expires: Option<u64>,
}

/// A new token. What proves it is shown this once.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenMade {
    /// What to send as `Authorization: Bearer …`.
    pub secret: String,
    /// The token.
    pub token: TokenView,
}

/// What a client may; each includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look at everything.
    Read,
    /// Submit jobs, and change its own.
    Submit,
    /// Change everything.
    Admin,
}

impl Scope {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Submit => "submit",
            Self::Admin => "admin",
        }
    }
}

/// Who asks.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Whoami {
    /// What they may.
    pub scope: Scope,
    /// The number of the user whose jobs they may change.
    pub user: u32,
}

/// A token that is to be made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Its name: 1 to 64 letters, digits, dots, `-` or `_`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]+$")]
    pub name: String,
    /// What it may.
    pub scope: Scope,
    /// For so many seconds, where that is bounded.
    #[schema(minimum = 1, maximum = 3_155_760_000u64)]
    pub seconds: Option<u64>,
}

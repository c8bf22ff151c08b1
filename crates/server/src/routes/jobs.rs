//! Jobs: submitting, looking, waiting, changing.

#![expect(unused_qualifications, reason = "the macro of utoipa writes paths in full")]

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use fleet::RunId;
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::ask;
use super::input::{Asking, IdempotencyKey, Named, Told};
use crate::api::{
    Call, Chosen, Denial, Explained, JOBS_MAX, JobFilter, JobPage, JobView, Kind, Numbers, Printed,
    Submission, Submissions,
};
use crate::door::{House, Reader, Submitter, Watcher};

/// How many jobs are listed where nobody says.
const LISTED: usize = 1_000;

/// How long the end of a job may be waited for in one call, in seconds.
const WAIT_MAX: u64 = 3_600;
const WAIT: u64 = 30;

/// Which jobs to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobsAsked {
    /// Also those that have ended.
    #[serde(default)]
    ended: bool,
    /// Only those that stand like this: `waiting`, `held`, `blocked`, `running`, `done`, `failed`
    /// or `cancelled`.
    state: Option<JobState>,
    /// Only those whose name has this in it.
    name: Option<String>,
    /// Only those of this tenant.
    tenant: Option<String>,
    /// Only jobs with a number below this one.
    below: Option<u64>,
    /// At most so many: 1 to 10,000.
    #[param(minimum = 1, maximum = 10_000)]
    limit: Option<usize>,
}

/// How a job stands.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobState {
    Waiting,
    Held,
    Blocked,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl JobState {
    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Blocked => "blocked",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// List jobs, the newest first.
#[utoipa::path(get, path = "/v1/jobs", operation_id = "list_jobs", params(JobsAsked), responses(
    (status = 200, description = "Some of the jobs.", body = JobPage, links(
        ("show" = (operation_id = "show", parameters(("job" = "$response.body#/jobs/0/id")))),
    )),
))]
pub(crate) async fn list(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
    Asking(asked): Asking<JobsAsked>,
) -> Result<Json<Value>, Denial> {
    let JobsAsked { ended, state, name, tenant, below, limit } = asked;
    let most = within(limit.unwrap_or(LISTED), JOBS_MAX)?;
    let state = state.map(|state| state.name().to_owned());
    let filter = JobFilter { ended, state, name, tenant };
    ask(&house, Call::Jobs { filter, below, most }, caller).await
}

/// A limit that is at least 1 and at most this.
pub(super) fn within(limit: usize, most: usize) -> Result<usize, Denial> {
    match (1..=most).contains(&limit) {
        true => Ok(limit),
        false => {
            let why = format!("`limit` is {limit}; give 1 to {most}");
            Err(Denial::new(Kind::Malformed, why))
        }
    }
}

/// Run jobs: all of them, or none.
#[utoipa::path(post, path = "/v1/jobs", request_body = Submissions, params(
    ("Idempotency-Key" = Option<String>, Header, max_length = 128, min_length = 1,
     description = "Names this submission: sent again with the same body, it is answered as \
                    before, and nothing is submitted."),
), responses(
    (status = 201, description = "The numbers that the jobs got.", body = Numbers, links(
        ("show" = (operation_id = "show", parameters(("job" = "$response.body#/jobs/0")))),
        ("explain" = (operation_id = "explain", parameters(("job" = "$response.body#/jobs/0")))),
        ("output" = (operation_id = "output", parameters(("job" = "$response.body#/jobs/0")))),
        ("end" = (operation_id = "end", parameters(("job" = "$response.body#/jobs/0")))),
    )),
))]
pub(crate) async fn submit(
    State(house): State<Arc<House>>,
    Submitter(caller): Submitter,
    IdempotencyKey(key): IdempotencyKey,
    Told(Submissions { jobs }, _room): Told<Submissions>,
) -> Result<(StatusCode, Json<Value>), Denial> {
    let numbers = ask(&house, Call::Submit { jobs, key }, caller).await?;
    Ok((StatusCode::CREATED, numbers))
}

/// Show a job in full.
#[utoipa::path(get, path = "/v1/jobs/{job}", params(
    ("job" = String, Path, description = "Its number or its name."),
), responses(
    (status = 200, description = "The job.", body = JobView),
))]
pub(crate) async fn show(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
    Named(job): Named<String>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Job { job }, caller).await
}

/// Say why a job waits or went where it went, and what would start it.
#[utoipa::path(get, path = "/v1/jobs/{job}/explanation", params(
    ("job" = String, Path, description = "Its number or its name."),
), responses(
    (status = 200, description = "The page.", body = Explained),
))]
pub(crate) async fn explain(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
    Named(job): Named<String>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Explain { job }, caller).await
}

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EndAsked {
    /// For at most so many seconds: 0 to 3,600.
    #[param(minimum = 0, maximum = 3_600)]
    timeout: Option<u64>,
}

/// Wait until a job has ended, or for so long; `ended` of what is answered tells which.
#[utoipa::path(get, path = "/v1/jobs/{job}/end", params(
    ("job" = String, Path, description = "Its number or its name."),
    EndAsked,
), responses(
    (status = 200, description = "The job as it is then.", body = JobView),
))]
pub(crate) async fn end(
    State(house): State<Arc<House>>,
    watcher: Watcher,
    Named(job): Named<String>,
    Asking(EndAsked { timeout }): Asking<EndAsked>,
) -> Result<Json<Value>, Denial> {
    let seconds = timeout.unwrap_or(WAIT);
    if seconds > WAIT_MAX {
        let why = format!("`timeout` is {seconds}; wait for at most {WAIT_MAX} seconds");
        return Err(Denial::new(Kind::Malformed, why));
    }
    let Watcher { caller, proof } = watcher;
    let waits = ask(&house, Call::Wait { job: job.clone() }, caller);
    tokio::select! {
        ended = waits => ended,
        () = tokio::time::sleep(Duration::from_secs(seconds)) => {
            ask(&house, Call::Job { job }, caller).await
        }
        () = house.lapse(proof.as_ref()) => {
            Err(Denial::new(Kind::Unknown, "this token was revoked, or holds no more"))
        }
    }
}

/// Which part of what a task printed.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OutputAsked {
    /// The number of the task; that of the first where there is none.
    task: Option<u32>,
    /// What it printed as errors, in place of its output.
    #[serde(default)]
    stream: Stream,
    /// From this byte on.
    #[serde(default)]
    from: u64,
    /// Of this attempt at the task, the first being 0; of the latest where there is none. `from`
    /// counts the bytes of one attempt: whoever asks for the next part says of which.
    attempt: Option<u32>,
}

/// A stream of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stream {
    #[default]
    Output,
    Errors,
}

/// What a task printed, in parts.
#[utoipa::path(get, path = "/v1/jobs/{job}/output", params(
    ("job" = String, Path, description = "Its number or its name."),
    OutputAsked,
), responses(
    (status = 200, description = "The next part of it.", body = Printed),
))]
pub(crate) async fn output(
    State(house): State<Arc<House>>,
    Reader(caller): Reader,
    Named(job): Named<String>,
    Asking(asked): Asking<OutputAsked>,
) -> Result<Json<Printed>, Denial> {
    let OutputAsked { task, stream, from, attempt } = asked;
    let meant = house.counter.ask(Call::Output { job, task, attempt }, caller).await?;
    let failed = |error: &dyn std::fmt::Display| {
        Denial::new(Kind::Unavailable, format!("read what it printed: {error}"))
    };
    let (run, latest, ended): (RunId, u32, bool) =
        serde_json::from_value(meant).map_err(|error| failed(&error))?;
    let source = Arc::clone(&house.output);
    let read = move || source(run, stream == Stream::Errors, from);
    let part = tokio::task::spawn_blocking(read).await.map_err(|error| failed(&error))?;
    let part = part.map_err(|error| failed(&error))?;
    let next = from.saturating_add(part.bytes.len() as u64);
    let bytes = part.bytes.into_iter().map(char::from).collect();
    let (attempt, dropped) = (run.attempt.0, part.dropped);
    Ok(Json(Printed { bytes, next, attempt, latest, dropped, ended }))
}

/// Cancel jobs.
#[utoipa::path(post, path = "/v1/cancel", request_body = Chosen, responses(
    (status = 200, description = "The jobs that are cancelled.", body = Numbers),
))]
pub(crate) async fn cancel(
    State(house): State<Arc<House>>,
    Submitter(caller): Submitter,
    Told(jobs, _room): Told<Chosen>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Cancel { jobs }, caller).await
}

/// Start no more tasks of jobs; what runs goes on.
#[utoipa::path(post, path = "/v1/hold", request_body = Chosen, responses(
    (status = 200, description = "The jobs that are held.", body = Numbers),
))]
pub(crate) async fn hold(
    State(house): State<Arc<House>>,
    Submitter(caller): Submitter,
    Told(jobs, _room): Told<Chosen>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Hold { jobs }, caller).await
}

/// Let jobs that are held run.
#[utoipa::path(post, path = "/v1/release", request_body = Chosen, responses(
    (status = 200, description = "The jobs that may run.", body = Numbers),
))]
pub(crate) async fn release(
    State(house): State<Arc<House>>,
    Submitter(caller): Submitter,
    Told(jobs, _room): Told<Chosen>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Release { jobs }, caller).await
}

/// Say what would happen to a job, and do nothing.
#[utoipa::path(post, path = "/v1/plan", request_body = Submission, responses(
    (status = 200, description = "The page.", body = Explained),
))]
pub(crate) async fn plan(
    State(house): State<Arc<House>>,
    Submitter(caller): Submitter,
    Told(job, _room): Told<Submission>,
) -> Result<Json<Value>, Denial> {
    ask(&house, Call::Plan { job: Box::new(job) }, caller).await
}

//! The form of what is told as JSON and read elsewhere, for the OpenAPI document alone.
//!
//! What a job asks for is read as a job of a workload file is, which `docs/files.md` describes; an
//! output and a dependency are types of `fleet`, which knows no HTTP.

use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};

fn read(told: Value) -> RefOr<Schema> {
    RefOr::T(serde_json::from_value(told).expect("it has the form of a schema"))
}

/// A whole number from this one to that one.
fn whole(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

/// A number, or the same as text, with its unit where it has one.
fn amount(what: &str) -> Value {
    json!({ "type": ["number", "string"], "description": what })
}

fn rates() -> Value {
    json!({ "type": "object", "additionalProperties": amount("Work a second on this model.") })
}

fn device() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["kind"],
        "properties": {
            "kind": { "type": "string", "enum": ["gpu", "tpu", "fpga", "npu", "qpu"] },
            "count": whole(1, 1_024),
            "share": amount("How much of one device: above 0, at most 1."),
            "memory": amount("Device memory needed on each: `\"10GiB\"`."),
            "models": { "type": "array", "items": { "type": "string" } },
            "compute_units": whole(0, u64::from(u32::MAX)),
            "capability": { "type": "string" },
            "pcie_bandwidth": amount("`\"25GB/s\"`."),
            "profile": { "type": "string" },
        },
    })
}

fn alternative() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "anyOf": [{ "required": ["cores"] }, { "required": ["device"] }],
        "properties": {
            "cores": amount("Cores of one task."),
            "memory": amount("Memory of one task: `\"32GiB\"`."),
            "device": device(),
            "numa": { "type": "string", "enum": ["any", "single"] },
            "memory_bandwidth": amount("`\"20GB/s\"`."),
            "network_bandwidth": amount("`\"10Gbit/s\"`."),
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "rates": rates(),
            "communication": { "type": "object" },
        },
    })
}

fn datasets() -> Value {
    json!({
        "type": "array",
        "maxItems": 64,
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "size"],
            "properties": { "name": { "type": "string" }, "size": amount("`\"2GiB\"`.") },
        },
    })
}

/// A job that any daemon takes.
pub(super) fn example() -> Value {
    json!({
        "job": { "name": "hello", "tasks": 2, "alternative": [{ "cores": 1, "memory": "64MiB" }] },
        "arguments": ["echo", "hello"],
        "directory": "/",
        "environment": ["PATH=/usr/bin:/bin"],
    })
}

/// What a job asks for.
pub(super) fn job() -> RefOr<Schema> {
    read(json!({
        "type": "object",
        "description": "What it asks for: a job in the form of a workload file, without when it \
                        arrives; docs/files.md says what each part means.",
        "additionalProperties": false,
        "required": ["name", "alternative"],
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 4_096 },
            "tenant": { "type": "string", "minLength": 1, "maxLength": 4_096 },
            "priority": { "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX },
            "tasks": whole(1, u64::from(u32::MAX)),
            "gang": { "type": "boolean" },
            "tasks_per_node": whole(1, u64::from(u32::MAX)),
            "switches": whole(1, u64::from(u32::MAX)),
            "work": amount("Work of one task; without it, it runs without end."),
            "deadline": amount("Counted from now: `\"2h\"`."),
            "inputs": datasets(),
            "outputs": datasets(),
            "alternative": {
                "type": "array",
                "minItems": 1,
                "maxItems": 256,
                "items": alternative(),
            },
        },
    }))
}

/// Where output goes.
pub(super) fn output() -> RefOr<Schema> {
    read(json!({
        "description": "Where its output goes.",
        "oneOf": [
            { "type": "string", "enum": ["kept", "discarded"] },
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["files"],
                "properties": { "files": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": 2,
                    "description": "One for output, and one for errors or null.",
                    "prefixItems": [{ "type": "string" }, { "type": ["string", "null"] }],
                    "items": { "type": ["string", "null"] },
                } },
            },
        ],
    }))
}

/// What must have ended before.
pub(super) fn after() -> RefOr<Schema> {
    read(json!({
        "type": "array",
        "maxItems": 1_000,
        "description": "The jobs that must have ended before, by number or name, and how; `#2` is \
                        the second job of the call.",
        "items": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "prefixItems": [
                { "type": "string" },
                { "type": "string", "enum": ["done", "notdone", "any"] },
            ],
            "items": { "type": "string" },
        },
    }))
}

/// Which jobs are meant.
pub(super) fn chosen() -> RefOr<Schema> {
    let one = |name: &str, form: Value| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": [name],
            "properties": { (name): form },
        })
    };
    let jobs = json!({
        "type": "array",
        "minItems": 1,
        "maxItems": super::JOBS_MAX,
        "items": { "type": "string" },
        "description": "These, by number or name.",
    });
    let all = json!({
        "type": "boolean",
        "enum": [true],
        "description": "All that have not ended and that whoever asks may change.",
    });
    read(json!({ "oneOf": [one("jobs", jobs), one("all", all)] }))
}

//! Sketch text into the parts of a snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use super::alternative::{alternative, known_model, labels, placement as place, run_name};
use super::line::Line;
use super::wiring::{attachment, gang, topology};
use super::{SketchError, WordFault, datasets, inside, signals, slices};
use crate::device::{DeviceClass, DeviceKind, Power, ShareRule};
use crate::id::{Attempt, ClassId, Generation, JobId, NodeId, TaskIndex, Tenant};
use crate::job::{Alternative, Job};
use crate::node::Node;
use crate::parse::ParseError;
use crate::plan::Placement;
use crate::policy::Regime;
use crate::program::Restart;
use crate::run::{Run, Stage};
use crate::snapshot::{Mix, MixShape, Parts, Progress, Snapshot, Waiting};
use crate::units::{Span, Time, Work};

/// The most nodes, classes, and devices of one node: more than anybody writes down, and little
/// enough that one short line cannot ask for all the memory there is.
const NODES_MAX: usize = 100_000;
const CLASSES_MAX: usize = 10_000;
const DEVICES_MAX: usize = 1024;

/// Reads a sketch.
pub(super) fn parts(text: &str) -> Result<Parts, SketchError> {
    let mut sketch = Sketch::default();
    for (index, text) in text.lines().enumerate() {
        let Some(line) = Line::new(index + 1, text) else { continue };
        sketch.read(line)?;
    }
    sketch.finish()
}

/// Reads a placement of a job that waits.
pub(super) fn placement(snapshot: &Snapshot, text: &str) -> Result<Placement, SketchError> {
    let text = format!("start {text}");
    let Some(mut line) = Line::new(1, &text) else { unreachable!("the line has a first word") };
    let word = line.name("the run")?;
    let (name, task, attempt) = run_name(&line, word)?;
    let waiting = snapshot.backlog.values().find(|waiting| waiting.job.name == name);
    let job = waiting.ok_or_else(|| line.fault(name, WordFault::NotAbove { what: "job" }))?;
    let name = line.name("the node")?;
    let entry = snapshot.nodes.iter().find(|entry| entry.node.name == name);
    let entry = entry.ok_or_else(|| line.fault(name, WordFault::NotAbove { what: "node" }))?;
    let run = (&*job.job, task, attempt);
    let placement = place(&mut line, &snapshot.classes, run, &entry.node)?;
    line.finish()?;
    Ok(placement)
}

/// What was read so far.
#[derive(Default)]
struct Sketch {
    parts: Parts,
    nodes: BTreeMap<String, NodeId>,
    jobs: Vec<Sketched>,
    names: BTreeMap<String, usize>,
    mix: BTreeMap<Alternative, u64>,
    /// Where the nodes of the last line of nodes begin, if only lines about their inside follow it.
    open_nodes: Option<usize>,
    /// Whether the line before was a job or an `or`.
    job_open: bool,
}

/// A job, and what other lines say of its tasks.
struct Sketched {
    job: Job,
    line: usize,
    /// Tasks that were started.
    started: BTreeSet<u32>,
    again: BTreeMap<TaskIndex, Attempt>,
}

impl Sketch {
    fn read(&mut self, mut line: Line<'_>) -> Result<(), SketchError> {
        let job_open = std::mem::replace(&mut self.job_open, matches!(line.item(), "job" | "or"));
        let open_nodes = self.open_nodes.take();
        match line.item() {
            "class" => self.class(&mut line)?,
            "node" => self.node(&mut line)?,
            "domain" | "distances" | "pcie" | "nic" => {
                self.open_nodes = open_nodes;
                let start = open_nodes.unwrap_or(self.parts.nodes.len());
                inside::read(&mut line, &mut self.parts.nodes[start..])?;
            }
            "job" => self.job(&mut line)?,
            "or" if job_open => self.or(&mut line)?,
            "or" => return Err(line.fault("or", WordFault::WithoutJob)),
            "run" => self.run(&mut line)?,
            "again" => self.again(&mut line)?,
            "did" => self.did(&mut line)?,
            "mix" => self.mix(&mut line)?,
            "rotation" => self.rotation(&mut line)?,
            "regimes" => self.regimes(&mut line)?,
            "at" => self.at(&mut line)?,
            "signal" => signals::signal(&mut line, &self.nodes, &mut self.parts)?,
            "data" => datasets::data(&mut line, &self.nodes, &mut self.parts.catalogue)?,
            item => return Err(line.fault(item, WordFault::UnknownItem)),
        }
        line.finish()
    }

    fn class(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let model = line.name("the model")?;
        if self.parts.classes.find(model).is_some() {
            return Err(line.fault(model, WordFault::Twice));
        }
        if self.parts.classes.0.len() == CLASSES_MAX {
            return Err(line.fault(model, too_many("classes", CLASSES_MAX)));
        }
        let kind = line.name("the kind")?;
        let fault = WordFault::Malformed { what: "a kind of device", example: "cpu or gpu" };
        let kind = DeviceKind::from_name(kind).ok_or_else(|| line.fault(kind, fault))?;
        let share = match line.value("share")? {
            None | Some("exclusive") => ShareRule::Exclusive,
            Some("milli") => ShareRule::Milli,
            Some("slices") => ShareRule::Slices,
            Some(word) => {
                let fault = WordFault::Malformed { what: "a share rule", example: "share=milli" };
                return Err(line.fault(word, fault));
            }
        };
        let capabilities = line.value("cap")?.into_iter().flat_map(|names| names.split(','));
        let class = DeviceClass {
            model: model.to_owned(),
            kind,
            memory: line.quantity("mem")?.unwrap_or_default(),
            compute_units: line.number("units")?.unwrap_or_default(),
            capabilities: capabilities.map(str::to_owned).collect(),
            share,
            profiles: slices::profiles(line)?,
            power: power(line)?,
        };
        self.parts.classes.0.push(class);
        Ok(())
    }

    fn node(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let name = line.name("the name")?;
        let node = Node {
            id: NodeId(0),
            name: name.to_owned(),
            cpu: self.processor(line)?,
            cores: needed(line, "cores")?,
            memory: needed(line, "mem")?,
            devices: self.devices(line)?,
            labels: labels(line)?,
            power: power(line)?,
            socket: line.quantity("socket")?.unwrap_or_default(),
            network: line.quantity("net")?.unwrap_or_default(),
            topology: topology(line)?,
            attachment: attachment(line)?,
        };
        let up = !line.flag("down");
        let times = line.times();
        if times.map_or(1, |times| times as usize) > NODES_MAX - self.parts.nodes.len() {
            return Err(line.fault(name, too_many("nodes", NODES_MAX)));
        }
        let names = match times {
            Some(times) => (0..times).map(|index| format!("{name}-{index}")).collect(),
            None => vec![name.to_owned()],
        };
        self.open_nodes = Some(self.parts.nodes.len());
        for name in names {
            let id = NodeId(u32::try_from(self.parts.nodes.len()).expect("fewer than 2^32 nodes"));
            if self.nodes.insert(name.clone(), id).is_some() {
                return Err(line.fault(&name, WordFault::Twice));
            }
            self.parts.nodes.push((Node { id, name, ..node.clone() }, up));
        }
        Ok(())
    }

    fn processor(&self, line: &mut Line<'_>) -> Result<ClassId, SketchError> {
        if let Some(model) = line.value("cpu")? {
            let class = known_model(line, &self.parts.classes, model)?;
            if self.parts.classes.get(class).kind != DeviceKind::Cpu {
                let fault = WordFault::Malformed { what: "of kind cpu", example: "cpu=epyc" };
                return Err(line.fault(model, fault));
            }
            return Ok(class);
        }
        let mut classes = self.parts.classes.iter();
        let first = classes.find(|(_, class)| class.kind == DeviceKind::Cpu).map(|(id, _)| id);
        first.ok_or_else(|| line.fault(line.item(), WordFault::Missing { what: "cpu=" }))
    }

    fn devices(&self, line: &mut Line<'_>) -> Result<Vec<ClassId>, SketchError> {
        let mut devices = Vec::new();
        for word in line.value("dev")?.into_iter().flat_map(|word| word.split(',')) {
            let (model, count) = match word.split_once('*') {
                Some((model, count)) => (model, line.whole::<u16>(count)?),
                None => (word, 1),
            };
            let class = known_model(line, &self.parts.classes, model)?;
            if self.parts.classes.get(class).kind == DeviceKind::Cpu {
                let fault = WordFault::Malformed { what: "a device", example: "dev=a100*2" };
                return Err(line.fault(model, fault));
            }
            if usize::from(count) > DEVICES_MAX - devices.len() {
                return Err(line.fault(word, too_many("devices of a node", DEVICES_MAX)));
            }
            devices.extend((0..count).map(|_| class));
        }
        Ok(devices)
    }

    fn job(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let name = line.name("the name")?;
        let index = self.jobs.len();
        if name.contains('/') {
            let fault = WordFault::Malformed { what: "a job's name", example: "train" };
            return Err(line.fault(name, fault));
        }
        if self.names.insert(name.to_owned(), index).is_some() {
            return Err(line.fault(name, WordFault::Twice));
        }
        let tasks = line.number("tasks")?.unwrap_or(1);
        if tasks == 0 {
            return Err(line.fault("tasks", WordFault::Missing { what: "a task" }));
        }
        let job = Job {
            id: JobId(index as u64),
            name: name.to_owned(),
            tenant: Tenant::new(line.value("tenant")?.unwrap_or("default")),
            priority: line.number("prio")?.unwrap_or_default(),
            arrival: moment(line, "at")?.unwrap_or_default(),
            tasks,
            gang: gang(line)?,
            work: line.quantity("work")?,
            deadline: moment(line, "deadline")?,
            alternatives: Arc::new(vec![alternative(line, &self.parts.classes)?]),
            datasets: datasets::of_job(line)?,
            program: None,
            restart: Restart::default(),
            after: Vec::new(),
        };
        self.mix_in(line, &job.alternatives[0], tasks.into())?;
        let (started, again) = (BTreeSet::new(), BTreeMap::new());
        self.jobs.push(Sketched { job, line: line.position(), started, again });
        Ok(())
    }

    fn or(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let other = alternative(line, &self.parts.classes)?;
        let sketched = self.jobs.last_mut().expect("a job is on the line above");
        Arc::make_mut(&mut sketched.job.alternatives).push(other);
        Ok(())
    }

    fn run(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let word = line.name("the run")?;
        let (index, task, attempt) = self.find_run(line, word)?;
        let name = line.name("the node")?;
        let id = self.find_node(line, name)?;
        let job = &self.jobs[index].job;
        let node = &self.parts.nodes[id.index()].0;
        let placement = place(line, &self.parts.classes, (job, task, attempt), node)?;
        let run = Run {
            placement,
            tenant: job.tenant.clone(),
            stage: stage(line)?,
            since: moment(line, "since")?.unwrap_or_default(),
            generation: Generation(line.number("generation")?.unwrap_or_default()),
        };
        self.parts.runs.push(run);
        self.jobs[index].started.insert(task.0);
        Ok(())
    }

    fn again(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let word = line.name("the run")?;
        let (index, task, attempt) = self.find_run(line, word)?;
        let sketched = &mut self.jobs[index];
        if task.0 >= sketched.job.tasks {
            return Err(line.fault(word, WordFault::TaskUnknown { tasks: sketched.job.tasks }));
        }
        if attempt.0 == 0 {
            let fault = WordFault::Malformed { what: "a later attempt", example: "train/0.1" };
            return Err(line.fault(word, fault));
        }
        if sketched.again.insert(task, attempt).is_some() {
            return Err(line.fault(word, WordFault::Twice));
        }
        sketched.started.insert(task.0);
        Ok(())
    }

    fn did(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let word = line.name("the run")?;
        let (index, task, _) = self.find_run(line, word)?;
        let done: Work = needed(line, "done")?;
        let kept = line.quantity("kept")?.unwrap_or(done);
        let at = moment(line, "at")?.unwrap_or_default();
        let of_job = self.parts.progress.entry(JobId(index as u64)).or_default();
        of_job.insert(task, Progress { done, at, kept });
        Ok(())
    }

    fn mix(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let word = line.name("the count")?;
        let count: u64 = line.whole(word)?;
        let shape = alternative(line, &self.parts.classes)?;
        self.mix_in(line, &shape, count)
    }

    fn mix_in(
        &mut self,
        line: &Line<'_>,
        shape: &Alternative,
        count: u64,
    ) -> Result<(), SketchError> {
        let counted = self.mix.entry(shape.clone()).or_default();
        let total = counted.checked_add(count);
        let fault = WordFault::TooMany { what: "tasks of one shape in the mix", most: u64::MAX };
        *counted = total.ok_or_else(|| line.fault(line.item(), fault))?;
        Ok(())
    }

    fn rotation(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let name = line.name("the node")?;
        self.parts.memory.rotation = Some(self.find_node(line, name)?);
        Ok(())
    }

    fn regimes(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        for word in line.rest() {
            let regime = match word {
                "below" => Regime::Below,
                "between" => Regime::Between,
                "above" => Regime::Above,
                _ => {
                    let fault = WordFault::Malformed { what: "a regime", example: "below" };
                    return Err(line.fault(word, fault));
                }
            };
            self.parts.memory.regimes.push(regime);
        }
        Ok(())
    }

    fn at(&mut self, line: &mut Line<'_>) -> Result<(), SketchError> {
        let word = line.name("the time")?;
        let span: Span =
            word.parse().map_err(|source: ParseError| line.fault(word, source.into()))?;
        self.parts.at = Time(span.0);
        Ok(())
    }

    fn find_run(
        &self,
        line: &Line<'_>,
        word: &str,
    ) -> Result<(usize, TaskIndex, Attempt), SketchError> {
        let (name, task, attempt) = run_name(line, word)?;
        match self.names.get(name) {
            Some(index) => Ok((*index, task, attempt)),
            None => Err(line.fault(name, WordFault::NotAbove { what: "job" })),
        }
    }

    fn find_node(&self, line: &Line<'_>, name: &str) -> Result<NodeId, SketchError> {
        let found = self.nodes.get(name).copied();
        found.ok_or_else(|| line.fault(name, WordFault::NotAbove { what: "node" }))
    }

    fn finish(self) -> Result<Parts, SketchError> {
        let Self { mut parts, jobs, mix, .. } = self;
        for sketched in jobs {
            let Sketched { job, line, started, again } = sketched;
            let Some(fresh) = fresh(job.tasks, &started) else {
                return Err(SketchError::Line { line, word: job.name, fault: WordFault::Gap });
            };
            let job = Arc::new(job);
            parts.jobs.push(Arc::clone(&job));
            if !again.is_empty() || !fresh.is_empty() {
                parts.backlog.push(Waiting { job, fresh, again });
            }
        }
        let mut shapes: Vec<_> =
            mix.into_iter().map(|(shape, count)| MixShape { count, shape }).collect();
        shapes.sort_by_key(|mixed| std::cmp::Reverse(mixed.count));
        parts.mix = Mix { shapes, ..Mix::default() };
        Ok(parts)
    }
}

/// The tasks that were never started; nothing where they are not one range.
fn fresh(tasks: u32, started: &BTreeSet<u32>) -> Option<Range<u32>> {
    let is_fresh = |task: &u32| !started.contains(task);
    let Some(first) = (0..tasks).find(is_fresh) else { return Some(tasks..tasks) };
    let last = (first..tasks).rfind(is_fresh)?;
    let fresh = first..last + 1;
    (fresh.len() + started.len() == tasks as usize).then_some(fresh)
}

fn too_many(what: &'static str, most: usize) -> WordFault {
    WordFault::TooMany { what, most: most as u64 }
}

fn power(line: &mut Line<'_>) -> Result<Power, SketchError> {
    let idle = line.quantity("idle")?.unwrap_or_default();
    Ok(Power { idle, busy: line.quantity("busy")?.unwrap_or(idle) })
}

fn needed<T>(line: &mut Line<'_>, key: &'static str) -> Result<T, SketchError>
where
    T: FromStr<Err = ParseError>,
{
    let quantity = line.quantity(key)?;
    quantity.ok_or_else(|| line.fault(line.item(), WordFault::Missing { what: key }))
}

fn moment(line: &mut Line<'_>, key: &str) -> Result<Option<Time>, SketchError> {
    Ok(line.quantity(key)?.map(|span: Span| Time(span.0)))
}

fn stage(line: &mut Line<'_>) -> Result<Stage, SketchError> {
    match line.value("stage")? {
        Some("ordered") => Ok(Stage::Ordered),
        None | Some("running") => Ok(Stage::Running),
        Some("stray") => Ok(Stage::Stray),
        Some("cancelled") => Ok(Stage::Cancelled),
        Some("recalled") => Ok(Stage::Recalled),
        Some("stopping") => Ok(Stage::Stopping),
        Some(word) => {
            let fault = WordFault::Malformed { what: "a stage", example: "stage=running" };
            Err(line.fault(word, fault))
        }
    }
}

//! The readers: what they take, what they refuse and with which words.

#[cfg(test)]
mod any;
#[cfg(test)]
mod datasets;
#[cfg(test)]
mod fleets;
#[cfg(test)]
mod gangs;
#[cfg(test)]
mod gavel;
#[cfg(test)]
mod inside;
#[cfg(test)]
mod jobs;
#[cfg(test)]
mod links;
#[cfg(test)]
mod openb;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod slices;
#[cfg(test)]
mod support;
#[cfg(test)]
mod swf;
#[cfg(test)]
mod job_list;
#[cfg(test)]
mod wrong_jobs;

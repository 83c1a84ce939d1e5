//! Calls fresh instances of a library with rows, and records their answers and side effects.

use super::ROWS;
use super::inputs::{Examined, usual_rows};
use crate::native::backend::{Backend, Batch, bytes_of, bytes_of_mut};
use crate::native::cell::now;
use crate::native::in_process::InProcess;
use crate::native::inspect::PluginInfo;
use crate::native::kind::{InputRows, Kind};
use crate::native::library::Library;
use crate::native::probe::pose_room;
use crate::native::roads::FlatRoads;
use crate::native::views::TrialViews;
use roadwright_agent::{ModuleKind, Step};
use roadwright_geometry::math::Stream;
use roadwright_plugin_api::PlanPose;
use std::sync::Arc;

/// Number of steps for each instance.
pub(super) const STEPS: u64 = 20;
/// Numbers of later steps that are run in addition to the first ones, because some problems appear
/// late.
// Overflowing counters, full buffers and times that lose precision appear only then.
const LATE: [u64; 4] = [1_000, 1_001, 100_000, 10_000_000];
/// Value of guard bytes, which a plugin must not overwrite.
// This is neither zero nor a status nor part of a common number.
const CANARY: u8 = 0xa5;

/// Result of calling an instance with rows.
pub(super) struct Answers<K: Kind> {
    pub(super) outputs: Vec<K::Output>,
    pub(super) status: Vec<u8>,
    pub(super) routes: Vec<Vec<u32>>,
    pub(super) seconds: f64,
    pub(super) changed_mode: bool,
    pub(super) overwritten: bool,
    /// Whether the plugin has written to its inputs.
    pub(super) changed_inputs: bool,
}

pub(super) struct Examiner {
    pub(super) library: Arc<Library>,
    pub(super) info: PluginInfo,
    pub(super) roads: FlatRoads,
    /// Data that a controller requests in addition to its rows.
    pub(super) views: Option<TrialViews>,
}

impl Examiner {
    pub(super) fn fresh<K: Kind>(&self) -> Result<InProcess, String> {
        let backend =
            InProcess::new(self.library.clone(), K::KIND).map_err(|fault| fault.message)?;
        let indices: Vec<u32> = (0..ROWS as u32).collect();
        backend
            .agents_changed(ROWS as u32, &indices, &[])
            .map_err(|fault| fault.message)?;
        Ok(backend)
    }

    /// Calls the instance with the rows of the given agents, in batches of a given size.
    pub(super) fn ask<K: Kind>(
        &self,
        backend: &InProcess,
        step: u64,
        rows: &[(u32, K::Input)],
        size: usize,
    ) -> Result<Answers<K>, String> {
        let mut answers = Answers::<K> {
            outputs: Vec::new(),
            status: Vec::new(),
            routes: Vec::new(),
            seconds: 0.0,
            changed_mode: false,
            overwritten: false,
            changed_inputs: false,
        };
        let is_planner = K::KIND == ModuleKind::Planner;
        let delays = vec![0.0f32; self.roads.lanelets.len()];
        for rows in rows.chunks(size) {
            let count = rows.len();
            let indices: Vec<u32> = rows.iter().map(|(index, _)| *index).collect();
            let ids: Vec<u64> = indices.iter().map(|index| u64::from(*index) + 1).collect();
            let mut inputs: Vec<K::Input> = rows.iter().map(|(_, input)| *input).collect();
            if let Some(views) = &self.views {
                inputs.iter_mut().for_each(|input| K::place(input, views));
            }
            let laid_out = InputRows::new::<K>(&inputs, self.info.abi.1);
            let moment = Step {
                time: step as f64 * 0.03,
                period: 0.03,
                index: step,
                seed: 7,
                indices: &indices,
                ids: &ids,
            };
            let seeds: Vec<u64> = ids.iter().map(|id| moment.seed_of(*id)).collect();
            // An extra row and status, which must stay unchanged.
            let mut outputs = vec![K::Output::default(); count + 1];
            bytes_of_mut(&mut outputs[count..]).fill(CANARY);
            let mut status = vec![0u8; count + 1];
            status[count] = CANARY;
            let mut route = vec![0u32; if is_planner { 64 * count + 1024 } else { 0 }];
            let mut poses = vec![PlanPose::default(); pose_room(K::KIND, count)];
            let mut batch = Batch {
                step: moment,
                seeds: &seeds,
                inputs: laid_out.bytes(),
                outputs: bytes_of_mut(&mut outputs[..count]),
                by_pedals: K::BY_PEDALS,
                views: self
                    .views
                    .as_ref()
                    .filter(|_| K::HAS_VIEWS)
                    .map(TrialViews::views),
                status: &mut status[..count],
                roads: is_planner.then_some(&self.roads),
                delays: &delays,
                route: &mut route,
                route_length: 0,
                poses: &mut poses,
                pose_length: 0,
            };
            // The interface declares inputs as const, but a C plugin can cast that away.
            let told = laid_out.bytes().to_vec();
            let began = now();
            let changed = backend.step(&mut batch).map_err(|fault| fault.message)?;
            answers.seconds += began.elapsed().as_secs_f64();
            answers.changed_mode |= changed;
            answers.changed_inputs |= told != laid_out.bytes();
            answers.overwritten |= status[count] != CANARY
                || bytes_of(&outputs[count..])
                    .iter()
                    .any(|byte| *byte != CANARY);
            outputs.truncate(count);
            status.truncate(count);
            for output in &mut outputs {
                let mut taken = K::take_route(output, &route);
                taken.extend(K::take_poses(output, &poses));
                answers.routes.push(taken);
            }
            answers.outputs.extend(outputs);
            answers.status.extend(status);
        }
        Ok(answers)
    }

    /// Calls a fresh instance for several steps, with the rows of each step in the given order. Returns the bytes
    /// and routes of all answers, ordered by agent.
    pub(super) fn history<K: Examined>(
        &self,
        size: usize,
        order: Order,
    ) -> Result<Vec<u8>, String> {
        let backend = self.fresh::<K>()?;
        let mut history = Vec::new();
        for step in (0..STEPS).chain(LATE) {
            history.extend(self.one_step::<K>(&backend, step, size, order)?);
        }
        Ok(history)
    }

    pub(super) fn one_step<K: Examined>(
        &self,
        backend: &InProcess,
        step: u64,
        size: usize,
        order: Order,
    ) -> Result<Vec<u8>, String> {
        let mut rows = usual_rows::<K>(step);
        if order == Order::Shuffled {
            let mut random = Stream::new(step, "order", 0);
            for at in (1..rows.len()).rev() {
                rows.swap(at, random.next_index(at + 1));
            }
        }
        let answers = self.ask::<K>(backend, step, &rows, size)?;
        let mut by_agent: Vec<(u32, Vec<u8>)> = rows
            .iter()
            .enumerate()
            .map(|(at, (slot, _))| {
                let mut bytes = bytes_of(&answers.outputs[at..=at]).to_vec();
                bytes.push(answers.status[at]);
                bytes.extend(bytes_of(&answers.routes[at]));
                (*slot, bytes)
            })
            .collect();
        by_agent.sort_by_key(|(slot, _)| *slot);
        Ok(by_agent.into_iter().flat_map(|(_, bytes)| bytes).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Sorted,
    Shuffled,
}

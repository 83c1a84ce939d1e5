//! Perception for behaviours: gaps on adjacent lanes, the goal, and the junction ahead.
use super::{OPEN_GROUND_SPEED, View};
use crate::records::AgentIndex;
use crate::traffic::LaneEntry;
use crate::vehicle_type::VehicleType;
use roadwright_agent::{LANE_ENDS, LaneEndSight};
use roadwright_plugin_api::{BehaviourInput, NOTHING};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind, NO_LANELET};

/// Number of lanelets ahead within which behaviours see a junction.
const JUNCTION_SIGHT: u32 = 8;
/// Number of lanelets behind an agent that are searched for vehicles before a lane change.
const LANELETS_BEHIND: u32 = 4;
/// Distance behind an agent that is searched for vehicles before a lane change, m.
const SEEN_BEHIND: f64 = 50.0;

/// An agent clears its lane for a vehicle ahead on an adjacent lane that ends if the time gap to
/// that vehicle is shorter than this, s.
const MAKES_ROOM_WITHIN: f64 = 2.0;

/// A lane that an agent can change to because its own lane ends, or to make room for a vehicle
/// whose lane ends.
struct Leaving {
    beside: LaneletIndex,
    /// 1 if that lane is on the left, -1 if it is on the right.
    side: f64,
    /// Distance to the end of the agent's lane or, if the lane continues, to the end of its
    /// lanelet, m.
    remaining: f64,
}

impl View<'_> {
    /// Returns the input of a behaviour that only chooses when to change lanes. It is empty if the
    /// route requires no lane change and the lane does not end. `sight` contains the distances from
    /// which the behaviour sees the end of its lane; `None` if it does not look for lane ends.
    pub(crate) fn lane_change_input(
        &self,
        agent: AgentIndex,
        sight: Option<LaneEndSight>,
    ) -> BehaviourInput {
        if !self.position(agent).is_on_lane() {
            return BehaviourInput::default();
        }
        let at = self.progress(agent).at;
        if self.route(agent).changes_lane_at(at, self.ground) {
            return self.behaviour_input(agent);
        }
        let leaving = sight.and_then(|sight| {
            let own = self.lane_to_leave(agent, sight);
            own.or_else(|| self.lane_to_clear(agent, sight))
        });
        let Some(leaving) = leaving else {
            return BehaviourInput::default();
        };
        let mut input = self.behaviour_input(agent);
        self.target_gaps(agent, leaving.beside, &mut input);
        input.lane_change_needed = LANE_ENDS * leaving.side;
        input.lane_remaining = leaving.remaining;
        input
    }

    /// Finds a lane that an agent can change to because its own lane ends within sight and its
    /// route continues beyond that end; `None` if there is none.
    fn lane_to_leave(&self, agent: AgentIndex, sight: LaneEndSight) -> Option<Leaving> {
        let (position, progress) = (self.position(agent), self.progress(agent));
        let end = self.ground.lane_end(position.lanelet)?;
        let remaining = end.distance - position.s;
        let lanelet = self.ground.lanelet(position.lanelet);
        let goes_on = progress.goal_at > progress.at && position.may_change_lane();
        let admits = |id| {
            let class = self.vehicle_type(agent).class;
            self.ground.lanelet(id).access.admits(class)
        };
        let is_seen = remaining <= sight.at(lanelet.speed_limit);
        (goes_on && is_seen && admits(end.beside)).then_some(Leaving {
            beside: end.beside,
            side: if end.beside == lanelet.left {
                1.0
            } else {
                -1.0
            },
            remaining,
        })
    }

    /// Finds a lane that an agent can change to in order to make room for a vehicle ahead on an
    /// adjacent lane that ends; `None` if there is no such vehicle, or no lane on the other side.
    fn lane_to_clear(&self, agent: AgentIndex, sight: LaneEndSight) -> Option<Leaving> {
        let (position, progress) = (self.position(agent), self.progress(agent));
        if !self.ground.has_beside(position.lanelet) {
            return None;
        }
        let lanelet = self.ground.lanelet(position.lanelet);
        let sides = [
            (lanelet.left, lanelet.right, 1.0),
            (lanelet.right, lanelet.left, -1.0),
        ];
        // Whether an adjacent lane ends and merges into this lane, and the next vehicle on it is
        // near.
        let wants_in = |ending: LaneletIndex| {
            let end = self.ground.lane_end(ending);
            let end = end.filter(|end| end.beside == position.lanelet);
            end.is_some_and(|end| {
                let remaining = end.distance - position.s;
                let reach = MAKES_ROOM_WITHIN * self.motion(agent).speed;
                let near = || self.beside(agent, ending).next();
                remaining > 0.0
                    && remaining <= sight.at(lanelet.speed_limit)
                    && near().is_some_and(|other| other.gap < reach)
            })
        };
        let class = self.vehicle_type(agent).class;
        let is_free = |id: LaneletIndex| {
            id != NO_LANELET
                && self.ground.lane_end(id).is_none()
                && self.ground.lanelet(id).access.admits(class)
        };
        let goes_on = progress.goal_at > progress.at && position.may_change_lane();
        let mut sides = sides.into_iter().filter(|_| goes_on);
        let side = sides.find(|&(target, ending, _)| {
            ending != NO_LANELET && is_free(target) && wants_in(ending)
        });
        side.map(|(beside, _, side)| Leaving {
            beside,
            side,
            remaining: lanelet.length() - position.s,
        })
    }

    /// Input of a behaviour.
    pub(crate) fn behaviour_input(&self, agent: AgentIndex) -> BehaviourInput {
        let progress = self.progress(agent);
        let mut input = BehaviourInput {
            speed: self.motion(agent).speed,
            road_speed: OPEN_GROUND_SPEED,
            lane_remaining: NOTHING,
            target_gap_ahead: NOTHING,
            target_gap_behind: NOTHING,
            leader_gap: NOTHING,
            waiting: progress.standing,
            junction_distance: NOTHING,
            goal_distance: self.goal_distance(agent),
            ..BehaviourInput::default()
        };
        if !self.position(agent).is_on_lane() {
            return input;
        }
        self.perceive_own_lane(agent, &mut input);
        self.perceive_lane_change(agent, &mut input);
        self.perceive_junction(agent, &mut input);
        input
    }

    /// Fills in the speed, the remaining length of the lane, the neighbour lanes, and the vehicle
    /// ahead.
    fn perceive_own_lane(&self, agent: AgentIndex, input: &mut BehaviourInput) {
        let position = self.position(agent);
        let lanelet = self.ground.lanelet(position.lanelet);
        input.road_speed = self.ground.road_speed(position.lanelet, position.s);
        input.lane_remaining = lanelet.length() - position.s;
        if let Some(entry) = self.index.ahead_on_lanelet(agent) {
            let rear = entry.s - self.vehicle_type(entry.agent).rear_overhang;
            input.leader_gap = rear - position.s - self.vehicle_type(agent).front;
            input.leader_speed = self.motion(entry.agent).speed;
        }
        input.lane_left = f64::from(u8::from(lanelet.left != NO_LANELET));
        input.lane_right = f64::from(u8::from(lanelet.right != NO_LANELET));
    }

    /// Fills in the lane change that the route requires at the agent's position, and the gaps in
    /// the target lane.
    fn perceive_lane_change(&self, agent: AgentIndex, input: &mut BehaviourInput) {
        let (position, progress) = (self.position(agent), self.progress(agent));
        let (route, graph, at) = (self.route(agent), self.ground.graph(), progress.at);
        let lanelet = self.ground.lanelet(position.lanelet);
        input.lane_change_needed = route.lane_change_at(at, graph);
        if input.lane_change_needed != 0.0 {
            // If the goal is on the target lane, the remaining length ends beside the goal.
            let changes = route.lane_changes_from(at, graph);
            input.lane_remaining =
                route.room_for_changes(at, position.s, changes, progress.reached, graph);
        }
        if input.lane_change_needed != 0.0 && position.leaving == NO_LANELET {
            let target = if input.lane_change_needed > 0.0 {
                lanelet.left
            } else {
                lanelet.right
            };
            self.target_gaps(agent, target, input);
        } else {
            // A body that is still leaving a lane is visible on two lanes. After a second change,
            // it would be visible only on the last two lanes, although its tail is still on the
            // first one.
            input.lane_change_needed = 0.0;
        }
    }

    /// Straight-line distance to the next goal, m; 0 if there is no goal.
    fn goal_distance(&self, agent: AgentIndex) -> f64 {
        let goal = self.route(agent).next_goal(self.progress(agent).reached);
        goal.map_or(0.0, |goal| {
            let place = goal.position(self.ground.graph());
            (place - self.pose(agent).position).length()
        })
    }

    /// Fills in the next junction on the route, and the connection that the route takes through it.
    fn perceive_junction(&self, agent: AgentIndex, input: &mut BehaviourInput) {
        let route = self.route(agent);
        let mut distance = -self.position(agent).s;
        let first = self.progress(agent).at;
        for id in (first..first + JUNCTION_SIGHT).map_while(|at| route.lanelet(at)) {
            let lanelet = self.ground.lanelet(id);
            if let LaneletKind::Connection { turn, .. } = lanelet.kind {
                input.junction_distance = distance.max(0.0);
                input.junction_turn = match turn {
                    Turn::Left => 1.0,
                    Turn::Straight => 0.0,
                    Turn::Right => -1.0,
                    Turn::UTurn => 2.0,
                };
                return;
            }
            distance += lanelet.length();
        }
    }

    /// Whether there is room on the lane beside an agent. `gap` is the minimum gap ahead and
    /// behind, m. For vehicles that close in, the gap is extended by the closing speed times
    /// `time`, in s.
    pub(crate) fn has_room_beside(
        &self,
        agent: AgentIndex,
        lane: LaneletIndex,
        gap: f64,
        time: f64,
    ) -> bool {
        let mut input = BehaviourInput {
            target_gap_ahead: NOTHING,
            target_gap_behind: NOTHING,
            ..BehaviourInput::default()
        };
        // A row that contains only the gaps, measured as for a change that the route requires.
        self.target_gaps(agent, lane, &mut input);
        let speed = self.motion(agent).speed;
        let needed = |closing: f64| gap + time * closing.max(0.0);
        input.target_gap_ahead >= needed(speed - input.target_speed_ahead)
            && input.target_gap_behind >= needed(input.target_speed_behind - speed)
    }

    /// Finds the gaps between bodies on the target lane, m. Positions on both lanes are compared as
    /// fractions of their lengths, because the inner lane of a bend is shorter:
    ///
    /// ```text
    ///    behind                     s                     ahead
    ///   --[====]--------------------:-----------------------[====]----> target
    ///          |<-- gap behind -->| : |<---- gap ahead ---->|
    ///   --------------------------[=x=]-------------------------------> own lane
    /// ```
    ///
    /// Behind, the search continues on the preceding lanelets. Ahead it does not, because the lane change has
    /// to be completed before the end of this lanelet anyway.
    fn target_gaps(&self, agent: AgentIndex, target: LaneletIndex, input: &mut BehaviourInput) {
        let position = self.position(agent);
        let VehicleType {
            front,
            rear_overhang,
            ..
        } = *self.vehicle_type(agent);
        let own = self.ground.lanelet(position.lanelet);
        // The place beside the agent is at the same fraction of the length. This is exact enough
        // for gaps of metres.
        let s = position.s / own.length() * self.ground.lanelet(target).length();
        let entries = self.index.on_lanelet(target);
        let place = entries.partition_point(|entry| entry.s < s);
        if let Some(entry) = entries.get(place) {
            let rear = entry.s - self.vehicle_type(entry.agent).rear_overhang;
            input.target_gap_ahead = rear - s - front;
            input.target_speed_ahead = self.motion(entry.agent).speed;
        }
        let behind = match place.checked_sub(1).map(|i| entries[i]) {
            Some(entry) => Some((entry, s - entry.s)),
            None => self
                .behind_lanelet(target)
                .map(|(entry, gap)| (entry, s + gap)),
        };
        if let Some((entry, distance)) = behind {
            let gap = distance - self.vehicle_type(entry.agent).front;
            input.target_gap_behind = gap - rear_overhang;
            input.target_speed_behind = self.motion(entry.agent).speed;
        }
    }

    /// Returns the foremost vehicle on the predecessors of a lanelet, and its distance to the start
    /// of the lanelet, m. If a predecessor is empty, its own predecessors are searched.
    pub(super) fn behind_lanelet(&self, lanelet: LaneletIndex) -> Option<(LaneEntry, f64)> {
        self.foremost_before(lanelet, 0.0, LANELETS_BEHIND)
    }

    /// Like `behind_lanelet`, for a lanelet whose start is `before` metres ahead of the place from
    /// which distances are measured. Searches at most `more` lanelets back.
    fn foremost_before(
        &self,
        lanelet: LaneletIndex,
        before: f64,
        more: u32,
    ) -> Option<(LaneEntry, f64)> {
        let leading = self.ground.graph().predecessors(lanelet).iter();
        let foremost = leading.filter_map(|&id| {
            let length = before + self.ground.length(id);
            match self.index.on_lanelet(id).last() {
                Some(&entry) => Some((entry, length - entry.s)),
                None if more > 1 && length < SEEN_BEHIND => {
                    self.foremost_before(id, length, more - 1)
                }
                None => None,
            }
        });
        // If several lanes merge, the vehicle that arrives first counts; in a tie, the one with the
        // smaller id.
        foremost.min_by(|a, b| a.1.total_cmp(&b.1).then(self.id(&a.0).cmp(&self.id(&b.0))))
    }
}

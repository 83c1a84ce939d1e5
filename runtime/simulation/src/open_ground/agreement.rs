//! Agreements: characters that block each other plan their courses together.
//!
//! A character plans around courses that others have announced before (`walking.rs`). Where these leave it no way, it
//! calls those around it, and so does one that waits for long. They plan their courses anew, one after the other: first
//! who has the shortest way left. Whoever finds no way in this order goes first in the next trial. The courses of the best
//! trial count from then on, if more characters get on with them than before.

use super::plans::{GroundPlans, Planner};
use super::walking::{APART, Course, Other, Pedestrian, Walker, begin_among};
use roadwright_scenario::BodyKind;
use std::collections::BTreeMap;

/// Distance from the caller within which characters plan together, m.
const TOGETHER: f64 = 25.0;
/// Maximum number of characters that plan together, the nearest ones.
const MOST: usize = 16;
/// Times within which characters that plan later are expected to leave their places, s, for each trial.
const LEAVES_WITHIN: [f64; 5] = [4.0, 8.0, 2.0, 12.0, 5.0];

/// Courses of a trial, by id; `None` for characters that stand.
type Courses = BTreeMap<u64, Option<Course>>;

impl GroundPlans {
    /// Whether a character gets on only if others change their courses.
    pub(crate) fn anyone_calls(&self, now: f64) -> bool {
        self.agents.values().any(|plan| plan.walk.calls(now))
    }

    /// Lets characters that block each other plan together. `planners` has all agents that plan, in the order of ids.
    pub(crate) fn agree(&mut self, planners: &[Planner<'_>]) {
        let calls = |agent: &&Planner<'_>| {
            let plan = self.agents.get(&agent.id);
            plan.is_some_and(|plan| plan.walk.calls(agent.now))
        };
        let Some(caller) = planners.iter().find(calls) else {
            return;
        };
        let now = caller.now;
        let members = self.members(caller, planners);
        let outside = self.outside(caller, &members);
        let standing = self.standing(&members);
        let best = self.best_trial(&members, &outside);
        let failed = |courses: &Courses| courses.values().filter(|one| fails(one)).count();
        let is_better = best.as_ref().is_some_and(|best| failed(best) < standing);
        for member in &members {
            if let Some(plan) = self.agents.get_mut(&member.id) {
                plan.walk.has_agreed(now);
            }
        }
        let Some(courses) = best.filter(|_| is_better) else {
            return;
        };
        for member in members {
            let course = courses.get(&member.id).cloned().flatten();
            let Some(plan) = self.agents.get_mut(&member.id) else {
                continue;
            };
            plan.walk
                .ask(course.as_ref().is_none_or(|course| !course.arrives));
            match course {
                Some(course) => plan.walk.adopt(course, now),
                None => plan.walk.stand(member),
            }
        }
    }

    /// The characters that plan together with a caller, in the order of ids.
    fn members<'a>(
        &self,
        caller: &Planner<'_>,
        planners: &'a [Planner<'a>],
    ) -> Vec<&'a Planner<'a>> {
        let away = |one: &Planner<'_>| (one.pose.position - caller.pose.position).length();
        let walks = |one: &&Planner<'_>| {
            let plan = self.agents.get(&one.id);
            let has_path = plan.is_some_and(|plan| plan.walk.path().len() > 1);
            one.body_kind == BodyKind::Character && has_path && away(one) <= TOGETHER
        };
        let mut members: Vec<&Planner<'_>> = planners.iter().filter(walks).collect();
        members.sort_by(|a, b| away(a).total_cmp(&away(b)).then(a.id.cmp(&b.id)));
        members.truncate(MOST);
        members.sort_unstable_by_key(|one| one.id);
        members
    }

    /// The characters around a caller that keep their courses.
    fn outside(&self, caller: &Planner<'_>, members: &[&Planner<'_>]) -> Vec<Other> {
        let place = caller.pose.position;
        let is_outside = |one: &&Pedestrian| {
            let is_member = members
                .binary_search_by_key(&one.id, |member| member.id)
                .is_ok();
            !is_member && (one.place - place).length() <= 2.0 * TOGETHER
        };
        let mut outside: Vec<&Pedestrian> = self.pedestrians.iter().filter(is_outside).collect();
        outside.sort_unstable_by_key(|one| one.id);
        let plan = |id: u64| self.agents.get(&id).map(|plan| &plan.walk);
        let others = outside.into_iter();
        others
            .map(|one| Other::of(one, plan(one.id), caller.now))
            .collect()
    }

    /// Number of characters that do not get on.
    fn standing(&self, members: &[&Planner<'_>]) -> usize {
        let gets_on = |one: &&&Planner<'_>| {
            let plan = self.agents.get(&one.id);
            !plan.is_some_and(|plan| plan.walk.gets_on())
        };
        members.iter().filter(gets_on).count()
    }

    /// Courses with which as many members as possible get on.
    fn best_trial(&mut self, members: &[&Planner<'_>], outside: &[Other]) -> Option<Courses> {
        // Who has the shortest way left goes first, so that characters leave one after the other. Stable sorts keep the
        // order of ids.
        let mut order: Vec<&Planner<'_>> = members.to_vec();
        let left = |one: &Planner<'_>| {
            let plan = self.agents.get(&one.id);
            plan.map_or(0.0, |plan| plan.walk.path_left(one.pose.position))
        };
        order.sort_by(|a, b| left(a).total_cmp(&left(b)));
        let mut best: Option<(usize, Courses)> = None;
        for within in LEAVES_WITHIN {
            let courses = self.trial(&order, outside, within);
            let failed = courses.values().filter(|one| fails(one)).count();
            order.sort_by_key(|one| !courses.get(&one.id).is_some_and(fails));
            if best.as_ref().is_none_or(|(least, _)| failed < *least) {
                best = Some((failed, courses));
            }
            if failed == 0 {
                break;
            }
        }
        best.map(|(_, courses)| courses)
    }

    /// Plans a course for each member, in an order.
    fn trial(&mut self, order: &[&Planner<'_>], outside: &[Other], within: f64) -> Courses {
        let mut courses = Courses::new();
        let Some(now) = order.first().map(|one| one.now) else {
            return courses;
        };
        let begin = begin_among(outside, now);
        for (at, member) in order.iter().enumerate() {
            let mut others = outside.to_vec();
            for (number, other) in order.iter().enumerate() {
                if number == at {
                    continue;
                }
                let pedestrian = Pedestrian {
                    id: other.id,
                    place: other.pose.position,
                    radius: other.kind.radius,
                };
                let plan = self.agents.get(&other.id);
                others.push(match courses.get(&other.id) {
                    Some(Some(course)) => {
                        let ends_at_goal = plan.is_some_and(|plan| plan.walk.ends_at_goal());
                        Other::with_course(&pedestrian, course, ends_at_goal)
                    }
                    Some(None) => Other::leaving(&pedestrian, f64::INFINITY),
                    None => Other::leaving(&pedestrian, now + within),
                });
            }
            let (Some(plan), Some(live)) = (self.agents.get(&member.id), &mut self.live) else {
                continue;
            };
            let mut walker = Walker {
                agent: member,
                others: &others,
                path: plan.walk.path(),
                map: &mut live.map,
                cell: plan.cell(member),
                apart: APART[0],
            };
            let course = walker.plain(begin).or_else(|| walker.around(begin));
            courses.insert(member.id, course);
        }
        courses
    }
}

/// Whether a character does not get on.
fn fails(course: &Option<Course>) -> bool {
    course.as_ref().is_none_or(|course| !course.arrives)
}

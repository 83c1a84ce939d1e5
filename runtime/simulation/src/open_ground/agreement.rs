//! Joint plans of characters that block each other.
//!
//! A character plans around the courses that others have announced before (`walking.rs`). If these
//! leave no path for it, or if it has waited for long, it asks the characters around it for a joint
//! plan. All of them replan one after another, starting with the one that has the shortest remaining
//! path. A character that finds no path in this order goes first in the next trial. The courses of
//! the best trial are adopted if they let more characters walk on than before.

use super::plans::{GroundPlans, Planner};
use super::walking::{Course, Other, Pedestrian, Walker, begin_among};
use roadwright_scenario::BodyKind;
use std::collections::BTreeMap;

/// Characters within this distance of the caller take part in a joint plan, m.
const TOGETHER: f64 = 25.0;
/// Maximum number of characters in a joint plan. The nearest ones are used.
const MOST: usize = 16;
/// For each trial, the time until characters that plan later are expected to have left their
/// places, s.
const LEAVES_WITHIN: [f64; 5] = [4.0, 8.0, 2.0, 12.0, 5.0];

/// Courses of a trial, by agent id; `None` for characters that stay in place.
type Courses = BTreeMap<u64, Option<Course>>;

impl GroundPlans {
    /// Whether any character asks for a joint plan at the time `now`, s.
    pub(crate) fn anyone_calls(&self, now: f64) -> bool {
        self.agents.values().any(|plan| plan.walk.calls(now))
    }

    /// Lets characters that block each other plan together. `planners` contains all agents that plan,
    /// sorted by id.
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

    /// Returns the characters that plan together with a caller, sorted by id.
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

    /// Returns the characters around a caller that keep their courses.
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

    /// Number of characters that cannot walk on.
    fn standing(&self, members: &[&Planner<'_>]) -> usize {
        let gets_on = |one: &&&Planner<'_>| {
            let plan = self.agents.get(&one.id);
            !plan.is_some_and(|plan| plan.walk.gets_on())
        };
        members.iter().filter(gets_on).count()
    }

    /// Returns the courses of the trial that lets most members walk on.
    fn best_trial(&mut self, members: &[&Planner<'_>], outside: &[Other]) -> Option<Courses> {
        // The character with the shortest remaining path goes first, so that characters leave one after
        // another. Stable sorts keep the order of ids for equal lengths.
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

    /// Plans a course for each member in the given order.
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
            let mut walker = Walker::new(member, &others, plan, &mut live.map);
            let course = walker.plain(begin).or_else(|| walker.around(begin));
            courses.insert(member.id, course);
        }
        courses
    }
}

/// Whether a trial fails for a character: it has no course, or one that only leads to a waiting
/// place beside other characters.
fn fails(course: &Option<Course>) -> bool {
    course.as_ref().is_none_or(|course| !course.arrives)
}

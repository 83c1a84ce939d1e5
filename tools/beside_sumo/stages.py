"""Transfers the programmes of Roadwright's signals to the links of SUMO's signals."""

import math
from collections import Counter

from place import Grid, turn

# Tolerances for matching links of SUMO with paths of Roadwright: distance of stop lines, m, directions there and
# at the ends, rad, total cost, and the distance within which a lane is the same, m.
NEAR, SAME_WAY, SAME_TURN, FARTHEST, SAME_LANE = 25.0, 0.6, 0.8, 30.0, 8.0


class Path:
    """A path through a junction with signals."""

    def __init__(self, document, number, entry, exit):
        self.document, self.number, self.entry, self.exit = document, number, entry, exit
        self.key = document["node"], number

    def light(self, time):
        """`G`, `g` (yields), `y` or `r`, in SUMO's notation, at fixed times."""
        signals = self.document["signals"]
        stages = signals["stages"]
        lasts = [stage["time"] + stage["amber"] + stage["all_red"] for stage in stages]
        within = (time - signals["offset"]) % sum(lasts)
        number = 0
        while number < len(stages) - 1 and within >= lasts[number]:
            within -= lasts[number]
            number += 1
        now, after = stages[number], stages[(number + 1) % len(stages)]
        has_green, keeps_green = self.number in now["green"], self.number in after["green"]
        if has_green and (within < now["time"] or keeps_green):
            return self._green(now)
        return "y" if has_green and within < now["time"] + now["amber"] else "r"

    def _green(self, stage):
        if self.number in stage.get("permitted", []):
            return "g"
        meets = self.document["paths"][self.number]["meets"]
        return "g" if any(met["gives_way"] and met["path"] in stage["green"] for met in meets) else "G"


def paths_of(here):
    """All paths with signals, with the poses at which they begin and end."""
    found = []
    for document in here.signals():
        arms = {(arm["road"], arm["end"]): arm["stop_line"] for arm in document["arms"]}
        for number, path in enumerate(document["paths"]):
            ends = [pose_at(here, arms, path["from"], True), pose_at(here, arms, path["to"], False)]
            if None not in ends:
                found.append(Path(document, number, *ends))
    return found


def pose_at(here, arms, lane, is_entry):
    """The place where a lane leads into a junction, or out of it."""
    road = here.roads[lane["road"]]
    for (number, end), stop_line in arms.items():
        if number != lane["road"]:
            continue
        s = min(max(stop_line, 0.01), road.line.length - 0.01)
        record = road.lane(lane["lane"], s)
        if record and road.is_forward(record) == ((end == "end") == is_entry):
            return road.pose(lane["lane"], s)
    return None


class Link:
    """A connection of SUMO controlled by one light."""

    def __init__(self, there, light, number, lane_in, lane_out):
        self.light, self.number = light, number
        self.entry = end_of(there.shape(lane_in), -1)
        self.exit = end_of(there.shape(lane_out), 0)
        self.is_for_cars = lane_in.allows("passenger") and lane_out.allows("passenger")


def end_of(shape, end):
    a, b = (shape[-2], shape[-1]) if end else (shape[0], shape[1])
    x, y = b if end else a
    return x, y, math.atan2(b[1] - a[1], b[0] - a[0])


def offset(pose, other):
    """(ahead, left) of another pose, m."""
    x, y, heading = pose
    dx, dy = other[0] - x, other[1] - y
    return dx * math.cos(heading) + dy * math.sin(heading), dy * math.cos(heading) - dx * math.sin(heading)


def match(links, paths):
    """For each link the path with the same stop line and exit and True, or another path of the same lane and False
    if Roadwright has no such turn. Links without such a lane are left out."""
    grid = Grid()
    for path in paths:
        grid.add(*path.entry[:2], path)
    found = {}
    for link in links:
        near = [path for _, path in grid.near(*link.entry[:2], NEAR)
                if turn(path.entry[2], link.entry[2]) < SAME_WAY]
        same_turn = [path for path in near if turn(path.exit[2], link.exit[2]) < SAME_TURN]
        same_lane = [path for path in near if beside(link, path) < SAME_LANE]
        if same_turn:
            best = min(same_turn, key=lambda path: cost(link, path))
            if cost(link, best) < FARTHEST:
                found[link] = best, True
        if link not in found and same_lane:
            found[link] = min(same_lane, key=lambda path: cost(link, path)), False
    return found


def beside(link, path):
    """Distance of two stop lines, m; the lateral part has more weight."""
    ahead, left = offset(path.entry, link.entry)
    return abs(left) + 0.3 * abs(ahead)


def cost(link, path):
    """Mismatch of a path and a link, m, with the distance of their ends."""
    away = math.dist(path.exit[:2], link.exit[:2])
    return beside(link, path) + 0.2 * away + 8.0 * turn(path.exit[2], link.exit[2])


class SameStages:
    """The signals that both have, and SUMO's programmes for them."""

    def __init__(self, here, there):
        paths = paths_of(here)
        self.links = [Link(there, light.getID(), number, lane_in, lane_out)
                      for light in there.net.getTrafficLights() for lane_in, lane_out, number in light.getConnections()]
        self.matched = match(self.links, paths)
        hits, of_light = Counter(), Counter()
        for link in self.links:
            of_light[link.light] += 1
            hits[link.light] += link in self.matched
        # A signal with less than half of its links matched would get an arbitrary programme.
        self.lights = {light for light in of_light if 2 * hits[light] > of_light[light]}
        self.dark = sorted(set(of_light) - self.lights)
        used = [path for link, (path, _) in self.matched.items() if link.light in self.lights]
        self.used = {path.key for path in used}
        self.nodes = {path.document["node"] for path in used}
        self.paths, self.nodes_with = paths, {path.document["node"] for path in paths}
        self.of_light = of_light

    def tell(self):
        ruled = [link for link in self.links if link.light in self.lights]
        known = [link for link in ruled if link in self.matched]
        turns = sum(self.matched[link][1] for link in known)
        own = {path.key for path in self.paths if path.document["node"] in self.nodes}
        apart = sorted(math.dist(link.entry[:2], self.matched[link][0].entry[:2]) for link in known)
        return (
            f"signals: {len(self.lights)} of {len(self.of_light)} lights of SUMO and {len(self.nodes)} of"
            f" {len(self.nodes_with)} junctions of Roadwright stay, the others are dark; of {len(ruled)} links of"
            f" SUMO {turns} show what the same turn shows in Roadwright, {len(known) - turns} what its lane shows,"
            f" the others blink; stop lines are {apart[len(apart) // 2]:.1f} m apart (median);"
            f" {len(self.used & own)} of {len(own)} paths of Roadwright are shown"
        )

    def write(self, path, horizon):
        """Programmes in steps of one second, because the times of both need not be whole seconds."""
        by_light = {light: {} for light in self.lights}
        for link in self.links:
            if link.light in self.lights:
                by_light[link.light][link.number] = self.matched.get(link)
        with open(path, "w") as file:
            file.write("<additional>\n")
            for light, lamps in sorted(by_light.items()):
                file.write(f'<tlLogic id="{light}" type="static" programID="roadwright" offset="0">\n')
                for state, seconds in phases(lamps, horizon):
                    file.write(f'<phase duration="{seconds}" state="{state}"/>\n')
                file.write("</tlLogic>\n")
            file.write("</additional>\n")
        return path


def phases(lamps, horizon):
    """(state, duration) of a light up to a time, s."""
    size = max(lamps) + 1
    found = []
    for second in range(horizon):
        state = "".join(shown(lamps.get(i), second) for i in range(size))
        if found and found[-1][0] == state:
            found[-1][1] += 1
        else:
            found.append([state, 1])
    return found


def shown(lamp, second):
    """Lets a turn unknown to Roadwright yield, and an unknown link blink."""
    if lamp is None:
        return "o"
    path, is_same_turn = lamp
    light = path.light(second)
    return light if is_same_turn else light.lower()

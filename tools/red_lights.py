"""Counts vehicles that pass a red light, from a trace and a table of signals, independently of the
simulation's own counts.

    roadwright run FILE --trace trace.csv --signals signals.csv --json > /dev/null
    roadwright junction FILE --json > junctions.json
    python tools/red_lights.py trace.csv signals.csv junctions.json

A vehicle passes a line when its front is 0.25 m beyond it, since a trace has ten moments a second. It passes
red if the light of its lane has been red for longer than two moments. A road between two junctions that is
too short to wait on has no line and no light: those before the first junction apply to both.
"""

import argparse
import collections
import csv
import json

# Distance from the middle of a car to its front, and of the front beyond the line, m. The fronts of longer
# vehicles are farther beyond.
FRONT = 2.25
BEYOND = 0.25
# Time for which a light may still have been different at the last moment of the trace, s.
JUST_CHANGED = 0.2


def stop_lines(junctions):
    """The line of each lane with signals."""
    lines = {}
    for junction in junctions:
        for arm in junction["arms"]:
            if arm["sign"] != "signal" or not arm["has_room"]:
                continue
            set_back = {lane["lane"]: lane["by"] for lane in arm.get("set_back", [])}
            for lane in arm["lanes"]:
                by = set_back.get(lane, 0.0)
                back = by if arm["end"] == "start" else -by
                lines[arm["road"], lane] = arm["end"], arm["stop_line"] + back
    return lines


def changes(path):
    """For each lane the changes of its light, with their times."""
    lanes = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            lane = int(row["road"]), int(row["lane"])
            lanes[lane].append((float(row["time_s"]), row["state"]))
    return lanes


def light(changes, time):
    """The light at a time, and the time since its last change."""
    before = [change for change in changes if change[0] <= time]
    if not before:
        return "none", 0.0
    since, state = before[-1]
    return state, time - since


def passages(path, lines):
    """Yields agent, lane and time for each passed line."""
    driven = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            lane = (int(row["road"]), int(row["lane"])) if row["road"] else None
            now = driven.setdefault(row["agent"], (None, []))
            if now[0] != lane:
                yield from passage(row["agent"], now, lines)
                now = driven[row["agent"]] = (lane, [])
            if lane in lines:
                end, line = lines[lane]
                s = float(row["s_m"])
                left = line - s if end == "end" else s - line
                now[1].append((float(row["time_s"]), left - FRONT + BEYOND))


def passage(agent, driven, lines):
    """Yields the moment at which the front of a vehicle passed the line of the lane it has just left, unless it
    changed lanes before."""
    lane, moments = driven
    if lane not in lines or not moments or moments[-1][1] > 0.0:
        return
    for (before, far), (after, near) in zip(moments, moments[1:]):
        if far >= 0.0 > near:
            yield agent, lane, before + (after - before) * far / (far - near)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("trace", "signals", "junctions"):
        parser.add_argument(name)
    files = parser.parse_args()
    with open(files.junctions) as file:
        junctions = json.load(file)
    junctions = junctions if isinstance(junctions, list) else junctions["junctions"]
    lines = stop_lines(junctions)
    lights = changes(files.signals)
    seen, red = collections.Counter(), []
    for agent, lane, time in passages(files.trace, lines):
        state, since = light(lights[lane], time)
        seen[state] += 1
        if state in ("red", "red_amber") and since > JUST_CHANGED:
            red.append((agent, lane, time))
    print("passed:", ", ".join(f"{count} at {state}" for state, count in sorted(seen.items())))
    print(f"red lights passed: {len(red)}")
    for agent, (road, lane), time in red:
        print(f"agent {agent}: road {road}, lane {lane}, {time:.1f} s")


if __name__ == "__main__":
    main()

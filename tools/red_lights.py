"""Counts from outside who passes a red light: from a trace and a table of signals, not from what the
simulation says of itself.

    roadwright run FILE --trace trace.csv --signals signals.csv --json > /dev/null
    roadwright junction FILE --json > junctions.json
    python tools/red_lights.py trace.csv signals.csv junctions.json

A vehicle passes a line when its front does; it is taken 0.25 m beyond it, since a trace has ten moments a
second. It passes red if the light of its lane has been red for longer than two of those. Where a road between
two junctions is too short to wait on, it has no line and no light: those before the first junction hold for
both.
"""

import argparse
import collections
import csv
import json

# From the middle of a car to its front, and how far that is beyond the line, m. Longer vehicles are taken
# while their front is farther beyond.
FRONT = 2.25
BEYOND = 0.25
# A light that has just changed may have been another one at the last moment of the trace, s.
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
    """For each lane the moments at which its light changed, and to what."""
    lanes = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            lane = int(row["road"]), int(row["lane"])
            lanes[lane].append((float(row["time_s"]), row["state"]))
    return lanes


def light(changes, time):
    """The light at a time, and for how long it has been that."""
    before = [change for change in changes if change[0] <= time]
    if not before:
        return "none", 0.0
    since, state = before[-1]
    return state, time - since


def passages(path, lines):
    """Who passed which line when: agent, lane and time."""
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
    """When the front of a vehicle passed the line of the lane that it has just left; nothing if it changed
    the lane before."""
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

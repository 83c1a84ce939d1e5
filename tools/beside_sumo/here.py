"""Roadwright's side: streets, trips, signals, and the simulation."""

import csv
import json
import math
import subprocess
import sys

from place import Frame, Grid, Road

# Least distance of the ends of trips from junctions, m, and before and behind junctions on roads with several
# lanes in that direction, so that there is room to change lanes.
MARGIN, ROOM_TO_CHANGE = 2.0, 25.0
# Distance beyond which roads have no influence on a junction and its signals, m.
AROUND = 250.0


class Here:
    """The streets of an extract as `roadwright import` creates them."""

    def __init__(self, program, extract, folder):
        self.program, self.folder = program, folder
        self.path = folder / "streets.scenario.json"
        self._call("import", str(extract), "--roads-only", "--out", str(self.path))
        self.scenario = json.loads(self.path.read_text())
        self.frame = Frame(self.scenario)
        left = self.scenario["about"]["driving_side"] == "left"
        self.roads = {int(key): Road(road, left) for key, road in self.scenario["roads"].items()}
        self.junctions = self._call("junction", str(self.path), "--json")
        self.grid = self._open_lanes()

    def _call(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"{self.program} {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout) if "--json" in arguments else None

    def _open_lanes(self):
        """Places between junctions on lanes on which trips of cars may begin and end."""
        free = {key: [0.0, road.line.length] for key, road in self.roads.items()}
        for arm in (arm for junction in self.junctions for arm in junction["arms"]):
            free[arm["road"]][arm["end"] == "end"] = arm["stop_line"]
        grid = Grid()
        for key, road in self.roads.items():
            if road.access != "all":
                continue
            low, high = free[key][0] + MARGIN, free[key][1] - MARGIN
            for x, y, heading, lane, s in road.samples():
                if low < s < high:
                    own = road.lane(lane, s)
                    ahead, behind = (high - s, s - low) if road.is_forward(own) else (s - low, high - s)
                    is_alone = road.lanes_beside(own, s) == 1
                    grid.add(x, y, {
                        "pose": (x, y, heading), "at": {"road": key, "lane": lane, "s": round(s, 2)},
                        "begins": is_alone or ahead >= ROOM_TO_CHANGE, "ends": is_alone or behind >= ROOM_TO_CHANGE,
                    })
        return grid

    def signals(self):
        """The document of each junction with signals, with its programme at fixed times."""
        kept = self.folder / "signals.json"
        if kept.exists():
            return json.loads(kept.read_text())
        rules = self.with_modes(lambda junction: "fixed")
        documents = []
        for junction in self.junctions:
            if junction["control"] == "signals":
                path = str(self._around(junction["nodes"], rules))
                documents.append(self._call("junction", path, str(junction["node"]), "--json"))
        documents = [document for document in documents if document.get("signals")]
        kept.write_text(json.dumps(documents))
        return documents

    def _around(self, nodes, rules):
        """A scenario with the roads around some nodes only, because with a whole city each query takes seconds."""
        all_nodes = self.scenario["nodes"]
        places = [(all_nodes[str(node)]["x"], all_nodes[str(node)]["y"]) for node in nodes]
        near = {key for key, node in all_nodes.items()
                if any(math.dist((node["x"], node["y"]), place) < AROUND for place in places)}
        roads = {key: road for key, road in self.scenario["roads"].items()
                 if str(road["from"]) in near or str(road["to"]) in near}
        ends = {str(road[end]) for road in roads.values() for end in ("from", "to")}
        # Rules farther out may name missing roads.
        part = dict(self.scenario, roads=roads, nodes={key: all_nodes[key] for key in all_nodes if key in ends},
                    junctions={key: known_part(value, roads) for key, value in rules.items() if key in near})
        path = self.folder / "around.scenario.json"
        path.write_text(json.dumps(part))
        return path

    def with_modes(self, mode_of):
        """`junctions` of the scenario with a mode for each that has signals; None keeps its mode."""
        rules = {key: dict(value) for key, value in self.scenario.get("junctions", {}).items()}
        for junction in self.junctions:
            mode = mode_of(junction) if junction["control"] == "signals" else None
            if mode is None:
                continue
            for node in junction["nodes"]:
                own = rules.setdefault(str(node), {})
                own["control"], own["plan"] = "signals", {"mode": mode}
        return rules

    def write(self, name, rules, agents=None):
        scenario = dict(self.scenario, junctions=rules)
        if agents:
            scenario["agents"] = agents
        path = self.folder / name
        path.write_text(json.dumps(scenario))
        return path

    def lost(self, trips):
        """The numbers of the trips for which `roadwright check` finds no route."""
        # They depart one by one, because they would overlap otherwise.
        departures = {trip["id"]: float(number) for number, trip in enumerate(trips)}
        path = self.write("all-trips.scenario.json", self.scenario.get("junctions", {}), agents_of(trips, departures))
        codes = ("unreachable-destination", "no-such-lane", "closed-road")
        findings = self._call("check", str(path), "--json")["findings"]
        return {finding["object"].get("agent") for finding in findings if finding["code"] in codes}

    def draw(self, count, begin, seed):
        """Ends of those of `count` random trips of Roadwright that arrive, in degrees."""
        folder = self.folder / f"drawn-{seed}"
        self._call("run", str(self.path), "--populate", str(count), "--populate-from", begin, "--seed", str(seed),
                   "--dynamics", "lane", "--dt", "0.1", "--seconds", "7200", "--statistics", str(folder), "--json")
        pairs = []
        with open(folder / "trips.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["status"] == "arrived":
                    ends = [float(row[key]) for key in ("first_x_m", "first_y_m", "last_x_m", "last_y_m")]
                    pairs.append((*self.frame.degrees(*ends[:2]), *self.frame.degrees(*ends[2:])))
        return pairs

    def drive(self, rules, trips, departures, seed, seconds):
        """(arrived, mean speed) after some seconds."""
        path = self.write("run.scenario.json", rules, agents_of(trips, departures))
        run = self._call("run", str(path), "--seed", str(seed), "--dynamics", "lane", "--dt", "0.1",
                         "--seconds", str(seconds), "--json")
        return run["agents"]["arrived"], run["distance_driven"] / (run["agent_updates"] * 0.1)


def known_part(rules, roads):
    """The rules of a junction, without turn restrictions over missing roads."""
    ways = [way for way in rules.get("via_restrictions", [])
            if all(str(road) in roads for road in [way["from"], *way["via"], way["to"]])]
    return {**{key: value for key, value in rules.items() if key != "via_restrictions"},
            **({"via_restrictions": ways} if ways else {})}


def agents_of(trips, departures):
    agents = {}
    for trip in trips:
        agents[str(trip["id"])] = {
            "vehicle": "car", "stack": "idm", "start": trip["from"]["at"], "destination": trip["to"]["at"],
            "depart": departures.get(trip["id"], 0.0),
        }
    return agents

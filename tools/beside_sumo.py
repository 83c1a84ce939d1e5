#!/usr/bin/env python3
"""The same trips through the same streets, in Roadwright and in SUMO.

    python3 -m venv venv && venv/bin/pip install eclipse-sumo libsumo sumolib pyproj rtree
    venv/bin/python tools/beside_sumo.py EXTRACT.osm --roadwright target/release/roadwright

For each seed Roadwright draws trips of cars that all set out at once, as `run --populate` does, and drives
them to the end. Where they began and ended, as longitude and latitude, is written to OUT/pairs-SEED.csv. Both
programs then drive these for a while: Roadwright at level `lane` with steps of 0.1 s, SUMO on the network that
netconvert makes of the same extract (streets for cars, junctions joined, signals where the data have them),
each trip from the lane that is nearest to where it began. With `--signals off` neither has signals.

Printed are arrivals and mean speed (metres driven over vehicle-seconds), means over the seeds with standard
errors. SUMO lays out and times signals by rules of its own: with signals, that is a part of the difference.
"""

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

EARTH_RADIUS = 6_371_008.8
# A lane farther from where a trip begins or ends is another street, m.
NEAR = 25.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extract", type=Path, help="streets as OSM XML")
    parser.add_argument("--roadwright", default="roadwright", help="the program")
    parser.add_argument("--out", type=Path, default=Path("beside-sumo"), help="folder for what is made on the way")
    parser.add_argument("--trips", type=int, default=150, help="trips of each seed")
    parser.add_argument("--from", dest="begin", default="inside", choices=["inside", "edges", "both"])
    parser.add_argument("--seeds", type=int, default=10, help="seeds 1 to N")
    parser.add_argument("--seconds", type=int, default=300, help="how long both drive")
    parser.add_argument("--signals", default="on", choices=["on", "off"])
    parser.add_argument("--right-hand", action="store_true", help="one drives on the right there")
    return parser.parse_args()


class Place:
    """From metres of the world frame to degrees: the inverse of what the import does."""

    def __init__(self, scenario):
        origin = scenario["about"]["origin"]
        self.latitude = math.radians(origin["latitude_deg"])
        self.longitude = math.radians(origin["longitude_deg"])

    def degrees(self, x, y):
        x, y = x / EARTH_RADIUS, y / EARTH_RADIUS + self.latitude
        latitude = math.asin(math.sin(y) / math.cosh(x))
        longitude = self.longitude + math.atan2(math.sinh(x), math.cos(y))
        return math.degrees(longitude), math.degrees(latitude)


def without_signals(scenario):
    """Signals that stay dark: signs and sides decide."""
    for rules in scenario["junctions"].values():
        if rules.get("control") == "signals" or rules.get("plan"):
            rules["plan"] = {"mode": "off"}


def drive_here(args, scenario, seed, seconds, statistics_folder):
    command = [args.roadwright, "run", str(scenario), "--populate", str(args.trips), "--populate-from", args.begin]
    command += ["--seed", str(seed), "--dynamics", "lane", "--dt", "0.1", "--seconds", str(seconds)]
    command += ["--statistics", str(statistics_folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def pairs_of(args, scenario, place, seed):
    """Where each trip of a seed begins and ends, in degrees."""
    folder = args.out / f"trips-{seed}"
    drive_here(args, scenario, seed, 7200, folder)
    pairs = []
    with open(folder / "trips.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "arrived":
                ends = [float(row[key]) for key in ("first_x_m", "first_y_m", "last_x_m", "last_y_m")]
                pairs.append((*place.degrees(*ends[:2]), *place.degrees(*ends[2:])))
    with open(args.out / f"pairs-{seed}.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["from_longitude", "from_latitude", "to_longitude", "to_latitude"])
        writer.writerows([[f"{value:.7f}" for value in pair] for pair in pairs])
    return pairs


# netconvert leaves service roads to deliveries; Roadwright opens them to cars.
SERVICE = """<types>
    <type id="highway.service" numLanes="1" speed="5.56" priority="1" oneway="false" disallow="rail tram pedestrian"/>
</types>
"""


def network(args):
    import sumo

    net, service = args.out / "net.xml", args.out / "service.typ.xml"
    service.write_text(SERVICE)
    usual = Path(sumo.SUMO_HOME) / "data" / "typemap" / "osmNetconvert.typ.xml"
    command = ["netconvert", "--osm-files", str(args.extract), "-o", str(net)]
    command += ["--type-files", f"{usual},{service}"]
    command += ["--keep-edges.by-vclass", "passenger", "--geometry.remove", "--junctions.join"]
    command += ["--tls.guess-signals", "--tls.join", "--remove-edges.isolated", "--no-warnings"]
    command += [] if args.right_hand else ["--lefthand"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return net


def nearest(net, longitude, latitude):
    x, y = net.convertLonLat2XY(longitude, latitude)
    lanes = [(d, lane.getID(), lane) for lane, d in net.getNeighboringLanes(x, y, NEAR) if lane.allows("passenger")]
    if not lanes:
        return None
    lane = min(lanes)[2]
    along = min(lane.getClosestLanePosAndDist((x, y))[0], lane.getLength() - 0.1)
    return lane.getEdge().getID(), along


def write_trips(net, pairs, path):
    made = 0
    with open(path, "w") as file:
        file.write("<routes>\n")
        for number, pair in enumerate(pairs):
            start, end = nearest(net, *pair[:2]), nearest(net, *pair[2:])
            if start is None or end is None:
                continue
            made += 1
            file.write(
                f'<trip id="{number}" depart="0" from="{start[0]}" departPos="{max(start[1], 0.1):.1f}"'
                f' departLane="best" departSpeed="0" to="{end[0]}" arrivalPos="{max(end[1], 0.1):.1f}"/>\n'
            )
        file.write("</routes>\n")
    return made


def drive_there(args, net, trips, seed):
    import libsumo

    libsumo.start(
        ["sumo", "-n", str(net), "-r", str(trips), "--step-length", "1", "--seed", str(seed)]
        + ["--ignore-route-errors", "--no-step-log", "--no-warnings", "--time-to-teleport", "-1"]
    )
    if args.signals == "off":
        for light in libsumo.trafficlight.getIDList():
            libsumo.trafficlight.setProgram(light, "off")
    metres = vehicle_seconds = arrived = entered = 0
    for _ in range(args.seconds):
        libsumo.simulationStep()
        arrived += libsumo.simulation.getArrivedNumber()
        entered += libsumo.simulation.getDepartedNumber()
        speeds = [libsumo.vehicle.getSpeed(vehicle) for vehicle in libsumo.vehicle.getIDList()]
        metres += sum(speeds)
        vehicle_seconds += len(speeds)
    libsumo.close()
    return entered, arrived, metres / max(vehicle_seconds, 1)


def said(values, digits):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.{digits}f} ({error:.{digits}f})"


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    scenario_path = args.out / "streets.scenario.json"
    subprocess.run([args.roadwright, "import", str(args.extract), "--out", str(scenario_path)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    scenario = json.loads(scenario_path.read_text())
    place = Place(scenario)
    if args.signals == "off":
        without_signals(scenario)
        scenario_path.write_text(json.dumps(scenario))
    net_path = network(args)
    import sumolib

    net = sumolib.net.readNet(str(net_path))
    here, there = [], []
    for seed in range(1, args.seeds + 1):
        pairs = pairs_of(args, scenario_path, place, seed)
        run = drive_here(args, scenario_path, seed, args.seconds, args.out / f"run-{seed}")
        counts = run["agents"]
        here.append((counts["arrived"], run["distance_driven"] / (run["agent_updates"] * 0.1)))
        trips = args.out / f"trips-{seed}.xml"
        made = write_trips(net, pairs, trips)
        entered, *rest = drive_there(args, net_path, trips, seed)
        there.append(rest)
        print(f"seed {seed}: {len(pairs)} pairs; Roadwright {here[-1][0]} arrived, {here[-1][1]:.2f} m/s;"
              f" SUMO {made} on its streets, {entered} entered, {rest[0]} arrived, {rest[1]:.2f} m/s")
    for name, rows in (("Roadwright", here), ("SUMO", there)):
        arrived, speed = zip(*rows)
        print(f"{name}: {said(arrived, 1)} arrive within {args.seconds} s, {said(speed, 2)} m/s")


if __name__ == "__main__":
    main()

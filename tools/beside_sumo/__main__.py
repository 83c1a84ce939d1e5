#!/usr/bin/env python3
"""Compares Roadwright and SUMO on the same trips through the same streets.

    python3 -m venv venv && venv/bin/pip install eclipse-sumo libsumo sumolib pyproj rtree
    venv/bin/python tools/beside_sumo EXTRACT.osm --pairs tools/beside_sumo/ring.csv \\
        --roadwright target/release/roadwright

The trips are pairs of coordinates from a file: `ring.csv` around Trinity College Dublin, `city.csv` for the
whole city, 150 each, drawn from a rectangle by pairs.py. Each end is moved to the nearest lane that is open to
cars in both programs. A pair that one of them cannot drive is left out of both and counted. Without `--pairs`
Roadwright draws random trips for each seed, as `run --populate` does.

A seed sets the departure of each trip within `--within` seconds, the same in both, and is given to both programs;
with `--sample 5` it also selects five of the pairs. Roadwright drives at level `lane` with steps
of 0.1 s, SUMO on the network that netconvert makes of the same extract, with steps of 1 s.

`--signals same` gives SUMO the programmes of Roadwright's signals at fixed times (stages.py); signals that only
one of the two has are dark. With `own` Roadwright's signals run on demand and SUMO's with the times of
netconvert; with `none` all are dark. `--sumo-driver` and `--sumo-turns` make SUMO's vehicles more like Roadwright's.

It prints arrivals and mean speed (metres driven over vehicle-seconds) after each of `--moments`, means over
the seeds with standard errors.
"""

import argparse
import json
import math
import random
import statistics
from pathlib import Path

import pairs as kept
from here import Here
from stages import SameStages
from there import DRIVERS, TURNS, There


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extract", type=Path, help="streets as OSM XML")
    parser.add_argument("--roadwright", default="roadwright", help="the program")
    parser.add_argument("--out", type=Path, default=Path("beside-sumo"), 
                        help="folder for intermediate files; trips are read from there again")
    parser.add_argument("--pairs", type=Path, help="trips; without it Roadwright draws them")
    parser.add_argument("--sample", type=int, help="number of pairs to drive, drawn for each seed")
    parser.add_argument("--trips", type=int, default=150, help="trips of each seed, if Roadwright draws them")
    parser.add_argument("--from", dest="begin", default="inside", choices=["inside", "edges", "both"])
    parser.add_argument("--seeds", type=int, default=10, help="seeds 1 to N")
    parser.add_argument("--within", type=float, default=10.0, help="trips set out within this time, s")
    parser.add_argument("--moments", type=int, nargs="+", default=[300, 900], help="times of the comparison, s")
    parser.add_argument("--signals", default="same", choices=["same", "own", "none"])
    parser.add_argument("--sumo-driver", default="own", choices=list(DRIVERS))
    parser.add_argument("--sumo-turns", default="own", choices=list(TURNS))
    parser.add_argument("--sumo-step", type=float, default=1.0, help="s")
    return parser.parse_args()


class Signals:
    """The modes of signals in both programs."""

    def __init__(self, wish, here, there, horizon):
        self.rules, self.programmes, self.dark = here.with_modes(lambda junction: None), None, ()
        if wish == "none":
            self.rules, self.dark = here.with_modes(lambda junction: "off"), there.lights()
        if wish == "same":
            same = SameStages(here, there)
            print(same.tell())
            self.programmes = same.write(here.folder / "programmes.add.xml", horizon)
            self.dark = same.dark
            self.rules = here.with_modes(lambda junction: "fixed" if junction["node"] in same.nodes else "off")


def trips_of(args, here, there, seed, all_trips):
    if args.pairs:
        return random.Random(seed).sample(all_trips, args.sample) if args.sample else all_trips
    pairs = here.draw(args.trips, args.begin, seed)
    with open(args.out / f"pairs-{seed}.csv", "w", newline="") as file:
        kept.write(file, pairs, 7)
    trips = kept.on_streets(pairs, here, there)
    print(f"seed {seed}: {told(pairs, trips)}")
    return trips


def kept_trips(args, here, there):
    """The trips of the file, or of an earlier run in the same folder."""
    pairs, path = kept.read(args.pairs), args.out / f"trips-{args.pairs.stem}.json"
    if not path.exists():
        path.write_text(json.dumps(kept.on_streets(pairs, here, there)))
    trips = json.loads(path.read_text())
    print(told(pairs, trips))
    return trips


def told(pairs, trips):
    lost = len(pairs) - len(trips)
    far = sorted(end["off"] for trip in trips for end in (trip["from"], trip["to"]))
    return (f"{len(trips)} of {len(pairs)} pairs are driven in both, {lost} have no way in one of them;"
            f" ends lie {far[len(far) // 2]:.0f} m from their lanes (median; {far[-1]:.0f} m at most)")


def said(values, digits):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.{digits}f} ({error:.{digits}f})"


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    here = Here(args.roadwright, args.extract, args.out)
    drives_left = here.scenario["about"]["driving_side"] == "left"
    there = There(args.extract, args.out, here.frame, drives_left, args.sumo_turns)
    signals = Signals(args.signals, here, there, max(args.moments) + 60)
    all_trips = kept_trips(args, here, there) if args.pairs else []
    rows = {"Roadwright": [], "SUMO": []}
    for seed in range(1, args.seeds + 1):
        trips = trips_of(args, here, there, seed, all_trips)
        stream = random.Random(seed)
        departures = {trip["id"]: round(stream.uniform(0.0, args.within), 1) for trip in trips}
        rows["Roadwright"].append([here.drive(signals.rules, trips, departures, seed, moment)
                                   for moment in args.moments])
        rows["SUMO"].append(there.drive(trips, departures, seed, args.moments, args.sumo_driver,
                                        signals.programmes, signals.dark, args.sumo_step))
        both = "; ".join(f"{name} " + ", ".join(f"{arrived} {speed:.2f} m/s" for arrived, speed in found[-1])
                         for name, found in rows.items())
        print(f"seed {seed}: {both}", flush=True)
    for name, found in rows.items():
        for moment, column in zip(args.moments, zip(*found)):
            arrived, speed = zip(*column)
            print(f"{name}: {said(arrived, 1)} arrive within {moment} s, {said(speed, 2)} m/s")


if __name__ == "__main__":
    main()

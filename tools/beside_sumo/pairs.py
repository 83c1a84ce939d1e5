"""Pairs of coordinates, and the places of their ends on the streets of both programs.

    python3 tools/beside_sumo/pairs.py WEST SOUTH EAST NORTH METRES SEED > FILE.csv

writes 150 pairs, drawn evenly from a rectangle, with their ends at least METRES apart. It does not know the
streets. `ring.csv` and `city.csv` were made by:

    pairs.py -6.2660 53.3402 -6.2495 53.3472 300 1 > ring.csv
    pairs.py -6.2840 53.3385 -6.2250 53.3735 500 1 > city.csv
"""

import csv
import itertools
import math
import random
import sys

from place import turn

HEADER = ["from_longitude", "from_latitude", "to_longitude", "to_latitude"]
COUNT = 150
# Tolerances within which a lane of the other program is the same street and direction, m and rad.
SAME_STREET, SAME_WAY = 8.0, 0.5
# Least straight length of a trip, m.
LEAST_TRIP = 200.0
# Number of lanes tried near an end and their largest distance, m, first nearby and then farther away.
CANDIDATES = (12, 250.0), (500, 1000.0)
# Numbers of trips tried at once for each pair, fewer at first.
FIRST_TRIED = 5, 30, 300


def drawn(west, south, east, north, metres, seed):
    stream = random.Random(seed)
    east_metres = 111_195.0 * math.cos(math.radians(0.5 * (south + north)))
    found = []
    while len(found) < COUNT:
        a, b = [(round(stream.uniform(west, east), 6), round(stream.uniform(south, north), 6)) for _ in range(2)]
        if math.hypot((a[0] - b[0]) * east_metres, (a[1] - b[1]) * 111_195.0) >= metres:
            found.append((*a, *b))
    return found


def read(path):
    with open(path, newline="") as file:
        return [tuple(float(row[key]) for key in HEADER) for row in csv.DictReader(file)]


def write(file, pairs, digits=6):
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([[f"{value:.{digits}f}" for value in pair] for pair in pairs])


def on_streets(pairs, here, there):
    """The pairs as trips, each between the two nearest lanes that lead from one to the other in both programs.

    Many lanes of an extract only lead over its edge or enter there, so the nearest lane of each end alone would
    often leave no route.
    """
    waiting = {number: choices(here, there, pair) for number, pair in enumerate(pairs, 1)}
    found = {}
    for count in itertools.chain(FIRST_TRIED, itertools.repeat(FIRST_TRIED[-1])):
        if not waiting:
            break
        tried = {number: list(itertools.islice(trips, count)) for number, trips in waiting.items()}
        all_tried = [trip for trips in tried.values() for trip in trips]
        lost = here.lost([dict(trip, id=number) for number, trip in enumerate(all_tried, 1)])
        numbers = iter(range(1, len(all_tried) + 1))
        for number, trips in tried.items():
            ways = [trip for trip in trips if next(numbers) not in lost]
            if ways:
                found[number] = dict(ways[0], id=number)
            if ways or not trips:
                del waiting[number]
    return [found[number] for number in sorted(found)]


def choices(here, there, pair):
    """Trips of SUMO between lanes of both programs near the ends of a pair, the nearest first."""
    told = set()
    for count, reach in CANDIDATES:
        begins = candidates(here, there, pair[:2], "begins", count, reach)
        ends = candidates(here, there, pair[2:], "ends", count, reach)
        both = [(a["off"] + b["off"], i, j) for i, a in enumerate(begins) for j, b in enumerate(ends)]
        for _, i, j in sorted(both):
            begin, end = begins[i], ends[j]
            is_far = math.dist(begin["pose"][:2], end["pose"][:2]) >= LEAST_TRIP
            if (i, j) not in told and is_far and there.leads(begin["edge"], end["edge"]):
                told.add((i, j))
                yield {"from": begin, "to": end}


def candidates(here, there, point, part, count, reach):
    """Places near a point on lanes that exist in both programs, each lane once, nearest first."""
    seen, found = set(), []
    for off, place in here.grid.near(*here.frame.metres(*point), reach):
        lane = place["at"]["road"], place["at"]["lane"]
        other = beside(place, there) if place[part] and lane not in seen else None
        if other:
            seen.add(lane)
            found.append({**place, **other, "pose": place["pose"], "off": off})
        if len(found) == count:
            break
    return found


def beside(place, there):
    """The place in SUMO that corresponds to a place in Roadwright, or None."""
    x, y, heading = place["pose"]
    for _, other in there.grid.near(x, y, SAME_STREET):
        if turn(other["pose"][2], heading) < SAME_WAY:
            return other
    return None


if __name__ == "__main__":
    *rectangle, metres = map(float, sys.argv[1:6])
    write(sys.stdout, drawn(*rectangle, metres, int(sys.argv[6])))

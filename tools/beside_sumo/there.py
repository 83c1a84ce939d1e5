"""SUMO's side: the network that netconvert creates from the same extract, and the simulation."""

import math
import subprocess
from pathlib import Path

import libsumo
import sumo
import sumolib

from open_streets import prepare
from place import Grid

# netconvert limits service roads to deliveries; Roadwright opens them to cars. Without a limit in the data
# both use that of Roadwright.
TYPES = """<types>
    <type id="highway.service" numLanes="1" speed="{service}" priority="1" oneway="false" disallow="rail tram pedestrian"/>
    <type id="highway.residential" numLanes="1" speed="{residential}" priority="3" oneway="false" disallow="rail tram"/>
</types>
"""
SPACING = 2.0

# Defaults of netconvert and of SUMO's vehicles (`own`), and changes that make them more like Roadwright's `idm`:
# acceleration in turns, m/s^2; no drivers faster or slower than the limit; acceleration and braking; the
# car-following law with its parameters; all of these.
TURNS = {"own": 5.5, "like": 2.5}
DRIVERS = {
    "own": {},
    "speed": {"speedFactor": "1", "speedDev": "0"},
    "accel": {"accel": "1.5", "decel": "2.5"},
    "idm": {"carFollowModel": "IDM", "accel": "1.5", "decel": "2.5", "tau": "1.2", "minGap": "2"},
    "like": {"carFollowModel": "IDM", "accel": "1.5", "decel": "2.5", "tau": "1.2", "minGap": "2",
             "speedFactor": "1", "speedDev": "0", "length": "4.5"},
}


class There:
    """The streets of an extract as netconvert creates them."""

    def __init__(self, extract, folder, frame, drives_left, turns="own"):
        self.folder, self.frame = folder, frame
        self.path = folder / f"net-{turns}.xml"
        streets = folder / "open.osm"
        prepare(extract, streets, drives_left)
        types = folder / "types.typ.xml"
        types.write_text(TYPES.format(service=15 / 3.6, residential=30 / 3.6))
        usual = Path(sumo.SUMO_HOME) / "data" / "typemap" / "osmNetconvert.typ.xml"
        command = [str(Path(sumo.SUMO_HOME) / "bin" / "netconvert"), "--osm-files", str(streets)]
        command += ["--osm.lane-access", "--osm.turn-lanes", "-o", str(self.path)]
        command += ["--type-files", f"{usual},{types}", "--junctions.limit-turn-speed", str(TURNS[turns])]
        command += ["--keep-edges.by-vclass", "passenger", "--geometry.remove", "--junctions.join"]
        command += ["--tls.guess-signals", "--tls.join", "--remove-edges.isolated"]
        command += ["--no-turnarounds.except-deadend", "--no-warnings"]
        command += ["--lefthand"] if drives_left else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.net = sumolib.net.readNet(str(self.path))
        self.grid = self._open_lanes()
        self.reached, self.number = {}, {edge.getID(): i for i, edge in enumerate(self.net.getEdges())}

    def metres(self, x, y):
        """Converts metres of the network to metres of the scenario."""
        return self.frame.metres(*self.net.convertXY2LonLat(x, y))

    def shape(self, lane):
        return [self.metres(*point[:2]) for point in lane.getShape()]

    def _open_lanes(self):
        grid = Grid()
        for edge in self.net.getEdges():
            for lane in edge.getLanes():
                if lane.allows("passenger"):
                    self._add_lane(grid, edge, lane)
        return grid

    def _add_lane(self, grid, edge, lane):
        shape = self.shape(lane)
        total = sum(math.dist(a, b) for a, b in zip(shape, shape[1:]))
        along = 0.0
        for (x0, y0), (x1, y1) in zip(shape, shape[1:]):
            length = math.dist((x0, y0), (x1, y1))
            steps = max(1, math.ceil(length / SPACING))
            for i in range(steps):
                share = (i + 0.5) / steps
                # The length of the lane in SUMO, which differs slightly from that of its shape.
                position = (along + share * length) / total * lane.getLength()
                heading = math.atan2(y1 - y0, x1 - x0)
                x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
                grid.add(x, y, {"pose": (x, y, heading), "edge": edge.getID(), "along": round(position, 1)})
            along += length

    def leads(self, begin, end):
        """Whether a route for cars leads from one edge to another."""
        if begin not in self.reached:
            ids = reached(self.net.getEdge(begin))
            # One byte per edge, because sets of names would not fit into memory for a city.
            self.reached[begin] = bytes(edge.getID() in ids for edge in self.net.getEdges())
        return bool(self.reached[begin][self.number[end]])

    def drive(self, trips, departures, seed, moments, driver="own", programmes=None, dark=(), step=1.0):
        """[(arrived, mean speed) at each of `moments`, s]; `dark` are the signals that are off."""
        routes = self.folder / "trips.rou.xml"
        write_trips(routes, trips, departures, DRIVERS[driver])
        command = ["sumo", "-n", str(self.path), "-r", str(routes), "--step-length", str(step), "--seed", str(seed)]
        command += ["--no-step-log", "--no-warnings", "--time-to-teleport", "-1"]
        command += ["-a", str(programmes)] if programmes else []
        libsumo.start(command)
        for light in dark:
            libsumo.trafficlight.setProgram(light, "off")
        metres = vehicle_seconds = arrived = 0
        found = []
        for number in range(1, round(max(moments) / step) + 1):
            libsumo.simulationStep()
            arrived += libsumo.simulation.getArrivedNumber()
            speeds = [libsumo.vehicle.getSpeed(vehicle) for vehicle in libsumo.vehicle.getIDList()]
            metres += sum(speeds) * step
            vehicle_seconds += len(speeds) * step
            if any(abs(number * step - moment) < 0.5 * step for moment in moments):
                found.append((arrived, metres / max(vehicle_seconds, 1)))
        libsumo.close()
        return found

    def lights(self):
        return [light.getID() for light in self.net.getTrafficLights()]


def reached(edge):
    """The ids of all edges that cars can reach."""
    seen, open_ends = {edge.getID()}, [edge]
    while open_ends:
        for other in open_ends.pop().getAllowedOutgoing("passenger"):
            if other.getID() not in seen:
                seen.add(other.getID())
                open_ends.append(other)
    return seen


def write_trips(path, trips, departures, driver):
    ordered = sorted(trips, key=lambda trip: (departures.get(trip["id"], 0.0), trip["id"]))
    with open(path, "w") as file:
        extra = "".join(f' {key}="{value}"' for key, value in driver.items())
        file.write(f'<routes>\n<vType id="car" vClass="passenger"{extra}/>\n')
        for trip in ordered:
            begin, end = trip["from"], trip["to"]
            file.write(
                f'<trip id="{trip["id"]}" type="car" depart="{departures.get(trip["id"], 0.0):.2f}"'
                f' from="{begin["edge"]}" departPos="{max(begin["along"], 0.1)}" departLane="best" departSpeed="0"'
                f' to="{end["edge"]}" arrivalPos="{max(end["along"], 0.1)}"/>\n'
            )
        file.write("</routes>\n")

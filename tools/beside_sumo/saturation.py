"""Measures how fast a queue passes a green light in SUMO, as `roadwright bench saturation` does in Roadwright.

    venv/bin/python tools/beside_sumo/saturation.py

Thirty vehicles stand on a lane before a signal. Printed is the mean headway from the 4th to the 20th, for
vehicles of SUMO as they are and like those of Roadwright, over ten seeds with standard errors.
"""

import math
import statistics
import subprocess
import tempfile
from pathlib import Path

import libsumo
import sumo

from there import DRIVERS

NODES = """<nodes>
<node id="a" x="0" y="0"/><node id="b" x="500" y="0" type="traffic_light"/><node id="c" x="1500" y="0"/>
</nodes>
"""
EDGES = """<edges>
<edge id="before" from="a" to="b" numLanes="1" speed="{speed}"/>
<edge id="behind" from="b" to="c" numLanes="1" speed="{speed}"/>
</edges>
"""
QUEUE, RED = 30, 120


def network(folder, speed):
    (folder / "n.nod.xml").write_text(NODES)
    (folder / "n.edg.xml").write_text(EDGES.format(speed=speed))
    path = folder / "net.xml"
    subprocess.run([str(Path(sumo.SUMO_HOME) / "bin" / "netconvert"), "-n", str(folder / "n.nod.xml"), "-e",
                    str(folder / "n.edg.xml"), "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def headway(folder, net, driver, seed, step):
    values = "".join(f' {key}="{value}"' for key, value in DRIVERS[driver].items())
    queue = "".join(f'<trip id="{i}" type="car" depart="0" from="before" to="behind"/>\n' for i in range(QUEUE))
    (folder / "q.rou.xml").write_text(f'<routes>\n<vType id="car"{values}/>\n{queue}</routes>\n')
    libsumo.start(["sumo", "-n", str(net), "-r", str(folder / "q.rou.xml"), "--step-length", str(step),
                   "--seed", str(seed), "--no-step-log", "--no-warnings", "--time-to-teleport", "-1"])
    light, passed = libsumo.trafficlight.getIDList()[0], {}
    size = len(libsumo.trafficlight.getRedYellowGreenState(light))
    while len(passed) < 20:
        now = libsumo.simulation.getTime()
        libsumo.trafficlight.setRedYellowGreenState(light, ("G" if now >= RED else "r") * size)
        libsumo.simulationStep()
        for vehicle in libsumo.vehicle.getIDList():
            if vehicle not in passed and libsumo.vehicle.getRoadID(vehicle) != "before":
                # When it passed the line within the step.
                beyond = libsumo.vehicle.getDistance(vehicle) - libsumo.lane.getLength("before_0")
                beyond += libsumo.vehicle.getLength(vehicle)
                passed[vehicle] = now + step - max(beyond, 0.0) / max(libsumo.vehicle.getSpeed(vehicle), 0.1)
    libsumo.close()
    times = sorted(passed.values())
    return (times[19] - times[3]) / 16


def main():
    print("km/h  vehicles  step s  headway s (standard error)  vehicles/h")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for speed in (30, 50, 70):
            net = network(folder, speed / 3.6)
            for driver, step in (("own", 1.0), ("like", 0.1)):
                found = [headway(folder, net, driver, seed, step) for seed in range(1, 11)]
                mean, error = statistics.mean(found), statistics.stdev(found) / math.sqrt(len(found))
                print(f"{speed:4}  {driver:>8}  {step:6}  {mean:.3f} ({error:.3f})  {3600 / mean:.0f}")


if __name__ == "__main__":
    main()

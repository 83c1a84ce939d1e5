"""Converts between degrees, metres of a scenario's world frame, and places on lanes."""

import bisect
import math
from collections import defaultdict

EARTH_RADIUS = 6_371_008.8
# Distance between the points that a lane is sampled at, m.
SPACING = 2.0
# Side of the squares in which samples are looked up, m.
CELL = 50.0


class Frame:
    """The world frame of an import: transverse Mercator on a sphere around its origin."""

    def __init__(self, scenario):
        origin = scenario["about"]["origin"]
        self.latitude = math.radians(origin["latitude_deg"])
        self.longitude = math.radians(origin["longitude_deg"])

    def degrees(self, x, y):
        x, y = x / EARTH_RADIUS, y / EARTH_RADIUS + self.latitude
        latitude = math.asin(math.sin(y) / math.cosh(x))
        longitude = self.longitude + math.atan2(math.sinh(x), math.cos(y))
        return math.degrees(longitude), math.degrees(latitude)

    def metres(self, longitude, latitude):
        latitude, east = math.radians(latitude), math.radians(longitude) - self.longitude
        x = math.atanh(math.cos(latitude) * math.sin(east))
        y = math.atan2(math.tan(latitude), math.cos(east)) - self.latitude
        return x * EARTH_RADIUS, y * EARTH_RADIUS


def turn(a, b):
    """The angle between two headings, rad, 0 to pi."""
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


def value_in(polynomials, s):
    """Value at `s` of cubic polynomials, each of which is valid until the next begins."""
    if not polynomials:
        return 0.0
    index = bisect.bisect_right([p.get("s", 0.0) for p in polynomials], s) - 1
    poly = polynomials[max(index, 0)]
    ds = s - poly.get("s", 0.0)
    return poly["a"] + ds * (poly.get("b", 0.0) + ds * (poly.get("c", 0.0) + ds * poly.get("d", 0.0)))


class Line:
    """A reference line as (s, x, y, heading) at most `SPACING` apart."""

    def __init__(self, record):
        self.points = [(0.0, record["x"], record["y"], record["heading"])]
        for segment in record["segments"]:
            if segment["type"] == "cubic":
                self._add_cubic(segment)
            else:
                self._add_arc(segment)
        self.starts = [point[0] for point in self.points]
        self.length = self.starts[-1]

    def _add_arc(self, segment):
        """A line, arc or clothoid, in steps along their mean heading."""
        length = segment["length"]
        begin = segment.get("curvature_start", segment.get("curvature", 0.0))
        end = segment.get("curvature_end", segment.get("curvature", 0.0))
        steps = max(1, math.ceil(length / SPACING))
        step = length / steps
        for i in range(steps):
            s, x, y, heading = self.points[-1]
            curvature = begin + (end - begin) * (i + 0.5) / steps
            middle = heading + 0.5 * step * curvature
            self.points.append((s + step, x + step * math.cos(middle), y + step * math.sin(middle),
                                heading + step * curvature))

    def _add_cubic(self, segment):
        s, x0, y0, heading = self.points[-1]
        bu, cu, du, cv, dv = (segment.get(key, 0.0) for key in ("bu", "cu", "du", "cv", "dv"))
        steps = max(2, math.ceil(abs(bu + cu + du) / SPACING))
        x, y = x0, y0
        for i in range(1, steps + 1):
            p = i / steps
            u, v = p * (bu + p * (cu + p * du)), p * p * (cv + p * dv)
            at = math.atan2(p * (2 * cv + 3 * p * dv), bu + p * (2 * cu + 3 * p * du))
            nx = x0 + u * math.cos(heading) - v * math.sin(heading)
            ny = y0 + u * math.sin(heading) + v * math.cos(heading)
            s += math.hypot(nx - x, ny - y)
            x, y = nx, ny
            self.points.append((s, x, y, heading + at))

    def at(self, s):
        """(x, y, heading) at a distance, m."""
        i = min(max(bisect.bisect_right(self.starts, s) - 1, 0), len(self.points) - 2)
        (s0, x0, y0, h0), (s1, x1, y1, h1) = self.points[i], self.points[i + 1]
        share = min(max((s - s0) / (s1 - s0), 0.0), 1.0)
        return x0 + share * (x1 - x0), y0 + share * (y1 - y0), h0 + share * (h1 - h0)


class Road:
    def __init__(self, record, drives_left):
        self.record = record
        self.drives_left = drives_left
        self.line = Line(record["reference_line"])
        self.access = record.get("access", "all")

    def section(self, s):
        starts = [section.get("s", 0.0) for section in self.record["lane_sections"]]
        return self.record["lane_sections"][max(bisect.bisect_right(starts, s) - 1, 0)]

    def lane(self, number, s):
        return next((lane for lane in self.section(s)["lanes"] if lane["id"] == number), None)

    def is_forward(self, lane):
        standard = (lane["id"] < 0) != self.drives_left
        return standard != (lane.get("direction") == "reversed")

    def lanes_beside(self, lane, s):
        """Number of lanes for motor vehicles in the direction of a lane."""
        return sum(other["type"] in ("driving", "bus") and self.is_forward(other) == self.is_forward(lane)
                   for other in self.section(s)["lanes"])

    def pose(self, number, s):
        """Middle of a lane at `s` and the heading in which it is driven, or None."""
        section, lane = self.section(s), self.lane(number, s)
        if lane is None:
            return None
        ds = s - section.get("s", 0.0)
        side = 1 if number > 0 else -1
        inner = sum(max(value_in(other["width"], ds), 0.0) for other in section["lanes"]
                    if other["id"] * side > 0 and abs(other["id"]) < abs(number))
        own = max(value_in(lane["width"], ds), 0.0)
        across = value_in(self.record.get("lane_offset"), s) + side * (inner + 0.5 * own)
        x, y, heading = self.line.at(s)
        x, y = x - across * math.sin(heading), y + across * math.cos(heading)
        return x, y, heading if self.is_forward(lane) else heading + math.pi

    def samples(self):
        """All places on lanes for cars: (x, y, heading, lane, s)."""
        steps = max(1, math.ceil(self.line.length / SPACING))
        for i in range(steps):
            s = self.line.length * (i + 0.5) / steps
            for lane in self.section(s)["lanes"]:
                if lane["type"] == "driving":
                    yield (*self.pose(lane["id"], s), lane["id"], s)


class Grid:
    """Samples by squares of the ground."""

    def __init__(self):
        self.cells = defaultdict(list)

    def add(self, x, y, what):
        self.cells[int(x // CELL), int(y // CELL)].append((x, y, what))

    def near(self, x, y, reach):
        """(distance, place) of all places within reach, nearest first."""
        found = []
        for i in range(int((x - reach) // CELL), int((x + reach) // CELL) + 1):
            for j in range(int((y - reach) // CELL), int((y + reach) // CELL) + 1):
                for px, py, what in self.cells.get((i, j), ()):
                    distance = math.hypot(px - x, py - y)
                    if distance <= reach:
                        found.append((distance, what))
        found.sort(key=lambda pair: pair[0])
        return found

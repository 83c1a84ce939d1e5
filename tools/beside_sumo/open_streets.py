"""Prepares an extract in which netconvert finds the same lanes open to cars as Roadwright's import.

It reads bus lanes only where each lane is named (`bus:lanes`), not their number (`lanes:psv`), lets through traffic
into streets for residents, deliveries or guests, and lets all vehicles turn where buses may.
"""

import xml.etree.ElementTree as ElementTree

# The most specific key gives the permitted vehicles.
ACCESS = "motorcar", "motor_vehicle", "vehicle", "access"
CLOSED = {
    "destination", "customers", "delivery", "permit", "residents", "private", "employees", "staff", "military",
    "emergency", "agricultural", "forestry", "no",
}
# Values of `except` that exempt cars from a turn restriction.
EXCEPT_CARS = {"motorcar", "motor_vehicle", "vehicle"}


def prepare(extract, path, drives_left):
    """Writes the extract with only the OSM ways open to all cars, and with bus lanes by name."""
    tree = ElementTree.parse(extract)
    root = tree.getroot()
    for way in root.findall("way"):
        tags = {tag.get("k"): tag.get("v") for tag in way.findall("tag")}
        if "highway" not in tags:
            continue
        if is_closed(tags):
            root.remove(way)
            continue
        for key, value in bus_lanes(tags, drives_left).items():
            ElementTree.SubElement(way, "tag", k=key, v=value)
    for relation in root.findall("relation"):
        for tag in relation.findall("tag"):
            if tag.get("k") == "except" and not EXCEPT_CARS & set(tag.get("v").split(";")):
                relation.remove(tag)
    tree.write(path)


def is_closed(tags):
    value = next((tags[key] for key in ACCESS if key in tags), "yes")
    return all(part.strip() in CLOSED for part in value.split(";"))


def bus_lanes(tags, drives_left):
    """Tags for the outermost lanes, as many of them bus lanes as `lanes:psv` or `lanes:bus` gives."""
    total = count(tags, "lanes")
    if tags.get("oneway") in ("yes", "true", "1", "-1", "reverse"):
        buses = first(tags, "lanes:psv:forward", "lanes:bus:forward", "lanes:psv", "lanes:bus")
        return named("bus:lanes", total or 1, buses, drives_left)
    all_lanes = max(total or 2, 2)
    along, against = count(tags, "lanes:forward"), count(tags, "lanes:backward")
    if along is None:
        along = max(all_lanes - against, 1) if against else -(-all_lanes // 2)
    if against is None:
        against = max(all_lanes - along, 1)
    return {
        **named("bus:lanes:forward", along, first(tags, "lanes:psv:forward", "lanes:bus:forward"), drives_left),
        **named("bus:lanes:backward", against, first(tags, "lanes:psv:backward", "lanes:bus:backward"), drives_left),
    }


def named(key, lanes, buses, drives_left):
    buses = min(buses or 0, lanes - 1)
    if buses < 1:
        return {}
    names = ["designated"] * buses + ["yes"] * (lanes - buses)
    # They are named from left to right.
    return {key: "|".join(names if drives_left else names[::-1])}


def first(tags, *keys):
    return next((value for key in keys if (value := count(tags, key)) is not None), None)


def count(tags, key):
    try:
        value = float(tags.get(key, "").split(";")[0])
    except ValueError:
        return None
    return int(value) if 1 <= value <= 12 else None

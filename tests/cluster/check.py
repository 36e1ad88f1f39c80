"""Compares what clients were told by several managers with what each of them says when all is quiet."""
import collections

FINAL = 200
TERM = 1 << 32  # an event's number: term x TERM + a counter


class End:
    """What one manager says: `things` {thing: state}, `containers` [record], `operations` {id: status code}, `events` [event]."""

    def __init__(self, things, containers, operations, events):
        self.things, self.containers, self.operations, self.events = things, containers, operations, events


def problems(history, ends):
    """`ends`: {name of manager: End}. Texts, none when all is well."""
    found = list(history.wrong)
    for manager, end in ends.items():
        found += [f"{manager}: {text}" for text in [*things_differ(history, end), *ids_differ(history, end), *shared(end.containers),
                                                   *operations_differ(history, end), *unordered(end.events)]]
    return found + won_twice(history) + managers_differ(ends) + events_lost(history, ends)


def things_differ(history, end):
    """No change that was acknowledged is lost, and there is nothing that nobody asked for."""
    for thing in sorted({*history.may, *end.things}):
        may, state = history.states(thing), end.things.get(thing)
        if state not in may:
            yield f"{thing} is {state}, and may be {' or '.join(sorted(map(str, may)))}"


def ids_differ(history, end):
    ids = {f"instance {record['name']}": record["id"] for record in end.containers}
    for thing, id in history.ids.items():
        if ids.get(thing, id) != id:
            yield f"{thing} was {id} and is {ids[thing]}"


def shared(containers):
    """Names, addresses and ports that two have."""
    holders = collections.defaultdict(list)
    for record in containers:
        for thing in held(record):
            holders[thing].append(record["name"])
    return [f"{thing} belongs to {' and '.join(names)}" for thing, names in holders.items() if len(names) > 1]


def held(record):
    yield f"name {record['name']}"
    yield f"id {record['id']}"
    if record.get("address"):
        yield f"address {record['address']}"
    for service in record.get("services") or []:
        if service.get("node_port"):
            for protocol in service["protocols"]:
                yield f"port {service['node_port']}/{protocol} of node {record['node']}"


def operations_differ(history, end):
    for operation, told in history.operations.items():
        now = end.operations.get(operation)
        if now is None:
            yield f"accepted operation {operation} is unknown"
        elif told is not None and now != told:
            yield f"operation {operation} had ended with {told} and has {now} now"
    for operation, code in end.operations.items():
        if code < FINAL:
            yield f"operation {operation} has not ended"


def won_twice(history):
    return [f"{thing} was made by {' and '.join(clients)}" for thing, clients in history.won.items() if len(clients) > 1]


def unordered(events):
    numbers = [event["sequence"] for event in events if "sequence" in event]
    return [f"after event {a} comes {b}" for a, b in zip(numbers, numbers[1:]) if b <= a]


def managers_differ(ends):
    """All say the same of everything, and have the same events where their windows overlap."""
    found, (first, *others) = [], ends.items()
    for name, end in others:
        for what in ("things", "operations"):
            found += [f"{first[0]} and {name} differ in {key}: {getattr(first[1], what).get(key)} and {getattr(end, what).get(key)}"
                      for key in differing(getattr(first[1], what), getattr(end, what))]
        mine, its = numbered(first[1].events), numbered(end.events)
        start = max(min(mine, default=0), min(its, default=0))
        found += [f"{first[0]} and {name} differ in event {number}: {mine.get(number)} and {its.get(number)}"
                  for number in differing(mine, its) if number >= start and not died_with_its_leader(number, mine, its)]
    return found


def died_with_its_leader(number, mine, its):
    """One of the last events of an earlier term: perhaps nobody but its leader had it."""
    term = number // TERM
    of_term = lambda events: max((each for each in events if each // TERM == term), default=0)  # noqa: E731
    return term < max({*mine, *its}) // TERM and number > min(of_term(mine), of_term(its))


def differing(one, other):
    return sorted(key for key in {*one, *other} if one.get(key) != other.get(key))


def numbered(events):
    return {event["sequence"]: event for event in events if "sequence" in event}


def events_lost(history, ends):
    """What a subscriber was sent is kept under its number. Only the last events of a leader that died may be lost, since no other
    manager had received them."""
    kept = numbered(next(iter(ends.values())).events)
    last, oldest = {}, min(kept, default=0)
    for number in kept:
        last[number // TERM] = max(number, last.get(number // TERM, 0))
    found = []
    for stream in history.streams:
        found += unordered(stream)
        for number, event in numbered(stream).items():
            if number in kept and kept[number] != event:
                found.append(f"event {number} was {event} and is {kept[number]}")
            elif number not in kept and number >= oldest and number < last.get(number // TERM, 0):
                found.append(f"event {number} was sent and is not kept: {event}")
    return found

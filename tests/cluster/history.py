"""What clients of several managers were told, kept as what may therefore be. Threads: any."""
import threading

ABSENT = None


class History:
    """A thing is named "instance a" or "addon b" and has a state, ABSENT at first. One client at a time changes it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.may = {}  # {thing: the states that it may have}
        self.ids = {}  # {thing: the id that was told}
        self.operations = {}  # {id: the status code that it ended with}; None: its end was not told
        self.won = {}  # {thing that many wanted to make: who were told that they have}
        self.streams = []  # the events that each subscription was sent, in order
        self.wrong = []  # what could be seen at once

    def states(self, thing):
        with self.lock:
            return self.may.get(thing, {ABSENT})

    def done(self, thing, state):
        """The change was acknowledged."""
        with self.lock:
            self.may[thing] = {state}

    def refused(self, thing, states):
        """The change was not made: the thing has one of these states, as before it."""
        with self.lock:
            self.may[thing] = set(states)

    def unsure(self, thing, *states):
        """Nobody knows: the thing is as it was or in one of these states."""
        with self.lock:
            self.may[thing] = self.may.get(thing, {ABSENT}) | set(states)

    def seen(self, thing, state, where):
        """A read after the last change by the same client. What was read is certain from now on."""
        with self.lock:
            may = self.may.get(thing, {ABSENT})
            if state not in may:
                self.wrong.append(f"{where}: {thing} is {state}, and may be {texts(may)}")

    def accepted(self, operation):
        with self.lock:
            self.operations.setdefault(operation, None)

    def ended(self, operation, code, where):
        with self.lock:
            if self.operations.get(operation) not in (None, code):
                self.wrong.append(f"{where}: operation {operation} had ended with {self.operations[operation]} and has {code} now")
            self.operations[operation] = code

    def told_id(self, thing, id):
        with self.lock:
            self.ids[thing] = id

    def wins(self, thing, client):
        with self.lock:
            self.won.setdefault(thing, []).append(client)


def texts(states):
    return " or ".join(sorted(str(state) for state in states))

"""Every hook: routers tell their group how long the queues of their global links are."""

from deroute.routing import MINIMAL

LADDER = 8
RECONSIDERS = True
STATE = 6
FULL = 30

ENTERED, BLOCKED, LEFT, TOLD, SENT, HEARD = range(6)


def most(view):
    longest = 0
    for port in range(view.ports()):
        if view.link_class(port) == 1:
            longest = max(longest, view.port_queue(port))
    return longest


def queues_changed(view):
    full = 1 if most(view) > FULL else 0
    if full != view.state(TOLD):
        view.keep(TOLD, full)
        view.keep(SENT, view.state(SENT) + 1)
        view.send(15, full)


def message(view, sender, content):
    if view.group(sender) == view.group(view.router) and sender != view.router:
        view.keep(HEARD, view.state(HEARD) + content)


def entered(view, header):
    view.keep(ENTERED, view.state(ENTERED) + 1)


def blocked(view, header):
    view.keep(BLOCKED, view.state(BLOCKED) + 1)


def left(view, header):
    view.keep(LEFT, view.state(LEFT) + 1)


def route(view, header):
    if header.position == 0:
        header.go_minimally()
        warned = view.state(BLOCKED) > view.state(LEFT) or view.state(HEARD) % 2 == 1
        if warned or view.port_queue(view.hop(header)) > FULL:
            header.divert(view.intermediate())
    elif header.phase == MINIMAL and header.position == 1 and view.below(4) == 0:
        for port in range(view.ports()):
            if view.link_class(port) == 0 and view.input != port and view.port_queue(port) == 0:
                return view.hop_by(port)
    return view.hop(header)

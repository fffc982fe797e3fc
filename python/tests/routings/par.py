from deroute.routing import MINIMAL

LADDER = "progressive"
THRESHOLD = 0


def route(view, header):
    if header.phase != MINIMAL or header.position > 1:
        return view.hop(header)
    minimal = view.hop(header)
    middle = view.intermediate()
    header.divert(middle)
    if header.phase == MINIMAL:
        return minimal
    here, there = view.router, header.destination
    detour = view.hop(header)
    shorter = view.distance(here, there)
    longer = view.distance(here, middle) + view.distance(middle, there)
    if view.queue(minimal) * shorter > view.queue(detour) * longer + THRESHOLD:
        return detour
    header.go_minimally()
    return minimal

from deroute.routing import LGL, MINIMAL

LADDER = "valiant"
AT_SOURCE = False
RECONSIDERS = False
POLICY = LGL
THRESHOLD = 0


def route(view, header):
    if header.position > 0:
        return view.hop(header)
    middle = header.intermediate
    if middle < 0:
        middle = view.intermediate(POLICY)
    header.go_minimally()
    minimal = view.hop(header)
    header.divert(middle, POLICY)
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

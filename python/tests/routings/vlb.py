from deroute.routing import LGL

LADDER = "valiant"
AT_SOURCE = False
POLICY = LGL


def route(view, header):
    if header.position == 0:
        header.divert(view.intermediate(POLICY), POLICY)
    return view.hop(header)

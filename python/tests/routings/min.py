LADDER = "minimal"


def route(view, header):
    return view.hop(header)

"""The Dynamic MAC Protocol: hosts ask for their addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from deroute.tables import dmp
from deroute.tables.compiler import Compiler
from test_tables import DRAGONFLY, fabric_of
from test_tables_command import FILE, MINIMAL, SMALL, call


def test_a_host_asks_its_switch_for_its_address(tmp_path: Path) -> None:
    """Thesis figure 4-7."""
    compiler = Compiler(fabric_of(DRAGONFLY), "minimal", "per-group")
    first, second = dmp.rules(compiler, 5)
    assert second.flow() == (
        "priority=60000,in_port=2,dl_type=0x88b5,actions=mod_dl_src:02:00:00:00:00:0b,in_port"
    )
    asked = dmp.request(0x001B21000007, 99)
    assert len(asked) == 60
    assert asked[12:14] == b"\x88\xb5"
    said = second.apply(asked)
    assert said is not None
    assert said[:6] + said[12:] == asked[:6] + asked[12:]
    assert dmp.answer(said, 99) == int(compiler.addresses[11])
    # Not its own, somebody else's, no answer at all, no request.
    assert dmp.answer(first.apply(asked) or b"", 99) == int(compiler.addresses[10])
    assert dmp.answer(said, 98) is None
    assert dmp.answer(asked, 99) is None
    assert dmp.answer(b"", 99) is None
    assert second.apply(asked[:12] + b"\x08\x00" + asked[14:]) is None
    call(FILE, *SMALL, *MINIMAL, "--openflow", tmp_path, "--dmp")
    flows = (tmp_path / "s5.flows").read_text()
    assert flows.count("dl_type=0x88b5") == 2
    assert "belongs to --openflow" in call(FILE, *SMALL, *MINIMAL, "--dmp", code=2).output


def test_rewritten_headers_break_what_is_announced_in_payloads() -> None:
    """Thesis 4.4: an answer goes to the address that was announced, not to that of the header."""
    compiler = Compiler(fabric_of(DRAGONFLY), "minimal", "compact")
    table, known = compiler.table(0), compiler.addresses.tolist()
    for host in range(2, compiler.fabric.hosts):
        router, place = divmod(host, 2)
        burnt_in = 0x001B_2100_0000 + host
        # The switch rewrites the header on the fly, and the payload says what the host believes.
        header, payload = known[host], burnt_in
        assert table.lookup(payload, known[0], 0) is None
        way = table.lookup(header, known[0], 0)
        assert way is not None
        # With the protocol the host has learnt its address, and announces that.
        returned = dmp.rules(compiler, router)[place].apply(dmp.request(burnt_in, host))
        learnt = dmp.answer(returned or b"", host)
        assert learnt is not None
        assert table.lookup(learnt, known[0], 0) == way


def test_the_host_side_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert dmp.main([]) == 2
    assert "usage" in capsys.readouterr().err
    assert dmp.main(["nowhere0"]) == 1
    assert "there is no interface 'nowhere0'" in capsys.readouterr().err

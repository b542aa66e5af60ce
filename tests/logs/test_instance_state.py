from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from emberscope.logs.instance_state import (
    BUSY_PROCESS,
    FULL_DISK,
    HIGH_LOAD,
    LITTLE_MEMORY,
    NODE_SEEN,
    log_events,
    looks_like_instance_state,
    read_instance_state,
    size_bytes,
)
from emberscope.tables.log_events import LOG_EVENTS

PATH = "logs/j-1/node/i-0abc12345/daemons/instance-state/instance-state.log-2022-08-22-14-15.gz"

# The outputs of the commands that AWS names for these logs (re:Post, "Decoding Instance-State log in EMR"), typed anew.
_STATE = """\
# date
Mon Aug 22 14:14:22 UTC 2022

# uptime
 14:14:22 up 3 days,  1:02,  0 users,  load average: {load}

# iostat -x 1 5
Linux 4.14.281-212.502.amzn2.x86_64 (ip-10-0-0-7) \t08/22/2022 \t_x86_64_\t(8 CPU)

# free -m
              total        used        free      shared  buff/cache   available
Mem:          31666       {used}        {free}           1         900        {available}
Swap:             0           0           0

# ps auxwww --sort -%cpu | head -20
USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
hadoop    4711 {cpu}  2.0 5912345 612345 ?     Sl   Aug19 900:00 java -cp /emr/logpusher/lib/* Push
yarn      5012  12.0 20.1 9912345 6612345 ?    Sl   Aug19 100:00 java NodeManager

# df -h
Filesystem      Size  Used Avail Use% Mounted on
devtmpfs         16G     0   16G   0% /dev
/dev/nvme0n1p1   10G  5.9G  4.1G  60% /
/dev/nvme1n1p2  123G  {disk}% /mnt
"""
FULL = _STATE.format(
    load="52.20, 41.10, 30.00", used="20000", free="1000", available="11000", cpu="99.7", disk="119G  4.0G  97"
)
HEALTHY = _STATE.format(
    load="2.20, 2.10, 2.00", used="20000", free="1000", available="11000", cpu=" 1.7", disk="50G  73G  41"
)


def test_it_is_told_by_what_is_in_it() -> None:
    assert looks_like_instance_state(FULL.encode())
    assert not looks_like_instance_state(b"22/08/22 14:14:24 INFO Executor: Running task, load average: 3.0")
    assert not looks_like_instance_state(b"/dev/nvme1n1p2  123G 119G 4.0G 97% /mnt")


def test_what_is_out_of_the_ordinary_is_found_with_its_line() -> None:
    state = read_instance_state(FULL, PATH)
    assert [fact.signature for fact in state.lines] == [HIGH_LOAD, BUSY_PROCESS, FULL_DISK]
    disk = state.lines[-1]
    assert disk.fields["mount"] == "/mnt"
    assert FULL.splitlines()[disk.line - 1].strip() == disk.text
    assert size_bytes(disk.fields["size"]) == 123 << 30
    assert state.cores == 8
    assert state.time_ms == 1_661_177_662_000
    assert state.host == "ip-10-0-0-7"
    assert read_instance_state("", PATH).host == "i-0abc12345"


def test_memory_that_is_gone() -> None:
    text = _STATE.format(
        load="2.20, 2.10, 2.00", used="31000", free="100", available="200", cpu=" 1.7", disk="50G  73G  41"
    )
    assert [fact.signature for fact in read_instance_state(text).lines] == [LITTLE_MEMORY]


def test_a_healthy_node_is_one_row_that_says_its_cores() -> None:
    (row,) = log_events(read_instance_state(HEALTHY, PATH), PATH)
    assert row["signatures"] == [NODE_SEEN]
    assert LOG_EVENTS.from_rows([row]).num_rows == 1
    assert json.loads(row["fields"])[NODE_SEEN] == {"cores": "8"}


@given(st.text())
def test_prop_any_text_is_read_without_a_crash(text: str) -> None:
    log_events(read_instance_state(text, text), text)

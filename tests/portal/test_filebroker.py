"""The embedded broker: messages are whole, garbage is dropped, readers do not race."""

from __future__ import annotations

import threading
from queue import Empty

import pytest
from kombu import Connection

from portal import filebroker

filebroker.register()


@pytest.fixture
def channel(tmp_path):
    folders = {name: tmp_path / name for name in ("messages", "control")}
    for folder in folders.values():
        folder.mkdir()
    options = {
        "data_folder_in": str(folders["messages"]),
        "data_folder_out": str(folders["messages"]),
        "control_folder": str(folders["control"]),
    }
    with Connection("assayfiles://localhost/", transport_options=options) as opened:
        yield opened.channel()


def message(number):
    return {"body": str(number), "headers": {}, "properties": {"n": number}}


def test_messages_come_in_the_order_of_their_sending(channel):
    for number in range(3):
        channel._put("runs", message(number))
    channel._put("other", message(9))
    assert [channel._get("runs")["body"] for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(Empty):
        channel._get("runs")


@pytest.mark.parametrize(
    "garbage", [b"", b"{", b"[]", b'{"body": 1}', b"\xff\xfe", b"null"]
)
def test_garbage_is_dropped_and_the_next_message_is_read(channel, tmp_path, garbage):
    bad = tmp_path / "messages" / "-bad.runs.msg"
    bad.write_bytes(garbage)
    channel._put("runs", message(1))
    assert channel._get("runs")["body"] == "1"
    assert not bad.exists()
    assert list((tmp_path / "messages").iterdir()) == []


def test_a_broken_routing_table_is_written_anew(channel, tmp_path):
    (tmp_path / "control" / "runs.exchange").write_bytes(b"{")
    assert channel.get_table("runs") == []
    channel._queue_bind("runs", "runs", "", "runs")
    assert [row.queue for row in channel.get_table("runs")] == ["runs"]


def test_a_missing_folder_is_an_empty_queue(channel, tmp_path):
    (tmp_path / "messages").rmdir()
    with pytest.raises(Empty):
        channel._get("runs")
    channel._put("runs", message(1))
    assert channel._get("runs")["body"] == "1"


def test_many_writers_and_readers_lose_and_double_nothing(channel):
    sent, seen, lock = 300, [], threading.Lock()
    over = threading.Event()

    def write(start):
        for number in range(start, sent, 3):
            channel._put("runs", message(number))

    def read():
        while True:
            done = over.is_set()
            try:
                body = channel._get("runs")["body"]
            except Empty:
                if done:
                    return
                continue
            with lock:
                seen.append(int(body))

    readers = [threading.Thread(target=read) for _ in range(3)]
    writers = [threading.Thread(target=write, args=[n]) for n in range(3)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    for thread in readers:
        thread.join()
    assert sorted(seen) == list(range(sent))

import socket
import subprocess
import sys

from ui.tuning import send_at_once


def without_delay(sock: socket.socket) -> bool:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_connections_made_before_and_after_send_at_once():
    with socket.socket(socket.AF_INET) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as early:
            assert not without_delay(early), "the system's default has changed: send_at_once may be needless"
            assert send_at_once() >= 3
            assert without_delay(early)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as later:
            assert without_delay(later), "inherited from the listening socket"


def test_closed_and_other_sockets_are_left_alone():
    closed = socket.socket(socket.AF_INET)
    closed.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        send_at_once()
        assert datagrams.fileno() >= 0
    assert closed.fileno() == -1


def test_tuning_happens_once_and_holds():
    # In a process of its own: freezing is for good.
    code = (
        "import gc, torch\nfrom ui.tuning import tune_process\n"
        "tune_process(); frozen = gc.get_freeze_count(); tune_process()\n"
        "assert torch.get_num_threads() == 1\n"
        "assert frozen > 50_000 and gc.get_freeze_count() == frozen"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""What workers are asked to do in tests; light, as each of them imports it."""

import os
import signal
import time
from collections.abc import Callable

from cleft.engines import Workers
from cleft.errors import InputError, WorkerError


class OddError(Exception):
    """An error that is not made as its pickle wants it."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def doubling(add: int) -> Callable[[object], int]:
    def doubled(task: object) -> int:
        if task == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "odd":
            raise OddError(1, 2)
        if not isinstance(task, int):
            raise InputError(f"expected a number, found {task!r}")
        time.sleep(0.05 * (task == 0))  # the first is the slowest
        return 2 * task + add

    return doubled


def failing() -> Callable[[object], object]:
    raise InputError("the model is gone")


def sleeping() -> Callable[[float], None]:
    return time.sleep


def nesting() -> Callable[[object], str]:
    def nested(_: object) -> str:
        try:
            with Workers(1, sleeping) as crew:
                crew.submit(0)
        except WorkerError as error:
            return str(error)
        return ""

    return nested

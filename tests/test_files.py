import gzip
import os
import pickle
from pathlib import Path

import pytest

from cleft.errors import CleftError, InputError, OutputError, Place
from cleft.files import lines, read_text, writing


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\u2028two\x85\r\nthree".encode())
    assert list(lines(path)) == ["one\u2028two\x85\r\n", "three"]
    assert read_text(path) == "one\u2028two\x85\r\nthree"


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)

    def fail() -> None:
        with writing(path) as stream:
            stream.write("new")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with writing(path) as stream:
        stream.write("new \ud800")
    assert path.read_text() == "new \\ud800"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_written_through_and_new_files_have_usual_permissions(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    with writing(link) as stream:
        stream.write("x")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "x"
    mask = os.umask(0o022)
    os.umask(mask)
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_special_file_is_written_directly() -> None:
    with writing("/dev/null") as stream:
        stream.write("x")
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_an_output_error() -> None:
    def fill() -> None:
        with writing("/dev/full") as stream:
            stream.write("x" * 100_000)

    with pytest.raises(OutputError, match="/dev/full: cannot be written: No space left"):
        fill()


def test_a_target_in_a_missing_folder_is_an_output_error(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="cannot be written: No such file"),
        writing(tmp_path / "none" / "out.txt"),
    ):
        pass


def test_broken_gzip_and_odd_paths_are_input_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"no gzip")
    with pytest.raises(InputError, match="cannot be read"):
        list(lines(path))
    with pytest.raises(InputError, match="cannot be opened"):
        list(lines("a\0b"))
    with pytest.raises(InputError, match="cannot be opened"):
        list(lines(path / "below-a-file"))


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = CleftError("no trees", where=Place("a.mrg", 3), hint="add some")
    assert str(error) == "a.mrg line 3: no trees; add some"
    back = pickle.loads(pickle.dumps(InputError("gone", where="x")))
    assert isinstance(back, InputError)
    assert str(back) == "x: gone"


def test_gzip_is_read_but_not_written(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"read but not written; write without \.gz"),
        writing(tmp_path / "out.mrg.gz"),
    ):
        pass
    damaged = bytearray(gzip.compress(b"(NP (NN rain))\n" * 50))
    damaged[12:30] = b"\xff" * 18
    (tmp_path / "bad.gz").write_bytes(damaged)
    with pytest.raises(InputError, match="cannot be read"):
        list(lines(tmp_path / "bad.gz"))

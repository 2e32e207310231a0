"""Small files that ask for a lot of memory or disk: a sentence, before they get it."""

import gzip
import tracemalloc
import zipfile

import numpy as np
import pytest
from helpers.full_disk import full_disk
from typer.testing import CliRunner

import pyrovice as pv
from pyrovice.cli import app
from pyrovice.data.readers.structure import LONGEST_LINE
from pyrovice.data.validation import LONGEST_NAME

pytestmark = pytest.mark.anywhere

ROWS = "cat dog car\ndog car bus\ncat bus dog\n"


@pytest.mark.parametrize("before", [0, 3, 200_000])
def test_a_line_without_end(tmp_path, before):
    path = tmp_path / "long.txt"
    with path.open("w") as file:
        file.write("0 1 2\n" * before)
        for _ in range(20):
            file.write("0 1 2 " * 100_000)
    tracemalloc.start()
    with pytest.raises(pv.DataError, match=f"line {before + 1} has more than|not in a known"):
        pv.Triplets.read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < path.stat().st_size * 2


def test_a_name_as_long_as_may_be(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text(f"a b {'n' * LONGEST_NAME}\na c b\nb c a\n" * 20)
    assert pv.Triplets.read(path).n_objects == 4


def test_a_line_as_long_as_may_be(tmp_path):
    path = tmp_path / "ids.txt"
    blanks = " " * (LONGEST_LINE - len("0 1 2\n"))
    path.write_text(f"0 1 2\n0{blanks} 1 2\n" + "3 1 2\n0 1 2\n" * 200_000)
    assert len(pv.Triplets.read(path)) == 400_002


def test_a_name_without_end(tmp_path):
    path = tmp_path / "names.txt"
    objects = [f"thing{i}" for i in range(3000)]
    rows = [f"{a} {b} {c}" for a, b, c in zip(objects, objects[1:], objects[2:], strict=False)]
    path.write_text("\n".join([*rows, f"thing0 thing1 {'x' * 200_000}"]))
    tracemalloc.start()
    with pytest.raises(pv.DataError, match=r"'x+'\.\.\. has 200,000 characters; expected at most"):
        pv.Triplets.read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # As an array of text these names would take 2.4 GB.
    assert most < 50_000_000
    with pytest.raises(pv.DataError, match="has 10,001 characters"):
        pv.Triplets([[0, 1, 2]], [0], names=["a", "b", "c" * (LONGEST_NAME + 1)])


def pack(path, content):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.txt", content)


@pytest.mark.parametrize("name", ["data.txt.gz", "data.zip"])
def test_a_packed_file_that_is_huge_inside(tmp_path, name):
    path = tmp_path / name
    pack(path, ROWS.encode() * 100_000)
    size = len(ROWS) * 100_000
    assert path.stat().st_size < size / 100
    with pytest.raises(pv.DataError, match=r"unpacks to more than 1,000,000 bytes.*unpacked_limit"):
        pv.Triplets.read(path, unpacked_limit=1_000_000)
    assert len(pv.Triplets.read(path, unpacked_limit=size)) == 300_000
    with pytest.raises(pv.PyroviceError, match="unpacked_limit=0; expected a whole number"):
        pv.Triplets.read(path, unpacked_limit=0)


def test_the_command_has_the_option_too(tmp_path):
    path, output = tmp_path / "data.txt.gz", tmp_path / "plain.csv"
    pack(path, ROWS.encode())
    arguments = ["convert", str(path), "-o", str(output), "--unpacked-limit"]
    assert "unpacks to more than 9 bytes" in CliRunner().invoke(app, [*arguments, "9"]).stderr
    assert CliRunner().invoke(app, [*arguments, "99"]).exit_code == 0


def test_no_room_to_unpack(tmp_path):
    path = tmp_path / "data.txt.gz"
    pack(path, ROWS.encode() * 10_000)
    with full_disk(1000), pytest.raises(pv.DataError, match=r"cannot be unpacked into .* TMPDIR"):
        pv.Triplets.read(path)


def test_more_than_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    path.write_text(ROWS)

    def full(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("pandas.read_csv", full)
    with pytest.raises(pv.DataError, match="does not fit into the memory of this machine"):
        pv.Triplets.read(path)


def test_an_array_that_claims_to_be_huge(tmp_path):
    path = tmp_path / "data.npy"
    with path.open("wb") as file:
        header = {"descr": "<i8", "fortran_order": False, "shape": (10**12, 3)}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(240))
    with pytest.raises(pv.DataError, match="is not a NumPy array of numbers"):
        pv.Triplets.read(path)

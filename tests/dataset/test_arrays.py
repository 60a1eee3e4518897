"""The store of decoded pictures: the same pixels, kept through kills, bounded, and never believed blindly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from studio.core.project import Preprocessing
from studio.dataset import arrays
from studio.dataset.arrays import DecodedCache, mean_std
from studio.dataset.inspect import inspect
from studio.dataset.inspection import Inspection
from studio.dataset.loading import Loaded, Pixels, Refused, load_working
from studio.dataset.scan import scan
from tests.dataset.making import classes, picture

SMALL = Preprocessing(height=6, width=8)


@pytest.fixture
def inspection(tmp_path: Path) -> Inspection:
    return inspect(scan(classes(tmp_path / "set", {"a": 5, "b": 4})), tmp_path / "cache")


def wanted(inspection: Inspection, places: list[int], preprocessing: Preprocessing = SMALL) -> Pixels:
    return np.stack([load_working(inspection.index.path(place), preprocessing) for place in places])


def no_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Path, background: str) -> Loaded:
        raise AssertionError(f"{path} was decoded again")

    monkeypatch.setattr(arrays, "load", load)


def test_that_the_pixels_are_those_of_the_loading_policy(inspection: Inspection, tmp_path: Path) -> None:
    for preprocessing in (SMALL, Preprocessing(height=5, width=5, channels="grey", fit="pad", background="black")):
        with DecodedCache(inspection, preprocessing, tmp_path / "cache") as cache:
            for _ in range(2):
                got = cache.get([3, 0, 8, 3])
                assert np.array_equal(got, wanted(inspection, [3, 0, 8, 3], preprocessing))
                assert got.shape[1:] == preprocessing.shape


def test_that_a_second_run_decodes_nothing(
    inspection: Inspection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = wanted(inspection, list(range(9)))
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        cache.get(range(9))
        assert cache.stored == 9
    no_decoding(monkeypatch)
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        assert np.array_equal(cache.get(range(9)), everything)


def test_that_torn_and_spoilt_entries_are_decoded_again(inspection: Inspection, tmp_path: Path) -> None:
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        cache.get(range(9))
        folder = cache.folder
    entries = (folder / "entries").read_bytes()
    (folder / "entries").write_bytes(entries[:-7])
    pixels = bytearray((folder / "pixels").read_bytes())
    pixels[10] ^= 255
    (folder / "pixels").write_bytes(pixels)
    for _ in range(2):
        with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
            assert np.array_equal(cache.get(range(9)), wanted(inspection, list(range(9))))
            assert cache.stored == 9


def test_that_a_shortened_pixel_file_is_not_read_beyond_its_end(inspection: Inspection, tmp_path: Path) -> None:
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        cache.get(range(9))
        folder = cache.folder
    (folder / "pixels").write_bytes((folder / "pixels").read_bytes()[:200])
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        assert np.array_equal(cache.get(range(9)), wanted(inspection, list(range(9))))


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_that_a_killed_run_leaves_a_store_that_is_right(inspection: Inspection, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from studio.core.project import Preprocessing\n"
        "from studio.dataset.arrays import DecodedCache\n"
        "from studio.dataset.inspect import inspect\n"
        "from studio.dataset.scan import scan\n"
        "here = Path(sys.argv[1])\n"
        "inspection = inspect(scan(here / 'set'), here / 'cache')\n"
        "cache = DecodedCache(inspection, Preprocessing(height=6, width=8), here / 'cache')\n"
        "cache.get([0, 1, 2, 3])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        assert cache.stored == 4
        assert np.array_equal(cache.get(range(9)), wanted(inspection, list(range(9))))
        assert cache.stored == 9


def test_that_the_budget_bounds_the_store_and_not_the_pictures(inspection: Inspection, tmp_path: Path) -> None:
    item_bytes = 3 * 6 * 8
    with DecodedCache(inspection, SMALL, tmp_path / "cache", budget_bytes=4 * item_bytes) as cache:
        assert np.array_equal(cache.get(range(9)), wanted(inspection, list(range(9))))
        assert cache.stored == 4
        assert (cache.folder / "pixels").stat().st_size == 4 * item_bytes


def test_that_old_stores_make_room(inspection: Inspection, tmp_path: Path) -> None:
    other = Preprocessing(height=64, width=64)
    with DecodedCache(inspection, other, tmp_path / "cache") as cache:
        cache.get(range(9))
        old = cache.folder
    with DecodedCache(inspection, SMALL, tmp_path / "cache", budget_bytes=10_000) as cache:
        cache.get(range(9))
        assert cache.stored == 9
    assert not old.exists()


def test_that_a_second_opener_reads_and_leaves_the_writing_to_the_first(inspection: Inspection, tmp_path: Path) -> None:
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as first:
        first.get([0, 1])
        with DecodedCache(inspection, SMALL, tmp_path / "cache") as second:
            assert second.stored == 2
            assert np.array_equal(second.get(range(9)), wanted(inspection, list(range(9))))
            assert second.stored == 2
        first.get([2])
        assert first.stored == 3


def test_that_a_changed_file_is_seen_and_not_stored_as_the_old_one(inspection: Inspection, tmp_path: Path) -> None:
    picture(inspection.index.path(0), 77)
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        assert np.array_equal(cache.get([0]), wanted(inspection, [0]))
        assert cache.stored == 0


def test_that_new_pictures_take_the_slots_of_gone_ones(inspection: Inspection, tmp_path: Path) -> None:
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        cache.get(range(9))
    for at in range(4):
        picture(tmp_path / "set" / "b" / f"{at}.png", 500 + at)
    changed = inspect(scan(tmp_path / "set"), tmp_path / "cache")
    with DecodedCache(changed, SMALL, tmp_path / "cache") as cache:
        assert cache.stored == 5
        assert np.array_equal(cache.get(range(9)), wanted(changed, list(range(9))))
        assert cache.stored == 9
        assert (cache.folder / "pixels").stat().st_size == 9 * 3 * 6 * 8
    with DecodedCache(changed, SMALL, tmp_path / "cache") as cache:
        assert np.array_equal(cache.get(range(9)), wanted(changed, list(range(9))))


def test_that_a_file_that_vanished_is_named(inspection: Inspection, tmp_path: Path) -> None:
    inspection.index.path(2).unlink()
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache, pytest.raises(Refused) as caught:
        cache.get([2])
    assert caught.value.problem.code == "picture_missing"


def test_that_a_cache_folder_that_cannot_be_used_only_costs_time(inspection: Inspection, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file where the folder should be")
    with DecodedCache(inspection, SMALL, tmp_path / "blocked") as cache:
        assert np.array_equal(cache.get([1]), wanted(inspection, [1]))
        assert cache.stored == 0


def test_that_mean_and_spread_are_those_of_the_inputs(inspection: Inspection, tmp_path: Path) -> None:
    with DecodedCache(inspection, SMALL, tmp_path / "cache") as cache:
        mean, std = mean_std(cache, range(9))
        scaled = wanted(inspection, list(range(9))) / 255
        assert np.allclose(mean, scaled.mean(axis=(0, 2, 3))) and np.allclose(std, scaled.std(axis=(0, 2, 3)))
        few, _ = mean_std(cache, range(9), sample=2)
        assert np.allclose(few, scaled[[0, 8]].mean(axis=(0, 2, 3)))
        with pytest.raises(ValueError, match="no pictures"):
            mean_std(cache, [])


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's account of a process's pages")
def test_that_the_store_does_not_count_as_the_memory_of_its_reader(
    inspection: Inspection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Preprocessing(height=256, width=256)

    def resident_bytes(folder: Path) -> int:
        lines = Path("/proc/self/smaps").read_text().splitlines()
        at = next(number for number, line in enumerate(lines) if line.endswith(str(folder / "pixels")))
        return next(int(line.split()[1]) * 1024 for line in lines[at:] if line.startswith("Rss:"))

    with DecodedCache(inspection, large, tmp_path / "cache") as cache:
        cache.get(range(9))
    with DecodedCache(inspection, large, tmp_path / "cache") as cache:
        everything = cache.get(range(9))
        assert resident_bytes(cache.folder) >= everything.nbytes
        monkeypatch.setattr(arrays, "_MOST_MAPPED_BYTES", 4 * everything[0].nbytes)
        for place in range(9):
            assert np.array_equal(cache.get([place])[0], everything[place])
        assert resident_bytes(cache.folder) <= 5 * everything[0].nbytes + 2**16

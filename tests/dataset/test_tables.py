"""Tables of labels as people and challenges write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.dataset.cells import decoded
from studio.dataset.scan import scan
from tests.dataset.test_layouts import codes, counts, splits, tree

PICTURES = [f"images/i{at}.jpg" for at in range(6)]
ROWS = [(f"i{at}", "cat" if at % 2 else "dog") for at in range(6)]
BOTH = {"cat": 3, "dog": 3}


def lines(rows: list[tuple[str, str]], delimiter: str = ",", end: str = "\n") -> str:
    return end.join(delimiter.join(row) for row in rows) + end


def with_table(root: Path, text: str | bytes, name: str = "labels.csv", pictures: list[str] = PICTURES) -> Path:
    tree(root, pictures)
    (root / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return root


@pytest.mark.parametrize(
    "text",
    [
        "id,label\n" + lines(ROWS),
        "filename,species\n" + lines([(f"{a}.jpg", b) for a, b in ROWS]),
        "path,category\n" + lines([(f"images/{a}.jpg", b) for a, b in ROWS]),
        "path,category\n" + lines([(f"/home/somebody/images/{a}.jpg", b) for a, b in ROWS]),
        "path,category\n" + lines([(f"C:\\data\\images\\{a}.jpg", b) for a, b in ROWS]),
        "url,category\n" + lines([(f"https://example.org/p/{a}.jpg?dl=1", b) for a, b in ROWS]),
        "file,label\n" + lines([(f"{a}.png", b) for a, b in ROWS]),
        "file,label\n" + lines([(f"{a.upper()}.JPG", b) for a, b in ROWS]),
        "label,file\n" + lines([(b, a) for a, b in ROWS]),
        lines(ROWS),
        "\ufeffid;label\r\n" + lines(ROWS, ";", "\r\n"),
        "id|label\r" + lines(ROWS, "|", "\r"),
        "id\tlabel\n" + lines(ROWS, "\t"),
        "id , label\n" + lines([(f"{a} ", f" {b}") for a, b in ROWS]),
        "# made by hand\nid,label\n" + lines(ROWS),
        "id,label\n" + lines(ROWS[:3]) + "i3,cat,a note\n" + lines(ROWS[4:]),
        ",image,label\n" + "".join(f"{at},{a},{b}\n" for at, (a, b) in enumerate(ROWS)),
        "image,cat,dog\n" + "".join(f"{a},{int(b == 'cat')},{int(b == 'dog')}\n" for a, b in ROWS),
        "image,age,dx,sex\n" + "".join(f"{a},{at},{b},{'fm'[at // 3]}\n" for at, (a, b) in enumerate(ROWS)),
        ("id,label\n" + lines(ROWS)).encode("utf-16"),
    ],
)
def test_that_a_table_gives_its_classes_however_it_is_written(text: str | bytes, tmp_path: Path) -> None:
    index = scan(with_table(tmp_path, text))
    assert index.reading.id == "csv:labels.csv"
    assert counts(index) == BOTH
    assert codes(index) == {"csv_labels"}


@pytest.mark.parametrize("name", ["LABELS.CSV", "images/labels.csv", "images/metadata.csv"])
def test_that_a_table_may_lie_anywhere(name: str, tmp_path: Path) -> None:
    assert counts(scan(with_table(tmp_path, "id,label\n" + lines(ROWS), name))) == BOTH


def test_that_a_list_of_labels_serves_where_there_is_no_table(tmp_path: Path) -> None:
    listed = lines([(f"{a}.jpg", b) for a, b in ROWS], " ")
    assert counts(scan(with_table(tmp_path, "file label\n" + listed, "labels.txt"))) == BOTH
    with_table(tmp_path, "id,label\n" + lines([(a, "x") for a, _ in ROWS]))
    assert scan(tmp_path).reading.id == "csv:labels.csv"


def test_that_missing_unlabelled_and_contradicted_pictures_are_named(tmp_path: Path) -> None:
    rows = [*ROWS[:5], ("lost", "cat"), ("i0", "cat")]
    index = scan(with_table(tmp_path, "id,label\n" + lines(rows)))
    assert counts(index) == {"cat": 2, "dog": 3}
    files = {problem.code: problem.files for problem in index.problems}
    assert files["csv_unlabelled"] == ("images/i5.jpg",)
    assert files["csv_conflicting_rows"] == ("images/i0.jpg",)
    assert "csv_missing_files" in files


def test_that_one_name_that_fits_two_pictures_fits_none(tmp_path: Path) -> None:
    pictures = ["one/1.jpg", "two/1.jpg", "one/2.jpg", "two/3.jpg"]
    index = scan(with_table(tmp_path, "id,label\n1,x\n2,y\n3,z\n", pictures=pictures), reading="csv:labels.csv")
    assert [picture.path for picture in index.pictures] == ["one/2.jpg", "two/3.jpg"]


def test_that_tables_named_like_splits_are_one_set(tmp_path: Path) -> None:
    with_table(tmp_path, "id,label\n" + lines(ROWS[:4]), "train.csv")
    (tmp_path / "test.csv").write_text("id,label\n" + lines(ROWS[4:]))
    index = scan(tmp_path)
    assert counts(index) == BOTH
    assert splits(index) == {"train": 4, "test": 2}
    assert codes(index) == {"csv_labels", "presplit"}


def test_that_a_table_follows_the_split_folders_of_its_pictures(tmp_path: Path) -> None:
    pictures = [*(f"train/i{at}.jpg" for at in range(4)), "test/i4.jpg", "test/i5.jpg"]
    assert splits(scan(with_table(tmp_path, "id,label\n" + lines(ROWS), pictures=pictures))) == {"train": 4, "test": 2}


def test_that_an_example_to_hand_in_is_not_taken_for_the_labels(tmp_path: Path) -> None:
    with_table(tmp_path, "id,label\n" + lines(ROWS[:2]), "train.csv")
    (tmp_path / "sample_submission.csv").write_text("id,label\n" + lines([(a, "cat") for a, _ in ROWS[2:]]))
    assert scan(tmp_path).reading.id == "csv:train.csv"


def test_that_parts_of_a_set_are_no_classes_beside_a_table(tmp_path: Path) -> None:
    pictures = [f"photos_part_{1 + at // 3}/i{at}.jpg" for at in range(6)]
    index = scan(with_table(tmp_path, "id,label\n" + lines(ROWS), pictures=pictures))
    assert counts(index) == BOTH


def test_that_folders_and_a_table_that_disagree_are_both_offered(tmp_path: Path) -> None:
    pictures = ["a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg"]
    index = scan(with_table(tmp_path, "id,label\n1,x\n2,y\n3,x\n4,y\n", pictures=pictures))
    assert index.reading.id == "folders"
    assert codes(index) == {"ambiguous_labels"}
    assert "csv:labels.csv" in {reading.id for reading in index.readings}
    with_table(tmp_path, "id,label\n1,x\n2,x\n3,y\n4,y\n")
    for name in PICTURES:
        (tmp_path / name).unlink()
    assert "ambiguous_labels" not in codes(scan(tmp_path))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("猫咪,小狗".encode("gbk"), "猫咪,小狗"),
        ("Bär,Äpfel".encode("cp1252"), "Bär,Äpfel"),
        ("кошка".encode(), "кошка"),
        ("naïve".encode("utf-16"), "naïve"),
    ],
)
def test_that_tables_in_old_encodings_are_understood(content: bytes, text: str) -> None:
    assert decoded(content) == text

"""Which folder names mean training, validation and test."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_ROLES = {
    "train": "train tr trn training trainset trainingset learn learning 训练 训练集 訓練 entrenamiento entrainement",
    "validation": "val valid validation validate validating vali dev eval evaluation valset validset validationset "
    "验证 验证集 校验集 驗證",
    "test": "test tst testing tests testset testingset holdout 测试 测试集 測試",
}
ROLE_OF = {word: role for role, words in _ROLES.items() for word in words.split()}
_FILLER_WORDS = "set data dataset images image imgs img pictures pics photos split samples folder dir"
_FILLER = frozenset(_FILLER_WORDS.split())
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _words(name: str) -> list[str]:
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name))
    return [word for word in _WORDS.findall(spaced.casefold()) if word not in _FILLER]


def role(name: str) -> str:
    """The split that a name like "Training", "val_set" or "test-images" stands for; "" for none."""
    words = _words(name)
    return ROLE_OF.get(words[0], "") if len(words) == 1 else ""


def roles(names: Sequence[str]) -> tuple[str, ...]:
    """The role of each of these sibling names, "" for none.

    Names that differ only in the word for the role also count: `seg_train` and `seg_test`, `flowers-train` and
    `flowers-val`. One such name alone does not: it may be a class.
    """
    plain = [role(name) for name in names]
    found = []
    for name in names:
        words = _words(name)
        places = [place for place, word in enumerate(words) if word in ROLE_OF]
        rest = tuple(word for place, word in enumerate(words) if places and place != places[0])
        found.append((ROLE_OF[words[places[0]]], rest) if len(places) == 1 and rest else None)
    rests = {entry[1] for entry in found if entry is not None}
    if any(plain) or len(rests) != 1 or len({entry[0] for entry in found if entry is not None}) < 2:
        return tuple(plain)
    return tuple(entry[0] if entry is not None else "" for entry in found)

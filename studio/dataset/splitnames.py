"""Which folder names mean training, validation and test."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_ROLES = {
    "train": "train tr trn training trainings trainset trainingset learn learning 训练 訓練 学習 학습 훈련 "
    "entrenamiento entraînement apprentissage treino treinamento addestramento trainingsdaten обучение обучающая",
    "validation": "val valid validation validate validating vali dev eval evaluation valset validset validationset cv "
    "验证 校验 评估 驗證 検証 評価 검증 validación validação validazione validierung валидация проверка",
    "test": "test tst testing tests testset testingset holdout heldout 测试 測試 テスト 테스트 시험 "
    "prueba pruebas teste testes testdaten тест тестовая",
}  # fmt: skip
_SUFFIXES = "sets set data images image imgs img pictures pics photos samples 集 集合 数据 数据集 图片"
_FILLER = frozenset(f"{_SUFFIXES} dataset split folder dir cross".split())
_ENDS = tuple(sorted(_SUFFIXES.split(), key=len, reverse=True))
# Two letters alone could be languages; all siblings together are splits.
_SHORT = {"tr": "train", "va": "validation", "vl": "validation", "te": "test", "ts": "test"}
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _plain(text: str) -> str:
    """Without accents, so that names compare however they were typed and whatever the disk made of them."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).casefold()


ROLE_OF = {_plain(word): role for role, words in _ROLES.items() for word in words.split()}
_PLAIN_ENDS = tuple(_plain(end) for end in _ENDS)


def _words(name: str) -> list[str]:
    """The words of a name that say something: "ImgsTrain_2" gives train and 2, "traindata" gives train."""
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name))
    return [_bare(word) for word in _WORDS.findall(_plain(spaced)) if word not in _FILLER]


def _bare(word: str) -> str:
    """`word` without what is glued to the word for a role: "trainset", "xtest"."""
    if word in ROLE_OF:
        return word
    for end in _PLAIN_ENDS:
        if word.endswith(end) and word[: -len(end)] in ROLE_OF:
            return word[: -len(end)]
    return word[1:] if word[:1] == "x" and word[1:] in ROLE_OF else word


def _telling(name: str) -> list[str]:
    return [word for word in _words(name) if not word.isdigit()]


def role(name: str) -> str:
    """The split that a name like "Training", "val_set", "2-test-images" or "train2017" stands for; "" for none."""
    words = _telling(name)
    return ROLE_OF.get(words[0], "") if len(words) == 1 else ""


def roles(names: Sequence[str]) -> tuple[str, ...]:
    """The role of each of these sibling names, "" for none.

    Names that differ only in the word for the role also count: `seg_train` and `seg_test`, `flowers-train` and
    `flowers-val`. One such name alone does not, as it may be a class, unless it gives what its siblings lack:
    `train-augmented` beside `val`.
    """
    short = [_SHORT.get(name.casefold(), "") for name in names]
    if len(names) > 1 and all(short) and "train" in short:
        return tuple(short)
    plain = [role(name) for name in names]
    within = [_role_within(name) for name in names]
    if any(plain):
        given = set(plain)
        lacking = [entry is not None and entry[0] not in given for entry in within]
        return tuple(
            entry[0] if use and entry is not None else own
            for own, entry, use in zip(plain, within, lacking, strict=True)
        )
    rests = {entry[1] for entry in within if entry is not None}
    if len(rests) != 1 or len({entry[0] for entry in within if entry is not None}) < 2:
        return tuple(plain)
    return tuple(entry[0] if entry is not None else "" for entry in within)


def _role_within(name: str) -> tuple[str, tuple[str, ...]] | None:
    """The one role that a name of several words mentions, and the other words."""
    words = _telling(name)
    places = [place for place, word in enumerate(words) if word in ROLE_OF]
    if len(places) != 1 or len(words) < 2:
        return None
    return ROLE_OF[words[places[0]]], tuple(word for place, word in enumerate(words) if place != places[0])

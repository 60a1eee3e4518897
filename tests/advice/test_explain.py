"""Realistic texts are explained with the right hint first and with the numbers that they hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.advice.explain import explain, nearest_topics
from studio.advice.hint import EditRemedy, Hint, StepRemedy
from studio.advice.live import hints_for
from studio.core.check import check
from studio.core.edits import SetPart
from studio.core.frozen import FrozenMap
from studio.core.project import Data, Project, Recipe
from studio.core.templates import default_network
from studio.core.text import set_language

PROJECT = Project(data=Data(folder="pets", classes=("cat", "dog", "owl")), network=default_network())

CUDA_TRACE = """\
Epoch 1/20:  12%|####      | 34/280 [00:21<02:35,  1.58it/s]
Traceback (most recent call last):
  File "/home/someone/train.py", line 88, in <module>
    loss.backward()
  File "/opt/env/lib/python3.11/site-packages/torch/_tensor.py", line 630, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 7.79 GiB of \
which 120.06 MiB is free. Including non-PyTorch memory, this process has 7.60 GiB memory in use. Of the allocated \
memory 5.20 GiB is allocated by PyTorch, and 2.10 GiB is reserved by PyTorch but unallocated. If reserved but \
unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.
"""

MAT_TRACE = """\
Traceback (most recent call last):
  File "net.py", line 31, in forward
    x = self.fc1(x)
  File "torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x12544 and 9216x128)
"""


def test_that_a_cuda_trace_is_explained_with_its_numbers_and_edits() -> None:
    project = replace(PROJECT, recipe=Recipe(batch_size=256))
    hint = explain(CUDA_TRACE, project=project)[0]
    assert hint.id == "cuda-oom"
    assert hint.values["asked_bytes"] == 512 << 20
    assert hint.matched_line_number == 7
    assert "asked 512 MiB, 120 MiB free of 7.8 GiB" in hint.evidence
    assert "batch 256, pictures of 64 x 64 px" in hint.evidence
    assert any("in pieces" in sentence for sentence in hint.evidence)
    edits = [remedy.edit for remedy in hint.remedies if isinstance(remedy, EditRemedy)]
    assert edits[0] == SetPart("recipe", "batch_size", 128)
    assert edits[0].apply(project).recipe.batch_size == 128


def test_that_without_a_project_an_edit_is_a_step() -> None:
    steps = [remedy.text for remedy in explain(CUDA_TRACE)[0].remedies if isinstance(remedy, StepRemedy)]
    assert steps[0] == "Use a smaller batch; half of it is a good start."
    beside = explain(CUDA_TRACE, project=replace(PROJECT, recipe=Recipe(batch_size=256)))[0].remedies
    assert not any(isinstance(remedy, StepRemedy) and "smaller batch" in remedy.text for remedy in beside)


def test_that_sizes_of_layers_are_advice_for_scripts_and_numbers() -> None:
    def told(hint: Hint) -> str:
        return " ".join(remedy.text for remedy in hint.remedies if isinstance(remedy, StepRemedy))

    assert "Set the layer's inputs (in_features) to 12544." in told(explain(MAT_TRACE)[0])
    blocks = tuple(block for block in PROJECT.network.blocks if block.kind != "flatten")
    project = replace(PROJECT, network=replace(PROJECT.network, blocks=blocks))
    problem = next(problem for problem in check(project).all_problems if problem.code == "block.needs_vector")
    (hint,) = hints_for(project, (problem,), None)
    assert isinstance(hint.remedies[0], EditRemedy)
    assert "in_features" not in told(hint)


def test_that_the_wording_of_older_releases_is_read_too() -> None:
    old = (
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 10.76 GiB total capacity; 9.80 GiB "
        "already allocated; 19.44 MiB free; 9.85 GiB reserved in total by PyTorch)"
    )
    hint = explain(old)[0]
    assert (hint.id, hint.values["gpu"], hint.values["free_bytes"]) == ("cuda-oom", 1, round(19.44 * 2**20))


def test_that_shapes_are_read_from_a_trace() -> None:
    hint = explain(MAT_TRACE, project=PROJECT)[0]
    assert hint.id == "mat1-mat2"
    assert hint.evidence[0] == "12544 values arrive, 9216 are expected"


def test_that_a_missing_library_is_not_taken_for_the_windows() -> None:
    text = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
    hints = explain(text)
    assert [hint.id for hint in hints] == ["cuda-lib-not-found"]
    assert hints[0].values["library"] == "libcudnn.so.9"


def test_that_a_measurement_confirms_an_old_driver() -> None:
    text = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your driver"
    machine = FrozenMap(torch_build="13.0", driver_cuda="11.4", driver_version="470.82.01", nvml="ok")
    with_facts, without = explain(text, facts=machine)[0], explain(text)[0]
    assert with_facts.id == without.id == "driver-too-old"
    assert (
        with_facts.evidence[1] == "the driver serves CUDA 11.4, the installed torch needs 13.0 (driver 580.0 or newer)"
    )
    assert with_facts.score > without.score


def test_that_one_error_is_found_in_the_middle_of_a_long_log() -> None:
    lines = [f"10:00:{n % 60:02d} INFO step {n} loss: {2 / (1 + n):.4f} finance nan_count=0" for n in range(20_000)]
    lines[9_000] = (
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    )
    hints = explain("\r\n".join(lines))
    assert [(hint.id, hint.matched_line_number) for hint in hints] == [("tensor-size-mismatch", 9_001)]


def test_that_the_cause_comes_before_the_loader_that_only_passes_it_on() -> None:
    text = (
        "ValueError: Caught UnidentifiedImageError in DataLoader worker process 0.\n"
        "Original Traceback (most recent call last):\n"
        "PIL.UnidentifiedImageError: cannot identify image file 'pets/cat/17.jpg'\n"
    )
    assert [hint.id for hint in explain(text)] == ["pil-unidentified", "worker-exception"]


def test_that_a_healthy_log_and_an_unknown_error_get_no_hint() -> None:
    assert explain("epoch 1 loss 0.31 accuracy 0.91\nfinished in 41 s, information saved") == ()
    assert explain("") == ()
    assert explain("FrobnicationError: the widget is upside down") == ()


def test_that_an_unknown_text_gets_the_nearest_topics() -> None:
    topics = nearest_topics("my dataloader workers crash, something about shared memory in docker")
    assert topics[0].id == "worker-shm"
    assert nearest_topics("FrobnicationError: the widget is upside down") == ()


def test_that_losses_printed_at_chance_are_noticed() -> None:
    lines = "\n".join(f"step {n} loss: 1.09{n % 10}1" for n in range(40))
    assert [hint.id for hint in explain(lines, project=PROJECT)] == ["loss-stuck-lnC"]
    assert [hint.id for hint in explain("training on 3 classes\n" + lines)] == ["loss-stuck-lnC"]
    assert explain(lines) == ()


def test_that_a_text_typed_off_a_screen_or_wrapped_is_recognised() -> None:
    typed = "RuntimeError: mat1 and mat2 shapes\n   cannot be  multiplied (2x50\nand 100x10)"
    assert explain(typed)[0].values["arrives"] == 50
    assert explain("AttributeError: ’Linear’ object has no attribute ‘save’")[0].id == "jit-save-module"


def test_that_colours_of_a_terminal_do_not_hide_an_error() -> None:
    assert explain("\x1b[31mIndexError\x1b[0m: Target \x1b[1m3\x1b[0m is out of bounds.")[0].values["label"] == 3


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_that_hints_speak_the_users_language(language: str) -> None:
    set_language(language)
    try:
        hint = explain(CUDA_TRACE, project=PROJECT)[0]
    finally:
        set_language("en")
    is_chinese = any("\u4e00" <= letter <= "\u9fff" for letter in hint.title)
    assert is_chinese == (language == "zh_CN")


def test_that_letters_that_grow_in_lower_case_do_not_shift_the_line() -> None:
    text = "\u0130\u0130\u0130\n" * 50 + "IndexError: Target 7 is out of bounds.\n"
    hint = explain(text)[0]
    assert (hint.matched_line_number, hint.values["label"]) == (51, 7)

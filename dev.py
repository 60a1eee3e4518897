"""Sets Lantern Studio up and runs it from a clone, with nothing but Python: `python3 dev.py setup|run|test|shots`."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

USAGE = """python3 dev.py setup         make .venv with the pinned dependencies (quick when nothing changed)
python3 dev.py run [...]     set up and open the window; without a display, train the sample in the terminal
                             (arguments go to studio: python3 dev.py run FOLDER_OF_PICTURES)
python3 dev.py test [...]    set up, check style, types and layers, run every test
                             (arguments go to pytest: python3 dev.py test tests/core -k history)
python3 dev.py shots [...]   set up, drive the real window and save pictures of it below shots/"""

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "set-up-complete"
LOCK = ROOT / "requirements.lock"
OLDEST, NEWEST = (3, 11), (3, 14)  # the Pythons for which everything in requirements.lock has wheels
LINUX = sys.platform.startswith("linux")
NEEDED_BYTES = 6_500_000_000 if LINUX else 2_000_000_000  # torch's wheels for Linux bring CUDA along

# What Qt's xcb and offscreen platforms load from the system, with the Debian package that has it; then the same set for
# other package managers, where naming what is there already does no harm.
LIBRARIES = """
libEGL.so.1=libegl1 libGL.so.1=libgl1 libX11-xcb.so.1=libx11-xcb1 libdbus-1.so.3=libdbus-1-3
libfontconfig.so.1=libfontconfig1 libglib-2.0.so.0=libglib2.0-0 libgssapi_krb5.so.2=libgssapi-krb5-2
libxkbcommon.so.0=libxkbcommon0 libxkbcommon-x11.so.0=libxkbcommon-x11-0 libxcb-cursor.so.0=libxcb-cursor0
libxcb-icccm.so.4=libxcb-icccm4 libxcb-image.so.0=libxcb-image0 libxcb-keysyms.so.1=libxcb-keysyms1
libxcb-randr.so.0=libxcb-randr0 libxcb-render-util.so.0=libxcb-render-util0 libxcb-shape.so.0=libxcb-shape0
libxcb-sync.so.1=libxcb-sync1 libxcb-xfixes.so.0=libxcb-xfixes0 libxcb-xkb.so.1=libxcb-xkb1"""
ELSEWHERE = {
    "dnf": "dnf install libglvnd-egl libglvnd-glx libX11-xcb libxcb dbus-libs fontconfig glib2 krb5-libs"
    " libxkbcommon-x11 xcb-util-cursor xcb-util-image xcb-util-keysyms xcb-util-renderutil xcb-util-wm"
    " dejavu-sans-fonts xorg-x11-server-Xvfb",
    "zypper": "zypper install libglvnd libX11-xcb1 libdbus-1-3 fontconfig libglib-2_0-0 krb5 libxkbcommon-x11-0"
    " libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0"
    " libxcb-sync1 libxcb-xfixes0 libxcb-xkb1 dejavu-fonts xorg-x11-server-Xvfb",
    "pacman": "pacman -S --needed libglvnd libx11 libxcb dbus fontconfig glib2 krb5 libxkbcommon-x11 xcb-util-cursor"
    " xcb-util-image xcb-util-keysyms xcb-util-renderutil xcb-util-wm ttf-dejavu xorg-server-xvfb",
}


class Trouble(Exception):
    """Something that stops us; the message says what it is and what to do about it."""


def say(text: str) -> None:
    print(f"dev.py: {text}", flush=True)


def call(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> int:
    """Run a command in the clone, wait for its end also after Ctrl+C, and return its exit code."""
    interrupted = False
    with subprocess.Popen([str(part) for part in command], cwd=ROOT, env=environment) as child:
        while child.returncode is None:
            try:
                child.wait()
            except KeyboardInterrupt:  # the terminal sent it to the child as well, which now tidies up
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def is_missing(library: str) -> bool:
    try:
        return not ctypes.CDLL(library)
    except OSError:
        return True


def prepare_system(window: bool, screen: bool) -> None:
    """On Linux, see to what pip cannot install: Qt's system libraries, a font and, for tests, a screen nobody sees.

    As root on Debian and its kin they are installed; elsewhere the command that does it is said, once for all of them.
    """
    pairs = (entry.split("=") for entry in LIBRARIES.split())
    needed = [package for library, package in pairs if window and is_missing(library)]
    if importlib.util.find_spec("ensurepip") is None and not PYTHON.exists():
        needed.append("python{}.{}-venv".format(*sys.version_info))
    folders = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local/share/fonts")
    has_font = any(path for folder in folders for path in folder.rglob("*.[to]t[fc]"))
    useful = ["fonts-dejavu-core"] if window and not has_font else []
    if screen and shutil.which("Xvfb") is None:
        useful.append("xvfb")
    names = needed + useful
    if not LINUX or not names:
        return
    manager = next((name for name in ("apt-get", *ELSEWHERE) if shutil.which(name)), "apt-get")
    command = ELSEWHERE.get(manager, "apt-get install -y --no-install-recommends " + " ".join(names))
    if manager == "apt-get" and shutil.which(manager) and os.geteuid() == 0:
        say(f"installing system packages: {' '.join(names)}")
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        call(["apt-get", "update", "-qq"], quiet)
        if call([*command.split(), "-qq"], quiet) != 0:
            raise Trouble("apt-get could not install them; its message above says why.")
    elif needed:
        raise Trouble(f"system packages are missing. Install them, then run this again:\n\n    sudo {command}\n")
    else:
        say(f"some system packages would be useful (a font, a hidden screen for tests):\n\n    sudo {command}\n")


def fingerprint() -> str:
    """Changes when the environment has to be made anew: other pins, another Python, a folder that was moved."""
    digest = hashlib.sha256(f"{sys.version} {ROOT}".encode())
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def pip(*arguments: str | Path) -> None:
    """Run pip; a download that breaks off is tried again, and pip keeps what it has fetched."""
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_DEFAULT_TIMEOUT": "60", "PIP_RETRIES": "8", **os.environ}
    watched = sys.stdout.isatty()  # someone who sees progress bars; a log has no use for them
    for pause_seconds in (5, 20, 0):
        if call([PYTHON, "-m", "pip", "install", *([] if watched else ["--quiet"]), *arguments], environment) == 0:
            return
        if pause_seconds:
            say(f"that did not work; trying again in {pause_seconds} seconds")
            time.sleep(pause_seconds)
    raise Trouble("pip could not install everything; its message above says why. Run this again to go on from here.")


def environment_fits() -> bool:
    """Whether .venv can be brought up to date: it works, is of this Python, and was not moved (its scripts name it)."""
    if not PYTHON.exists():
        return False
    made_so = (VENV / "pyvenv.cfg").read_text("utf-8")
    answer = subprocess.run(
        [PYTHON, "-c", "import sys, pip; print(sys.version)"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() == sys.version and (str(VENV) in made_so or "command = " not in made_so)


def prepare_environment() -> None:
    """Make .venv, or do nothing where it is complete: the stamp is written last, so an interruption is made good."""
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text("utf-8") == fingerprint():
        return
    STAMP.unlink(missing_ok=True)
    if not environment_fits():
        free_bytes = shutil.disk_usage(ROOT).free
        if free_bytes < NEEDED_BYTES:
            raise Trouble(f"{ROOT} needs {NEEDED_BYTES / 1e9:.1f} GB of free disk; {free_bytes / 1e9:.1f} GB are free.")
        say("making the environment in .venv")
        if call([sys.executable, "-m", "venv", "--clear", VENV]) != 0:
            raise Trouble(f"Python could not make a virtual environment in {VENV}; its message above says why.")
    say(f"installing the pinned dependencies of {LOCK.name} (the first time takes some minutes)")
    pip("--only-binary", ":all:", "--requirement", LOCK)
    pip("--no-deps", "--no-build-isolation", "--editable", ROOT)
    STAMP.write_text(fingerprint(), "utf-8")
    say("the environment is complete")


@contextmanager
def hidden_screen(platform: str) -> Iterator[dict[str, str]]:
    """The variables of a window that nobody sees: on a screen of Xvfb, or on Qt's own "offscreen" platform."""
    if platform == "offscreen":
        yield {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        return
    reading, writing = os.pipe()
    server = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1920x1200x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(server, pass_fds=[writing], stderr=subprocess.DEVNULL) as process:
        os.close(writing)
        try:
            number = os.read(reading, 16).decode().strip()  # empty when the server ended instead
            if not number:
                raise Trouble("Xvfb did not start. Try it by hand: Xvfb :99 -screen 0 1920x1200x24")
            kept = {key: value for key, value in os.environ.items() if key != "WAYLAND_DISPLAY"}
            yield {**kept, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        finally:
            os.close(reading)
            process.terminate()


def run(arguments: Sequence[str]) -> int:
    """The window; where there is no display, the same work in the terminal."""
    chosen = os.environ.get("QT_QPA_PLATFORM") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    headless = LINUX and not chosen
    prepare_system(window=not headless, screen=False)
    prepare_environment()
    if headless and (not arguments or Path(arguments[0]).exists()):
        say("there is no display here (DISPLAY and WAYLAND_DISPLAY are empty), so this trains in the terminal instead")
        arguments = ["train", *(arguments or ["--sample"])]
    return call([PYTHON, "-m", "studio", *arguments])


def test(arguments: Sequence[str]) -> int:
    """Everything that has to hold before a change is taken; stops at the first that fails.

    The tests draw without a screen, where the keyboard's focus obeys; the main job is then done once more in a window
    of an X server, as a person would see it.
    """
    checks: list[tuple[str, str, list[str | Path]]] = [
        ("style (ruff check)", "offscreen", [PYTHON, "-m", "ruff", "check"]),
        ("layout (ruff format)", "offscreen", [PYTHON, "-m", "ruff", "format", "--check"]),
        ("types (mypy)", "offscreen", [PYTHON, "-m", "mypy"]),
        ("layers (import-linter)", "offscreen", [PYTHON.with_name("lint-imports")]),
        ("tests (pytest)", "offscreen", [PYTHON, "-m", "pytest", *arguments]),
    ]
    if LINUX and shutil.which("Xvfb") and not arguments:
        checks.insert(-1, ("the main job under X", "xcb", [PYTHON, "-m", "pytest", "tests/e2e"]))
    start = time.monotonic()
    for name, platform, command in checks:
        say(name)
        with hidden_screen(platform) as environment:
            code = call(command, environment)
        if code != 0:
            say(f"FAILED at {name}, exit code {code}")
            return code
    say(f"all passed in {time.monotonic() - start:.0f} s: {', '.join(name for name, _, _ in checks)}")
    return 0


def shots(arguments: Sequence[str]) -> int:
    """Pictures of the real window, drawn by Qt alone and on an X server."""
    for platform in ("offscreen", "xcb") if shutil.which("Xvfb") else ("offscreen",):
        with hidden_screen(platform) as environment:
            code = call([PYTHON, "-m", "tests.e2e.shots", *arguments], environment)
        if code != 0:
            return code
    return 0


def main(verb: str = "help", *arguments: str) -> int:
    if verb not in ("setup", "run", "test", "shots"):
        print(USAGE)
        return 0 if verb in ("help", "--help", "-h") else 2
    try:
        if not OLDEST <= tuple(sys.version_info)[:2] <= NEWEST:
            wanted = "Python {}.{} to {}.{}".format(*OLDEST, *NEWEST)
            raise Trouble(
                f"this is Python {sys.version.split()[0]}; Lantern Studio needs {wanted}: python3.12 dev.py ..."
            )
        if verb == "run":
            return run(arguments)
        prepare_system(window=True, screen=verb != "setup")
        prepare_environment()
        return {"setup": lambda _: 0, "test": test, "shots": shots}[verb](arguments)
    except Trouble as trouble:
        say(str(trouble))
        return 1
    except KeyboardInterrupt:
        say("stopped")
        return 130


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

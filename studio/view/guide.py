"""The user guide and the words about the program, in windows of their own beside the main one."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from PySide6.QtCore import QSize, Qt, qVersion
from PySide6.QtGui import QTextCursor, QTextDocument, QTextOption
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from studio import __version__
from studio.core.files import resources_folder
from studio.core.text import tr
from studio.view.icons import program_icon

_DISTRIBUTION = "lantern-studio"
_SIGN_PX = 64
_PICTURE_PX = 740


def guide_text() -> str:
    """The README: the file of a checkout, else the copy in the installed package's description."""
    readme = resources_folder().parent / "README.md"
    if readme.is_file():
        return readme.read_text("utf-8")
    try:
        described = importlib.metadata.metadata(_DISTRIBUTION).get_payload()  # type: ignore[attr-defined]
    except importlib.metadata.PackageNotFoundError:
        return tr("The guide is missing from this installation.")
    return str(described)


class GuideDialog(QDialog):
    """The README as a page with links that open in the browser."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("guide")
        self.setWindowTitle(tr("User guide"))
        self.resize(820, 680)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.page = QTextBrowser()
        self.page.setOpenExternalLinks(True)
        self.page.setAccessibleName(tr("User guide"))
        self.page.setToolTip("")
        self.page.document().setDocumentMargin(24)
        self.page.setSearchPaths([str(Path(resources_folder().parent))])
        self.page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.page.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.page.setMarkdown(guide_text())
        fit_to_page(self.page.document())
        column.addWidget(self.page)
        close = QPushButton(tr("Close"))
        close.setObjectName("guide.close")
        close.setToolTip(tr("Close this window."))
        close.clicked.connect(self.close)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 10, 16, 12)
        foot.addStretch(1)
        foot.addWidget(close)
        column.addLayout(foot)


def fit_to_page(document: QTextDocument) -> None:
    """Nothing is wider than the page: long lines of code are broken, pictures are reduced."""
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        unbroken = block.blockFormat()
        unbroken.setNonBreakableLines(False)
        cursor.setBlockFormat(unbroken)
        part = block.begin()
        while not part.atEnd():
            fragment = part.fragment()
            image = fragment.charFormat().toImageFormat()
            if image.isValid():
                cursor.setPosition(fragment.position())
                cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
                image.setWidth(_PICTURE_PX)
                cursor.setCharFormat(image)
            part += 1
        block = block.next()


class AboutDialog(QDialog):
    """The version, the licence, and what the program is built on."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("about")
        self.setWindowTitle(tr("About Lantern Studio"))
        self.setMinimumWidth(460)
        row = QHBoxLayout()
        row.setSpacing(18)
        sign = QLabel()
        sign.setPixmap(program_icon().pixmap(QSize(_SIGN_PX, _SIGN_PX)))
        words = QVBoxLayout()
        words.setSpacing(6)
        title = QLabel(f"Lantern Studio {__version__}")
        title.setProperty("role", "title")
        words.addWidget(title)
        for text in (
            tr("Train image classifiers by pointing and clicking, and see where the memory goes."),
            tr("Free software under the Apache licence 2.0."),
            tr("Built on Qt {version} for Python (LGPL 3), PyTorch, pyqtgraph, Pillow and NumPy.", version=qVersion()),
        ):
            label = QLabel(text)
            label.setWordWrap(True)
            words.addWidget(label)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        close = QPushButton(tr("Close"))
        close.setToolTip(tr("Close this window."))
        close.clicked.connect(self.close)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 16)
        column.setSpacing(16)
        column.addLayout(row)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)

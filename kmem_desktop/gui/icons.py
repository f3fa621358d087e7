"""The icons: one family of SVGs, drawn in the colour of the text at the screen's density."""

from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from kmem_desktop.config import resource_path
from kmem_desktop.gui.theme import LIGHT


@cache
def _source(name: str) -> str:
    return resource_path(f"icons/{name}.svg").read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def icon_pixmap(name: str, color: str, size: int, ratio: float) -> QPixmap:
    """Return an icon as an image of `size` device-independent pixels.

    Args:
        name: The file's name without its ending.
        color: What stands for currentColor.
        size: The edge of the square.
        ratio: Device pixels for each of them.
    """
    source = _source(name).replace("currentColor", color)
    renderer = QSvgRenderer(QByteArray(source.encode()))
    pixmap = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def paint_icon(painter: QPainter, name: str, color: str, rect: QRectF) -> None:
    """Draw an icon into a square."""
    device = painter.device()
    # Scaled output (a print, a screenshot at another density) is asked of the painter itself.
    ratio = max(device.devicePixelRatioF(), painter.deviceTransform().m11())
    pixmap = icon_pixmap(name, color, round(rect.width()), ratio)
    painter.drawPixmap(QPointF(round(rect.x()), round(rect.y())), pixmap)


@cache
def many_sized_icon(name: str) -> QIcon:
    """Return an icon of its own colours in the sizes that desktops ask for."""
    icon = QIcon()
    for size in (16, 20, 22, 24, 32, 48, 64, 128, 256):
        icon.addPixmap(icon_pixmap(name, LIGHT.accent, size, 1.0))
    return icon

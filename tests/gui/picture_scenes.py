"""The picture of the graph, whole and around one entity, in several widths."""

from typing import TYPE_CHECKING

from kmem_desktop.gui.graph_picture.picture_page import PicturePage
from kmem_desktop.gui.main_window import MainWindow

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery


async def graph_pictures(gallery: "Gallery", window: MainWindow) -> None:
    """What is most connected, one entity as the centre, and little width."""
    window.show_page("picture")
    page = window.current_page
    assert isinstance(page, PicturePage)
    page.show_center(None)
    await gallery.both("picture", window)
    window.show_page("graph")
    window.open_entity_named("shopfront-worker")
    await gallery.settle()
    window.actions_of_window["picture"].trigger()
    await gallery.both("picture-around", window)
    for width, height in ((1024, 640), (800, 600)):
        window.resize(width, height)
        await gallery.take(f"picture-{width}", window)
    window.resize(1280, 800)
    window.show_page("search")

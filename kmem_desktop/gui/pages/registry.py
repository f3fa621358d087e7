"""Which pages there are, in the order of the rail; a new page is one file and one line here."""

from collections.abc import Callable
from dataclasses import dataclass

from kmem_desktop.gui.context import Context
from kmem_desktop.gui.graph_picture.picture_page import PicturePage
from kmem_desktop.gui.inbox.inbox_page import InboxPage
from kmem_desktop.gui.pages.activity_page import ActivityPage
from kmem_desktop.gui.pages.connections_page import ConnectionsPage
from kmem_desktop.gui.pages.import_page import ImportPage
from kmem_desktop.gui.pages.noun_pages import GraphPage, KnowledgePage
from kmem_desktop.gui.pages.page import Page
from kmem_desktop.gui.pages.retrieval_tests_page import RetrievalTestsPage
from kmem_desktop.gui.pages.search_page import SearchPage
from kmem_desktop.gui.pages.settings_page import SettingsPage
from kmem_desktop.gui.rules.rules_page import RulesPage
from kmem_desktop.gui.sessions.sessions_page import SessionsPage
from kmem_desktop.gui.settings.deleted_page import DeletedPage

THIS_COMPUTER = "This computer"


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page as the rail lists it.

    Attributes:
        name: What the program calls it.
        title: What people read.
        icon: The icon's name.
        make: Builds the page, when it is first shown.
        section: The heading above its group; empty for the first group.
        in_rail: Whether the rail lists it; other pages are gone to from elsewhere.
        under: Of a page that the rail does not list: the page it belongs to there.
    """

    name: str
    title: str
    icon: str
    make: Callable[[Context], Page]
    section: str = ""
    in_rail: bool = True
    under: str = ""


PAGES = (
    PageEntry("search", "Search", "search", SearchPage),
    PageEntry("inbox", "Inbox", "inbox", InboxPage),
    PageEntry("sessions", "Sessions", "sessions", SessionsPage),
    PageEntry("knowledge", "Knowledge", "bookmark", KnowledgePage),
    PageEntry("graph", "Graph", "graph", GraphPage),
    PageEntry("rules", "Rules", "rules", RulesPage),
    PageEntry("activity", "Activity", "activity", ActivityPage, THIS_COMPUTER),
    PageEntry("connections", "Connections", "plug", ConnectionsPage, THIS_COMPUTER),
    PageEntry("settings", "Settings", "settings", SettingsPage, THIS_COMPUTER),
    PageEntry(
        "picture", "Picture of the graph", "graph", PicturePage, in_rail=False, under="graph"
    ),
    PageEntry("import", "Import", "import", ImportPage, in_rail=False, under="settings"),
    PageEntry(
        "deleted", "Deleted conversations", "sessions", DeletedPage, in_rail=False, under="sessions"
    ),
    PageEntry(
        "tests", "Retrieval tests", "check", RetrievalTestsPage, in_rail=False, under="search"
    ),
)

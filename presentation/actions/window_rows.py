"""Rows of what is done anywhere in the window, in the order of the menus."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from presentation.study_words import KINDS as STUDY_KINDS
from presentation.study_words import TITLES as STUDY_TITLES
from shared.message import msg

ZOOMS = (80, 90, 100, 110, 125, 150, 175, 200)
"""Percent that can be chosen."""

_file = partial(Action, menu="file")
_export = partial(_file, submenu=msg("Export the circuit"))
_view = partial(Action, menu="view")
_circuit = partial(Action, menu="circuit")
_simulate = partial(Action, menu="simulate")
_help = partial(Action, menu="help")
_language = partial(_view, submenu=msg("Language"), group="language")
_theme = partial(_view, submenu=msg("Theme"), group="theme")
_studies = partial(_simulate, submenu=msg("Studies"), icon="chart-column")
_zoom = partial(_view, submenu=msg("Zoom"))

FILE: tuple[Action, ...] = (
    _file("openFolder", msg("Open folder…"), keys="Ctrl+O"),
    _file("newProject", msg("New project…"), keys="Ctrl+N"),
    _file("newCircuit", msg("New circuit…")),
    _file("openExample", msg("Open an example…"), letter="E"),
    _file("importFiles", msg("Import files of other programs…"), letter="I"),
    _export("export.ltspice", msg("For LTspice…")),
    _export("export.kicad", msg("For KiCad's simulator…")),
    _export("export.pyspice", msg("As a PySpice script…")),
    _file("save", msg("Save"), scope="editor", keys="Ctrl+S", begins_part=True),
    _file("saveAll", msg("Save all")),
    _file("closeFile", msg("Close file"), scope="editor", keys="Ctrl+W"),
    _file("editor.next_tab", msg("Next file"), scope="editor", keys="Ctrl+Tab"),
    _file("editor.previous_tab", msg("Previous file"), scope="editor", keys="Ctrl+Shift+Tab"),
    _file("settings", msg("Settings…"), keys="Ctrl+,", begins_part=True, icon="settings"),
    _file("closeProject", msg("Close project"), begins_part=True),
    _file("quit", msg("Quit"), keys="Ctrl+Q", letter="Q"),
)

VIEW: tuple[Action, ...] = (
    _view("anything", msg("Find anything"), keys="Ctrl+P", in_box=False),
    _view("commands", msg("Commands…"), keys="Ctrl+Shift+P F1", in_box=False),
    _view("symbols", msg("Nodes and elements…"), keys="Ctrl+Shift+O", icon="list-tree"),
    _view("searchProject", msg("Search in the project…"), keys="Ctrl+Shift+F", icon="search"),
    _view("pane.left", msg("Project pane"), keys="Ctrl+B", begins_part=True),
    _view("pane.bottom", msg("Bottom pane"), keys="Ctrl+J"),
    _view("pane.right", msg("Conversation pane"), keys="Ctrl+L"),
    _view("nextPane", msg("Next pane"), keys="F6"),
    _view("plotRoom", msg("Plot takes all the room"), keys="F11", icon="maximize-2"),
)
"""Behind them come the panels."""

LOOK: tuple[Action, ...] = (
    _language("language.en", msg("English"), begins_part=True),
    _language("language.zh", msg("Chinese (中文)")),
    _theme("theme.light", msg("Light theme")),
    _theme("theme.dark", msg("Dark theme")),
    _theme("theme.system", msg("System theme")),
    _view("contrast", msg("High contrast"), submenu=msg("Theme"), group="contrast"),
    _zoom("zoomIn", msg("Larger"), keys="Ctrl+= Ctrl++"),  # "+" has a key of its own on most keyboards
    _zoom("zoomOut", msg("Smaller"), keys="Ctrl+-"),
    _zoom("zoomReset", msg("Reset zoom"), keys="Ctrl+0"),
    *(
        _zoom(f"scale.{percent}", msg("Zoom {percent} %", percent=percent), group="scale")
        for percent in ZOOMS
    ),
)

CIRCUIT: tuple[Action, ...] = (
    _circuit("chooseMain", msg("Choose main circuit…")),
    _circuit("setMain", msg("Set current file as main circuit")),
    _circuit("importModels", msg("Import a model library…"), begins_part=True, icon="package"),
    _circuit("billOfMaterials", msg("Bill of materials…"), icon="table-2"),
    _circuit("designReport", msg("Design report…"), icon="file-text"),
    _circuit("acceptChanges", msg("Accept all changes"), begins_part=True),
)

SIMULATE: tuple[Action, ...] = (
    _simulate("run", msg("Run the current circuit"), keys="F5 Alt+R"),
    _simulate("runMain", msg("Run the main circuit"), keys="Ctrl+F5"),
    _simulate("pauseRun", msg("Pause or continue the run"), keys="Pause", icon="pause"),
    _simulate("stopRun", msg("Stop the simulation"), keys="Shift+F5", also="Esc"),
    _simulate("editor.add_analysis", msg("Add or edit an analysis…"), scope="editor", keys="Alt+A"),
    *(
        _studies(f"study.{kind}", STUDY_TITLES[kind], begins_part=not place)
        for place, kind in enumerate(STUDY_KINDS)
    ),
    _simulate("influence", msg("Influence on a goal in the margin"), begins_part=True, icon="gauge"),
    _simulate("influenceGoal", msg("Influence on the next goal")),
    _simulate("missedGoals", msg("Missed goals…"), begins_part=True, icon="target"),
    _simulate("sinceWhen", msg("Since when is a goal lost?"), icon="history"),
)

HELP: tuple[Action, ...] = (
    _help("guide", msg("User guide"), icon="book-open"),
    _help("tutorial", msg("A first hour"), icon="book-open"),
    _help("keys", msg("Keyboard shortcuts…")),
    _help("plot.keys", msg("Keys of the plot…"), scope="plot", keys="? F1"),
    _help("doctor", msg("Check system")),
    _help("about", msg("About Circuit Design AI"), begins_part=True),
)

WITHOUT_MENU: tuple[Action, ...] = (Action("openMenus", msg("Open the menus"), keys="F10", in_box=False),)

"""The servers whose tools the assistant may use: a table of them, and how one is added, tried and removed."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from domain.llm.tool_servers import ToolServer, clean_text, read_server
from presentation.server_words import STATES, notes_of
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import SpokenName, arrange, push_button, text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.setting import WrongSetting, to_plain

if TYPE_CHECKING:
    from application.tool_execution.server_tools import ShownServer, State, ToolServers

ServersChange = Callable[[dict[str, ToolServer]], dict[str, ToolServer]]

_ROWS = 4
"""Servers seen at once."""
_LONGEST_PLACE = 60
_COLORS: dict[State, str] = {
    "connected": "ok.text",
    "failed": "error.text",
    "not_connected": "text.secondary",
    "off": "text.tertiary",
}


class ServersPart(QWidget):
    """The table with its buttons, and what is wrong with the chosen server."""

    def __init__(
        self,
        services: WindowServices,
        servers: Callable[[], ToolServers],
        change: Callable[[ServersChange], Awaitable[None]],
    ) -> None:
        """`change` keeps other servers in the user's settings."""
        super().__init__()
        self._services, self._servers, self._change = services, servers, change
        self._shown: tuple[ShownServer, ...] = ()
        theme, say = services.theme.theme, services.language
        self.table = FigureTable(services, "toolServers", wide_column=1)
        SpokenName(services, self.table, msg("Tool servers"))
        self.table.setFixedHeight(self.table.wanted_height(_ROWS))
        self.note = text_label(name="serverNote", wraps=True, role="small")
        self.add = push_button(say(msg("Add…")), name="addServer", clicked=self._ask, small=True)
        self.turn = push_button(name="turnServer", clicked=lambda: self._start(self._turn()), small=True)
        self.remove = push_button(
            say(msg("Remove")), name="removeServer", clicked=lambda: self._start(self._remove()), small=True
        )
        self.connect_now = push_button(
            say(msg("Connect")),
            name="connectServers",
            clicked=lambda: self._start(self._connect()),
            small=True,
        )
        gap = theme.size("space.3")
        buttons = (self.add, self.turn, self.remove, 1, self.connect_now)
        row = arrange(QHBoxLayout(), *buttons, edges=0, gap=theme.size("space.2"))
        edges = (2 * gap, gap, gap, gap)
        arrange(QVBoxLayout(self), self.table, self.note, row, edges=edges, gap=theme.size("space.2"))
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._offer())
        self.look()

    def look(self) -> None:
        """Show what is set and connected now."""
        self._start(self._look())

    async def _look(self) -> None:
        servers = await asyncio.to_thread(self._servers)  # imported at its first use
        self._shown = servers.shown()
        say = self._services.language
        heads = [say(head) for head in (msg("Server"), msg("Command or address"), msg("State"), msg("Tools"))]
        rows = [
            [
                Cell(text=each.name, style="mono_small"),
                Cell(text=clean_text(each.server.place, _LONGEST_PLACE), style="mono_small"),
                Cell(text=say(STATES[each.state]), style="small", color=_COLORS[each.state]),
                Cell(text=str(len(each.tools)) if each.tools else "", style="small"),
            ]
            for each in self._shown
        ]
        columns = [Column(title=head, is_number=head == heads[-1]) for head in heads]
        self.table.show_rows(columns, rows)
        self._offer()

    def _chosen(self) -> ShownServer | None:
        index = self.table.currentIndex()
        row = index.row() if index.isValid() else 0
        return self._shown[row] if row < len(self._shown) else None

    def _offer(self) -> None:
        say, chosen = self._services.language, self._chosen()
        self.remove.setEnabled(chosen is not None)
        self.turn.setEnabled(chosen is not None)
        is_on = chosen is None or chosen.server.is_on
        self.turn.setText(say(msg("Turn off")) if is_on else say(msg("Turn on")))
        self.connect_now.setEnabled(any(each.server.is_on for each in self._shown))
        notes = [] if chosen is None else [say(note) for note in notes_of(chosen)]
        if chosen is not None and not notes and chosen.tools:
            notes = [", ".join(tool.name for tool in chosen.tools)]
        self.note.setText("\n".join(notes))
        self.note.setVisible(bool(notes))

    def _ask(self) -> None:
        dialog = AddServerDialog(self._services, tuple(each.name for each in self._shown), self.window())
        dialog.finished.connect(lambda _result: self._take(dialog))
        dialog.open()

    def _take(self, dialog: AddServerDialog) -> None:
        self.add.setFocus()
        if isinstance(dialog.chosen, tuple):
            name, server = dialog.chosen
            self._start(self._change(lambda kept: kept | {name: server}))

    async def _turn(self) -> None:
        if (chosen := self._chosen()) is not None:
            turned = replace(chosen.server, is_on=not chosen.server.is_on)
            await self._change(lambda kept: kept | {chosen.name: turned})

    async def _remove(self) -> None:
        if (chosen := self._chosen()) is not None:
            await self._change(
                lambda kept: {name: each for name, each in kept.items() if name != chosen.name}
            )

    async def _connect(self) -> None:
        self.connect_now.setEnabled(False)
        self.note.setText(self._services.language(msg("Connecting…")))
        self.note.show()
        await self._servers().connect(again=True)
        await self._look()

    def _start(self, work: Coroutine[Any, Any, None] | Awaitable[None]) -> None:
        self._services.start(_awaited(work), kind="tool servers", scope="settings")


async def _awaited(work: Awaitable[None]) -> None:
    await work


class AddServerDialog(SmallDialog):
    """Name, and command or address; what cannot be is said below while it is written."""

    def __init__(self, services: WindowServices, taken: tuple[str, ...], parent: QWidget | None) -> None:
        text = services.language(
            msg(
                "A server of the Model Context Protocol (MCP). Its command is started as your own program, "
                "with your rights; set up only what you trust."
            )
        )
        super().__init__(services, parent, "addServer", title=msg("Add a tool server"), text=text)
        self._taken = taken
        self.name = self._field("serverName", msg("Name"), "bench")
        self.place = self._field(
            "serverPlace", msg("Command or address"), "uvx bench-mcp · http://127.0.0.1:8000/mcp"
        )
        self.token = self._field(
            "serverToken", msg("Environment variable with the token, for an address"), "BENCH_TOKEN"
        )
        self.told = text_label(name="serverTold", wraps=True, role="small")
        self.add(self.told)
        self.add_button(msg("Cancel"), is_left=True)
        self.add_one = self.add_button(msg("Add"), kind="primary", act=self._close)
        self.add_one.setObjectName("addThisServer")
        self._judge()
        self.name.setFocus()

    def _field(self, name: str, title: Any, example: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(name)
        field.setPlaceholderText(example)
        field.setAccessibleName(self._services.language(title))
        field.textChanged.connect(lambda _text: self._judge())
        self.add(text_label(self._services.language(title), role="small"))
        self.add(field)
        return field

    def _server(self) -> ToolServer:
        """What is written there. Raises WrongSetting, ValueError."""
        place, token = self.place.text().strip(), self.token.text().strip()
        is_address = place.startswith(("http://", "https://"))
        server = (
            ToolServer(url=place, token_variable=token)
            if is_address
            else ToolServer(command=tuple(shlex.split(place)))
        )
        return read_server(self.name.text().strip(), to_plain(server))

    def _judge(self) -> None:
        told = None
        try:
            self._server()
        except WrongSetting as error:
            told = error.message
        except ValueError:  # an open quotation mark
            told = msg("The command has a quotation mark that is not closed")
        if told is None and self.name.text().strip() in self._taken:
            told = msg("There is a server of this name already")
        is_empty = not (self.name.text().strip() and self.place.text().strip())
        self.told.setText("" if told is None or is_empty else f"{self._services.language(told)}")
        self.add_one.setEnabled(told is None)

    def _close(self) -> None:
        if self.add_one.isEnabled():
            self._close_with((self.name.text().strip(), self._server()))

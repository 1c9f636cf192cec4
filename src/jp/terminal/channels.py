"""From descriptors, or from nothing for tests, to the channels of a Printer: capabilities, devices, filters, widths.

A destination and its capabilities are made together here and never replaced one without the other.
"""

from jp.terminal import system
from jp.terminal.capabilities import ChannelCaps, Format, resolve, smart_terminal
from jp.terminal.device import Device
from jp.terminal.escapes import Strip
from jp.terminal.sink import Buffer, FdSink, MemorySink
from jp.terminal.target import Target
from jp.terminal.tty import is_pipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jp.terminal.tty import Tty

NONE = ChannelCaps(False, False)


class Channels:
    """The three channels. `columns` asks a terminal for its width; `may_draw` is asked before each status line."""

    __slots__ = ("buffers", "caps", "columns", "devices", "environ", "format", "may_draw", "transcript")

    def __init__(
        self,
        format_: Format,
        caps: "Mapping[Target, ChannelCaps]",
        devices: "list[Device]",
        environ: "Mapping[str, str]",
    ) -> None:
        self.format = format_
        self.caps = caps
        self.devices = devices
        self.environ = environ
        self.columns: Mapping[Target, Callable[[], int | None]] = {}
        self.may_draw: Callable[[], bool] = lambda: True
        self.buffers = {target: Buffer() for target in Target}
        self.transcript = Buffer()

    def width(self, target: Target) -> int | None:
        """Columns of a channel: its terminal's, else those that `COLUMNS` declares, else None."""
        ask = self.columns.get(target)
        found = ask() if ask is not None else None
        if found is None:
            declared = self.environ.get("COLUMNS", "")
            if declared.isascii() and declared.isdigit() and len(declared) < 6:
                found = int(declared) or None
        return found


def of_process(format_: Format, environ: "Mapping[str, str]", tty: "Tty | None") -> Channels:
    """Descriptors 1 and 2, and the controlling terminal that was probed."""
    out_tty, err_tty = system.is_terminal(1), system.is_terminal(2)
    out_caps, err_caps = resolve(format_, out_tty=out_tty, err_tty=err_tty, environ=environ)
    fds = {Target.OUT: 1, Target.ERR: 2}
    terminals = {Target.OUT: out_tty, Target.ERR: err_tty}
    caps = {Target.OUT: out_caps, Target.ERR: err_caps, Target.TTY: NONE}
    if tty is not None:
        smart = smart_terminal(environ)
        fds[Target.TTY], terminals[Target.TTY] = tty.out_fd, True
        caps[Target.TTY] = ChannelCaps(smart, smart)
    groups: dict[object, dict[Target, int]] = {}
    for target, fd in fds.items():
        groups.setdefault(_place(fd, terminals[target]), {})[target] = fd
    devices = [
        Device(FdSink(group, terminal=all(terminals[target] for target in group)), tuple(group), _filters(caps))
        for group in groups.values()
    ]
    for device in devices:
        device.shared = Target.TTY in device.targets and Target.OUT not in device.targets and is_pipe(1)
    channels = Channels(format_, caps, devices, environ)
    channels.columns = {target: _width_of(fd) for target, fd in fds.items() if terminals[target]}
    asked = tty.asked_on if tty is not None else lambda: False
    channels.may_draw = lambda: system.foreground(2) is not False and not asked()
    return channels


def of_memory(
    format_: Format, caps: "Mapping[Target, ChannelCaps]", environ: "Mapping[str, str]", *, tty: bool
) -> Channels:
    """Buffers; addressable channels are one terminal, to which the prompt channel belongs when `tty` is true."""
    channels = Channels(format_, caps, [], environ)
    targets = [target for target in Target if tty or target is not Target.TTY]
    screen = tuple(target for target in targets if caps[target].addressable)
    groups = [(target,) for target in targets if target not in screen] + ([screen] if screen else [])
    for group in groups:
        sink = MemorySink(channels.buffers, terminal=group is screen, order=channels.transcript)
        channels.devices.append(Device(sink, group, _filters(caps)))
    return channels


def _place(fd: int, terminal: bool) -> object:
    """Equal for descriptors that are one device."""
    if terminal and system.controls(fd):
        return "the controlling terminal"  # /dev/tty is another inode than the terminal it leads to
    return system.identity(fd) or ("closed", fd)


def _width_of(fd: int) -> "Callable[[], int | None]":
    return lambda: (system.size(fd) or (None, None))[0]


def _filters(caps: "Mapping[Target, ChannelCaps]") -> "dict[Target, Strip]":
    """What each channel loses on its way: escapes it cannot carry, and on stderr repaints it cannot act on."""
    filters = {}
    if not caps[Target.OUT].escapes:
        filters[Target.OUT] = Strip()
    if not caps[Target.ERR].can_repaint:
        filters[Target.ERR] = Strip(keep_style=caps[Target.ERR].escapes, drop_returns=True)
    if not caps[Target.TTY].escapes:
        filters[Target.TTY] = Strip()
    return filters

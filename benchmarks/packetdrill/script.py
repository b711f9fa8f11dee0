"""The language of packetdrill's scripts: text to events.

Source: packetdrill's grammar (gtests/net/packetdrill/parser.y, lexer.l). What is left out of it are packets other than
TCP's (ICMP, UDP, GRE, MPLS, PSP): a script with one of these is refused with its line.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


class ScriptError(Exception):
    """A script that is not understood.

    Parameters
    ----------
    line : int
        Where, from 1.
    why : str
        One clause.
    """

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line, self.why = line, why


class Word(str):
    """A bare word of a system call: a symbol, an option, a flag."""

    __slots__ = ()


ELLIPSIS = Word("...")


@dataclass(frozen=True)
class When:
    """Time of an event: ``start_us``, or a range up to ``end_us``; relative to the event before, or ``any`` time."""

    kind: Literal["absolute", "relative", "any"]
    start_us: int = 0
    end_us: int | None = None


@dataclass(frozen=True)
class Option:
    """A TCP option: its word in the language and what follows it."""

    name: str
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Packet:
    """A TCP segment that is injected (``inbound``) or expected.

    Numbers are those of the script: relative to the initial ones. ``ace`` is AccECN's counter where the script gives
    it in place of the flags. ``window`` None: not given. ``options`` None: not checked (``<...>``). ``ecn`` is one of
    noecn, ect0, ect1, ect01, ce, or None where nothing is said.
    """

    inbound: bool
    flags: str
    ace: int | None
    seq: int
    length: int
    ack: int | None
    window: int | None
    options: tuple[Option, ...] | None
    ecn: str | None = None

    @property
    def end(self) -> int:
        """The number after the payload; SYN and FIN not counted."""
        return self.seq + self.length

    def option(self, name: str) -> tuple[Any, ...] | None:
        """Values of the first option of that name; None if there is none."""
        return next((option.values for option in self.options or () if option.name == name), None)


@dataclass(frozen=True)
class Call:
    """A system call with its result, the name of its error, and, if it blocks, when it returns."""

    name: str
    arguments: tuple[Any, ...]
    result: Any
    error: str | None
    end_us: int | None


@dataclass(frozen=True)
class Command:
    """A command of the shell."""

    text: str


@dataclass(frozen=True)
class Code:
    """Python over ``tcpi_*``."""

    text: str


Action = Packet | Call | Command | Code


@dataclass(frozen=True)
class Event:
    """What happens when, and in which line."""

    line: int
    when: When
    action: Action


@dataclass(frozen=True)
class Script:
    """A whole script. ``set_up`` and ``clean_up`` are commands without a time, before and after the events."""

    options: dict[str, str]
    set_up: Command | None
    events: tuple[Event, ...]
    clean_up: Command | None = None


@dataclass
class Cursor:
    """A place in the text."""

    text: str
    defines: dict[str, str] = field(default_factory=dict)
    at: int = 0

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def error(self, why: str) -> ScriptError:
        return ScriptError(self.line, why)

    def skip(self) -> None:
        """Goes past blanks and comments."""
        self.at = BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The pattern, if it stands here after blanks."""
        self.skip()
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def want(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self.take(pattern)
        if not found:
            rest = self.text[self.at : self.at + 30].split("\n")[0]
            raise self.error(f"{what} expected before '{rest}'")
        return found

    def has(self, mark: str) -> bool:
        """Takes the mark if it stands here."""
        self.skip()
        here = self.text.startswith(mark, self.at)
        self.at += len(mark) if here else 0
        return here


BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
OPTION = re.compile(r"--(\w+)(?:=(\S+))?")
SECONDS = r"\d*\.\d+|\d+"
TIME = re.compile(rf"(\*)|(\+)?({SECONDS})(?:\s*~\s*(\+)?({SECONDS}))?")
END = re.compile(rf"\.\.\.\s*({SECONDS})")
COMMAND = re.compile(r"`((?:\\.|[^`])*)`", re.DOTALL)
CODE = re.compile(r"%\{((?:[^}]|\}[^%])*)\}%", re.DOTALL)
DIRECTION = re.compile(r"[<>]")
IP = re.compile(r"[\[(]\s*([^\])]*?)\s*[\])]")
FLAGS = re.compile(r"(?:(\d+)\s*>\s*(\d+)\s+)?([A-Za-z]*)(\d?)(\.\d?|-)?(?=\s)")
NUMBERS = re.compile(r"(\d+)\s*:\s*(\d+)\s*\(\s*(\d+)\s*\)")
FIELD = re.compile(r"(ack|win|urg)\s+(\d+)")
OPTIONS = re.compile(r"<([^>]*)>")
NAME = re.compile(r"[A-Za-z_]\w*")
NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?\d*\.\d+|-?\d+")
STRING = re.compile(r'"((?:\\.|[^"])*)"')
ECN = ("noecn", "ect0", "ect1", "ect01", "ce")
KNOWN_FLAGS = "SFRPEWAU"


def read(path: Path, defines: dict[str, str] | None = None) -> Script:
    """The script in a file; see `parse`."""
    return parse(path.read_text(encoding="utf-8"), defines)


def parse(text: str, defines: dict[str, str] | None = None) -> Script:
    r"""The events of a script.

    Parameters
    ----------
    text : str
        The script.
    defines : dict, optional
        Symbols with their values, as with ``-D``.

    Returns
    -------
    Script

    Raises
    ------
    ScriptError
        With the line of the first thing that is not understood.

    Examples
    --------
    >>> script = parse("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+.1 < S 0:0(0) win 99 <mss 1000,nop>")
    >>> script.events[0].action.name, script.events[1].when, script.events[1].action.options[0]
    ('socket', When(kind='relative', start_us=100000, end_us=None), Option(name='mss', values=(1000,)))
    """
    cursor = Cursor(text, dict(defines or {}))
    options: dict[str, str] = {}
    while found := cursor.take(OPTION):
        name, value = found[1], found[2] or ""
        if name == "define":
            symbol, _, meaning = value.partition("=")
            cursor.defines[symbol] = meaning
        else:
            options[name] = value
    set_up = command(cursor)
    events = []
    cursor.skip()
    while cursor.at < len(text) and text[cursor.at] != "`":
        events.append(event(cursor))
        cursor.skip()
    clean_up = command(cursor)
    cursor.skip()
    if cursor.at < len(text):
        raise cursor.error("text after the last command")
    return Script(options, set_up, tuple(events), clean_up)


def command(cursor: Cursor) -> Command | None:
    found = cursor.take(COMMAND)
    return Command(found[1]) if found else None


def microseconds(text: str) -> int:
    return round(float(text) * 1e6)


def event(cursor: Cursor) -> Event:
    found = cursor.want(TIME, "a time")
    # The line of the time, as in packetdrill.
    line = cursor.line
    if found[1]:
        when = When("any")
    else:
        kind: Literal["absolute", "relative"] = "relative" if found[2] else "absolute"
        when = When(kind, microseconds(found[3]), microseconds(found[5]) if found[5] else None)
    if direction := cursor.take(DIRECTION):
        return Event(line, when, packet(cursor, direction[0] == "<"))
    if told := command(cursor):
        return Event(line, when, told)
    if code := cursor.take(CODE):
        return Event(line, when, Code(code[1].strip(" \t")))
    return Event(line, when, call(cursor))


def packet(cursor: Cursor, inbound: bool) -> Packet:
    ip = cursor.take(IP)
    ecn = next((word for word in ECN if ip and word in ip[1].split(",")), None)
    if ip and ecn is None and not ip[1].startswith("tos"):
        raise cursor.error(f"[{ip[1]}] is not known")
    flags = cursor.want(FLAGS, "flags of TCP")
    if set(flags[3]) - set(KNOWN_FLAGS):
        raise cursor.error(f"a packet of {flags[3]} is not TCP")
    acknowledges = (flags[5] or "").startswith(".")
    # AccECN's counter stands before or after the dot.
    ace = flags[4] + (flags[5] or "").strip(".-")
    numbers = cursor.want(NUMBERS, "sequence numbers")
    fields = {}
    while found := cursor.take(FIELD):
        fields[found[1]] = int(found[2])
    written = cursor.take(OPTIONS)
    options: tuple[Option, ...] | None = ()
    if written:
        unchecked = written[1].strip() == "..."
        options = None if unchecked else tuple(option(cursor, part.split()) for part in written[1].split(","))
    return Packet(
        inbound=inbound,
        flags=flags[3] + ("." if acknowledges else ""),
        ace=int(ace) if ace else None,
        seq=int(numbers[1]),
        length=int(numbers[3]),
        ack=fields.get("ack"),
        window=fields.get("win"),
        options=options,
        ecn=ecn,
    )


def option(cursor: Cursor, words: list[str]) -> Option:
    """``["TS", "val", "1", "ecr", "2"]`` as an option."""
    name, *rest = words
    rest = [cursor.defines.get(word, word) for word in rest]
    match name:
        case "nop" | "eol" | "sackOK":
            return Option(name)
        case "mss" | "wscale":
            return Option(name, (int(rest[0]),))
        case "TS":
            return Option(name, (int(rest[1]), int(rest[3])))
        case "sack":
            return Option(name, tuple((int(left), int(right)) for left, right in (block.split(":") for block in rest)))
        case "ECN":
            return Option(name, tuple((rest[k], int(rest[k + 1])) for k in range(0, len(rest), 2)))
        case "FO" | "FOEXP" | "md5":
            return Option(name, tuple(rest))
    raise cursor.error(f"a TCP option {name} is not known")


def call(cursor: Cursor) -> Call:
    end = cursor.take(END)
    name = cursor.want(NAME, "an action")[0]
    if not cursor.has("("):
        raise cursor.error(f"'{name}' is no action")
    arguments = listed(cursor, ")")
    if not cursor.has("="):
        raise cursor.error(f"the result of {name} is missing")
    result = expression(cursor)
    error = None
    if found := cursor.take(re.compile(r"(E[A-Z0-9]+)\s*\([^)]*\)")):
        error = found[1]
    else:
        cursor.take(re.compile(r"\((?:\w+\s*)+\)"))
    return Call(name, tuple(arguments), result, error, microseconds(end[1]) if end else None)


def listed(cursor: Cursor, close: str) -> list[Any]:
    """Expressions with commas between them, up to the closing mark."""
    found: list[Any] = []
    while not cursor.has(close):
        if found and not cursor.has(","):
            raise cursor.error(f"',' or '{close}' expected")
        found.append(expression(cursor))
    return found


def expression(cursor: Cursor) -> Any:
    """A value of a system call: number, word, text, list, ``{name=value}`` as a dict, ``a|b`` as a tuple."""
    value = term(cursor)
    terms = [value]
    while cursor.has("|"):
        terms.append(term(cursor))
    return value if len(terms) == 1 else tuple(terms)


def term(cursor: Cursor) -> Any:
    if cursor.has("..."):
        return ELLIPSIS
    if cursor.has("["):
        return listed(cursor, "]")
    if cursor.has("{"):
        return structure(cursor)
    if found := cursor.take(NUMBER):
        return float(found[0]) if "." in found[0] else int(found[0], 0)
    if found := cursor.take(STRING):
        text = found[1]
        while found := cursor.take(STRING):
            text += found[1]
        cursor.has("...")
        return text
    word = cursor.want(NAME, "a value")[0]
    word = cursor.defines.get(word, word)
    if cursor.has("("):
        return (Word(word), *listed(cursor, ")"))
    return Word(word)


def structure(cursor: Cursor) -> dict[str, Any] | list[Any]:
    """``{onoff=1, linger=0}`` as a dict, ``{..., 5}`` as a list."""
    named: dict[str, Any] = {}
    plain: list[Any] = []
    while not cursor.has("}"):
        if (named or plain) and not cursor.has(","):
            raise cursor.error("',' or '}' expected")
        value = expression(cursor)
        if cursor.has("="):
            named[value[0] if isinstance(value, tuple) else value] = expression(cursor)
        else:
            plain.append(value)
    return named or plain

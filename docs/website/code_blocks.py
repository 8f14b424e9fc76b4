"""A block of code as the site shows it: commands apart from what they print, and some colours."""

from __future__ import annotations

from html import escape

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, String, _TokenType
from pygments.util import ClassNotFound

CONSOLE = "console"
PLAIN = ("text", "pycon", "bat", "sh", "")
_COLOURS = ((Comment, "comment"), (Keyword, "keyword"), (String, "string"), (Name.Tag, "key"))


def code_block(text: str, language: str, label: str) -> str:
    """The block, with a label for who cannot see where it is."""
    shown = _console(text) if language == CONSOLE else _coloured(text, language)
    return f'<pre aria-label="{escape(label)}"><code>{shown}</code></pre>'


def commands_of(text: str) -> list[str]:
    """The commands of a console block, each on a line.

    >>> commands_of("$ attncli compute \\\\\\n> a.yaml\\n1\\n")
    ['attncli compute a.yaml']
    """
    commands: list[str] = []
    goes_on = False
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:].removesuffix("\\"))
        elif goes_on:
            commands[-1] += line[2:].removesuffix("\\")
        goes_on = line.endswith("\\")
    return commands


def _console(text: str) -> str:
    shown = []
    is_command = False
    for line in text.splitlines():
        starts = line.startswith("$ ")
        if starts or (is_command and line.startswith(">")):
            is_command = True
            prompt, typed = line[:2], line[2:]
            line = f'<span class="prompt">{escape(prompt)}</span><b>{escape(typed)}</b>'
        else:
            is_command = False
            line = escape(line)
        shown.append(line)
    return "\n".join(shown)


def _coloured(text: str, language: str) -> str:
    if language in PLAIN:
        return escape(text.rstrip("\n"))
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(text.rstrip("\n"))
    shown = [_word(kind, word) for kind, word in lexer.get_tokens(text)]
    return "".join(shown).rstrip("\n")


def _word(kind: _TokenType, word: str) -> str:
    for parent, name in _COLOURS:
        if kind in parent:
            return f'<span class="{name}">{escape(word)}</span>'
    return escape(word)

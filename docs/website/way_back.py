"""A live page knows nothing of the site: a link above its title leads back."""

from __future__ import annotations

from website.places import link

_HEADER = "<header>\n"


def with_way_back(page: str, address: str, target: str, said: str) -> str:
    """The page, which stands at this address, with a link to another one of the site."""
    back = f'<p><a href="{link(target, address)}">← {said}</a></p>\n'
    return page.replace(_HEADER, _HEADER + back, 1)

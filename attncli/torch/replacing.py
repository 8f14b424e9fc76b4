"""A method of a class, or a function of a module, of somebody else's, replaced for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import Any

Method = Callable[..., Any]


@contextmanager
def replaced(
    owner: type | ModuleType, name: str, wrapper: Callable[[Method], Method]
) -> Iterator[None]:
    """While this runs, a method of a class, or a function of a module, is what `wrapper` makes of
    it.

    If somebody else has replaced it meanwhile, theirs stays, and goes on to call this one, which
    then does no more than the method did before.
    """
    original = getattr(owner, name)
    is_own = name in vars(owner)
    wrapped = wrapper(original)
    is_over = False

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if is_over else wrapped(*args, **kwargs)

    setattr(owner, name, method)
    try:
        yield
    finally:
        is_over = True
        if getattr(owner, name) is method:
            if is_own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

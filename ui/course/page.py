"""What the registry says of one page."""

from __future__ import annotations

from dataclasses import dataclass

from ui.parameters import Parameter


@dataclass(frozen=True)
class Page:
    """A page of the course.

    `stem` names pages/<stem>.py, assets/content/<lang>/<stem>.md, its tests and its URL path.
    `shows` are dotted names of the core functions whose source the page displays.
    `twins` are dotted names in core of the same computation in NumPy, forward and backward.
    `predictions` are names of the questions that a reader may answer before a control moves.
    `needs` are stems of pages to know first; `sources` are keys of assets/content/sources.toml.
    """

    stem: str
    parameters: tuple[Parameter, ...] = ()
    shows: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()
    predictions: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def parameter(self, name: str) -> Parameter:
        """The declaration of one parameter. Raises KeyError for a name that was not declared."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(f"{self.stem} has no parameter {name!r}")

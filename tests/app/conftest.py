"""What only costs time where no browser looks on is left out: 0.25 s to open a page become 0.05 s."""

import functools

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def no_waiting():
    with pytest.MonkeyPatch.context() as patch:
        # Streamlit reads the metadata of every installed package for each new session.
        scan = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        # The pauses in which a browser would draw.
        patch.setattr("ui.frame.page.AHEAD", 0.0)
        patch.setattr("ui.frame.page.AHEAD_AT_FIRST", 0.0)
        yield

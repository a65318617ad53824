"""What every page has. A page begins with `page = open_page("stem")` and ends with `page.close()`."""

from ui.frame.door import open_page, run_app

__all__ = ["open_page", "run_app"]

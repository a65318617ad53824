"""What every page has. A page begins with `page = open_page("stem")` and ends with `page.close()`."""

from ui.frame.door import open_page, run_app
from ui.frame.picture import Picture

__all__ = ["Picture", "open_page", "run_app"]

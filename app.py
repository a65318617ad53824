"""The door of the app: process tuning, then language, navigation and the page. The pages are in pages/."""

from ui.frame import run_app
from ui.tuning import tune_process

tune_process()
run_app()

import shutil

import pytest
from helpers import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all pages."""
    folder = tmp_path_factory.mktemp("profile")
    opened = chromium.Chromium(folder)
    yield opened
    opened.close()
    shutil.rmtree(folder, ignore_errors=True)

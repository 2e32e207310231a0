"""The command line where its script is not on the path: ``python -m pyrovice``."""

from pyrovice.cli import app

if __name__ == "__main__":
    app(prog_name="pyrovice")

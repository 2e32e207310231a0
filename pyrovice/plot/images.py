"""Pictures of objects, found by their names."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from pyrovice.errors import DataError

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
# Pixels along the longer side: 300 dots per inch for the largest that a figure shows.
PIXELS = 400
# In the page, where two thousand pictures share a file of less than ten megabytes.
SMALL_QUALITY = 65


class Images:
    """A folder of pictures: ``cat.jpg``, or ``cat/`` with any picture in it."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        if not folder.is_dir():
            raise FileNotFoundError(f"images={str(folder)!r} is not a folder.")
        self._files: dict[str, Path] = {}
        for entry in sorted(folder.iterdir()):
            if entry.is_dir():
                within = [file for file in sorted(entry.iterdir()) if _is_picture(file)]
                if within:
                    self._files.setdefault(_key(entry.name), within[0])
            elif _is_picture(entry):
                self._files[_key(entry.stem)] = entry
        if not any(self._file(name) for name in names):
            first = _bare(names[0])
            raise DataError(
                f"The folder {folder} has no picture of any object. Expected files such as "
                f"{first}.jpg, or folders called {first} with a picture in each."
            )

    def of(self, name: str) -> np.ndarray | None:
        """The whole picture of an object, if there is one."""
        picture = self._read(name, PIXELS)
        return None if picture is None else np.asarray(picture)

    def thumbnail(self, name: str, pixels: int) -> str | None:
        """The whole picture of an object, small, as an address that holds it."""
        picture = self._read(name, pixels)
        if picture is None:
            return None
        content = BytesIO()
        picture.save(content, "JPEG", quality=SMALL_QUALITY, optimize=True)
        return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"

    def _file(self, name: str) -> Path | None:
        return self._files.get(_key(name)) or self._files.get(_key(_bare(name)))

    def _read(self, name: str, pixels: int) -> Image.Image | None:
        """The picture within a square of so many pixels, in its own proportions."""
        file = self._file(name)
        if file is None:
            return None
        try:
            with Image.open(file) as picture:
                upright = ImageOps.exif_transpose(picture).convert("RGBA")
                # What is transparent is white, as the paper is.
                white = Image.new("RGBA", upright.size, "white")
                whole = Image.alpha_composite(white, upright).convert("RGB")
                return ImageOps.contain(whole, (pixels, pixels))
        except OSError as error:
            raise DataError(f"{file} is not a picture that can be read: {error}.") from error


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()


def _bare(name: str) -> str:
    """Objects are often called as their pictures are, ``cat.jpg``."""
    ending = Path(name).suffix
    return name.removesuffix(ending) if ending.lower() in ENDINGS else name


def _key(name: str) -> str:
    """Files are often called ``ice_cream`` where the object is called ``Ice cream``."""
    return name.strip().lower().replace(" ", "_")

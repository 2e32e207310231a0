"""Run benchmarks and write their sections of RESULTS.md.

python -m benchmarks                 all of them
python -m benchmarks overhead sizes  some of them
python -m benchmarks paper           the paper's experiments, which have a page of their own
python -m benchmarks --quick ...     small versions, printed and not written
"""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path

from benchmarks.harness.machine import describe_machine

RESULTS = Path(__file__).parent / "RESULTS.md"
SECTIONS = {
    "time_to_quality": "speed",
    "overhead": "speed",
    "step_profile": "speed",
    "scaling": "speed",
    "many_small_fits": "speed",
    "whole_grid": "speed",
    "busy_machine": "speed",
    "choice_steps": "speed",
    "human_things": "quality",
    "human_refined": "quality",
    "features": "quality",
    "features_curve": "quality",
    "features_new": "quality",
    "people": "quality",
    "people_recovery": "quality",
    "people_pooling": "quality",
    "human_choices": "quality",
    "choices_recovered": "quality",
    "choices_told_apart": "quality",
    "recipes": "quality",
    "sizes": "quality",
    "small_sizes": "quality",
    "yardstick": "quality",
    "coverage": "quality",
    "dimension_counts": "quality",
    "dimension_counts_large": "quality",
    "dimension_people": "quality",
    "dimensions_found": "quality",
    "consensus": "quality",
    "calibration": "quality",
    "prior_levels": "quality",
    "arviz_memory": "speed",
    "reading": "speed",
    "importing": "speed",
    "ensemble": "quality",
    "asking": "quality",
    "asking_200": "quality",
    "asking_1854": "quality",
    "asking_people": "quality",
    "asking_limit": "quality",
    "forecasts": "quality",
    "choosing": "speed",
    "soak": "robustness",
}
# Long, and written by itself: not run unless named.
OWN_PAGE = ("paper",)
INTRODUCTION = """# Measured results

Every section was written by the command it names. The machines are shared and noisy, so read ratios
within a section; seconds are there to make them. What was tried for the default training and left
out is in [TRIED.md](TRIED.md), and what became faster than in an earlier commit in
[VERSIONS.md](VERSIONS.md).
"""


def main() -> None:
    """Parse the command line and run what it names."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = (*SECTIONS, *OWN_PAGE)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(known)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    for name in arguments.names or SECTIONS:
        where = f"{SECTIONS[name]}.{name}" if name in SECTIONS else "paper.experiments"
        module = importlib.import_module(f"benchmarks.{where}")
        body = module.run(quick=arguments.quick)
        if name in OWN_PAGE:
            print(body)
            continue
        section = f"## {name}\n\n`make bench NAME={name}`, {describe_machine()}\n\n{body.strip()}\n"
        print(section)
        if not arguments.quick:
            write_section(name, section)


def write_section(name: str, section: str) -> None:
    """Put a section into RESULTS.md, in place of its earlier version if there is one."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else INTRODUCTION
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## \w+\n|\Z)", text, re.M | re.S))
    sections[name] = section.split("\n", 1)[1]
    ordered = [f"## {key}\n{sections[key].strip()}\n" for key in SECTIONS if key in sections]
    RESULTS.write_text(INTRODUCTION + "\n" + "\n".join(ordered), encoding="utf-8")


if __name__ == "__main__":
    main()

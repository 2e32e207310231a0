"""The Python that pages print, run as a reader would."""

import re

import pyrovice as pv

# For whatever is not the paper's model, which has tests of its own.
SHORT = pv.Training(schedule=pv.Anneal(steps=300))


def python_in(text):
    """Every block of Python in a page."""
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def run(text, namespace=None):
    """Run all blocks of a page in order, and return what they defined."""
    namespace = {} if namespace is None else namespace
    for snippet in python_in(text):
        exec(snippet, namespace)
    return namespace


class QuickFits:
    """Equal fits once; those with a guide or another prior than the paper's briefly."""

    def __init__(self):
        self.original, self.made = pv.fit, {}

    def __call__(self, data, **arguments):
        others = "guide" in arguments or not isinstance(
            arguments.get("prior", pv.SpikeSlab()), pv.SpikeSlab
        )
        brief = {"training": SHORT} if others else {}
        arguments = {**brief, "progress": False} | arguments
        if "checkpoint" in arguments or "init" in arguments:
            return self.original(data, **arguments)
        key = data.digest(), repr(sorted(arguments.items(), key=str))
        if key not in self.made:
            self.made[key] = self.original(data, **arguments)
        return self.made[key]

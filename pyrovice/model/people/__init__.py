"""Who answers: how people differ in what they see and in how they choose."""

from pyrovice.model.people.crowd import Crowd, judgments_by_person
from pyrovice.model.people.groups import without_strangers
from pyrovice.model.people.newcomers import with_newcomers
from pyrovice.model.people.people import People, check_people, check_people_of

__all__ = [
    "Crowd",
    "People",
    "check_people",
    "check_people_of",
    "judgments_by_person",
    "with_newcomers",
    "without_strangers",
]

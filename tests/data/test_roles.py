"""Judgments of chosen questions stay labelled, and do not pass for a fair test."""

import numpy as np
import pandas as pd
import pytest

import pyrovice as pv


@pytest.fixture
def labelled(small):
    part = small[:60]
    role = np.where(np.arange(60) < 45, "ask", "random")
    return pv.Triplets(
        part.objects, part.odd, names=part.names, trials=pd.DataFrame({"role": role})
    )


def test_roles_survive_writing_and_reading(labelled, tmp_path):
    labelled.write(tmp_path / "new.csv")
    back = pv.Triplets.read(tmp_path / "new.csv", names=labelled.names)
    assert back == labelled
    assert back.trials.role.tolist() == labelled.trials.role.tolist()


def test_plus_is_concat_and_roles_survive_it(small, labelled):
    old = small[60:100]
    both = old + labelled
    assert both == pv.Triplets.concat([old, labelled])
    assert both.trials.role.isna().tolist() == [True] * 40 + [False] * 60
    assert (labelled + labelled).trials.role.tolist() == labelled.trials.role.tolist() * 2
    with_more = pv.Triplets(
        old.objects, old.odd, names=old.names, trials=pd.DataFrame({"set": range(40)})
    )
    assert list((with_more + labelled).trials) == ["role"]
    assert list((with_more + with_more).trials) == ["set"]
    with pytest.raises(TypeError, match="unsupported operand"):
        small + 1
    with pytest.raises(pv.DataError, match="same objects"):
        small + pv.Triplets([[0, 1, 2]], [0])


def test_chosen_judgments_are_left_out_of_tests(small, labelled, small_fit):
    with pytest.warns(pv.PyroviceWarning, match="45 of 60 judgments given to evaluate"):
        found = small_fit.evaluate(labelled)
    assert found == small_fit.evaluate(labelled[45:])
    with pytest.warns(pv.PyroviceWarning, match="All 45 judgments given to evaluate"):
        assert small_fit.evaluate(labelled[:45]).n == 45
    with pytest.warns(pv.PyroviceWarning, match="45 of 60 judgments given to a check"):
        check = pv.checks.check(small_fit, labelled, pv.checks.Accuracy, draws=20)
    assert check.n == 15


@pytest.mark.parametrize(
    ("what", "scored"),
    [
        ("calibration", lambda fit, data: fit.calibration(data).table),
        ("breakdown", lambda fit, data: fit.breakdown(data)),
        (
            "compare_choices",
            lambda fit, data: pv.compare_choices(fit, fit.prune(min_objects=8), data).table,
        ),
    ],
)
def test_whatever_scores_uses_the_others(labelled, small_fit, what, scored):
    with pytest.warns(pv.PyroviceWarning, match=f"45 of 60 judgments given to {what}"):
        found = scored(small_fit, labelled)
    pd.testing.assert_frame_equal(found, scored(small_fit, labelled[45:]))

"""A sweep on a real Ray, which `make test-slow` installs."""

import joblib
import pytest
from test_sweep import assert_nearly_same, assert_same, sweep

# Ray's own warnings are not ours to mend.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def _two_workers(tmp_path_factory):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    with pytest.MonkeyPatch.context() as patch:
        # Ray keeps a token there.
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        register_ray()
        yield
        ray.shutdown()


@pytest.mark.usefixtures("_two_workers")
@pytest.mark.parametrize(("stack", "same"), [(False, assert_same), (True, assert_nearly_same)])
def test_ray_gives_the_same_table(stack, same, tmp_path):
    with joblib.parallel_config(backend="ray"):
        found = sweep(stack=stack, store=tmp_path)
    assert len(list(tmp_path.rglob("*.fit"))) == 6
    same(found, sweep(n_jobs=1, stack=stack))

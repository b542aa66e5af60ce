from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.flame_data import flame_data
from emberscope.profile.fold import NO_STACK, natural_weight
from emberscope.profile.slice import Slice, select
from tests.profile.strategies import recording, rows, texts
from tests.profile.test_fold import stack_weights


@given(rows(), st.none() | st.integers(0, 3), st.none() | st.integers(0, 1), st.none() | st.sampled_from(["1", "2"]))
def test_prop_a_slice_of_the_columns_is_a_fold_of_the_selected_samples(samples, stage, sql, executor):
    recorded = recording(samples)
    flame = flame_data(recorded.samples, recorded.stacks, recorded.frames)
    facets = {"stage_id": stage, "sql_execution_id": sql, "executor_id": executor}
    where = {name: value for name, value in facets.items() if value is not None}
    for event in ("cpu", "alloc"):
        part = recording([])
        chosen = select(recorded.samples, Slice(event=event, stage=stage, sql=sql, executor=executor))
        weight = natural_weight(recorded.samples, event)
        part = type(part)(part.facts, chosen, recorded.stacks, recorded.frames, part.spans, part.series)
        expected = {stack or (NO_STACK,): w for stack, w in texts(part, weight).items() if w}
        assert stack_weights(flame.tree(event, where)) == expected


@given(rows())
def test_prop_no_column_holds_a_node_without_weight(samples):
    recorded = recording(samples)
    flame = flame_data(recorded.samples, recorded.stacks, recorded.frames)
    for column in flame.columns:
        assert (column.weights > 0).all()
        assert (column.nodes[1:] > column.nodes[:-1]).all()
    assert list(flame.events()) == [e for e in ("cpu", "wall", "alloc") if any(r["event"] == e for r in samples)]

"""Moves of a reader and echoes of a browser that was not told yet, on a clock of our own."""

from ui.told import LATE, RESENT, Told


def test_a_value_is_sent_until_a_run_begins_well_after_it_was_sent():
    told = Told()
    assert not told.is_to_be_sent("k", 0.0)
    told.put("k")
    assert told.is_to_be_sent("k", 100.0)  # no run has drawn it yet
    told.finished({"k"}, 100.0)
    told.finished({"k"}, 100.5)  # later runs send it again; the first counts
    assert told.is_to_be_sent("k", 100.0 + RESENT)
    assert not told.is_to_be_sent("k", 100.1 + RESENT)
    told.finished({"other"}, 0.0)
    assert not told.is_to_be_sent("other", 0.0)


def test_an_old_value_is_suspect_from_when_it_was_sent_and_not_from_when_it_was_set():
    told = Told()
    told.replace("k", "causal", 0.0)
    assert told.is_old("k", "causal", 60.0)  # the run that sends the new one still lasts
    told.finished({"k"}, 60.0)
    assert told.is_old("k", "causal", 60.0 + LATE)
    assert not told.is_old("k", "causal", 60.1 + LATE)
    assert not told.is_old("k", "window", 60.0)


def test_several_old_values_are_held_until_the_last_new_one_is_known():
    told = Told()
    told.replace("k", "causal", 0.0)
    told.replace("k", "drawn", 0.1)
    assert told.is_old("k", "causal", 0.2)
    assert told.is_old("k", "drawn", 0.2)
    told.finished({"k"}, 1.0)
    told.replace("k", "window", 1.0 + LATE + 1)
    assert not told.is_old("k", "causal", 2.0 + LATE)
    assert told.is_old("k", "window", 2.0 + LATE)


def test_an_old_value_that_comes_alone_is_a_move_and_beside_another_act_an_echo():
    told = Told()
    told.doubted["masks", "mask"] = "causal"
    assert told.settle() == ({("masks", "mask"): "causal"}, {})
    assert told.settle() == ({}, {})
    told.doubted["masks", "mask"] = "causal"
    told.acts = 1
    assert told.settle() == ({}, {("masks", "mask"): "causal"})
    told.doubted["masks", "mask"] = "causal"
    assert told.settle() == ({("masks", "mask"): "causal"}, {})

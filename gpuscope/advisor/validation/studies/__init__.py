"""Studies: each module predicts published measurements with constants that were not fitted on them.

The module `studies/some_rows.py` is the study `some-rows` of `gpuscope validate --study some-rows`; whatever lies in
this package is found (`validation.registry`). A name with an underscore in front is a helper. A study has these names:

    NAME = "some-rows"           # of the module's name; for Outcome.study
    DESCRIPTION = "One sentence: from what to what, on whose rows."
    CASE = "source-run"          # key of one of validation.goals.CASES, or "" for none
    GOAL = None                  # or (median, 90th percentile) of the relative error, where it is not the case's
    TRIED = "..."                # shown where the goal is missed: what was tried and why it stays; else ""
    def outcomes(tables: Tables) -> Iterator[Outcome]: ...
"""

"""Studies: each module predicts published measurements with constants that were not fitted on them.

A study is a module with these names (`validation.registry` finds every module of this package):

    NAME = "short-name"          # as in `gpuscope validate --study short-name`
    DESCRIPTION = "One sentence: from what to what, on whose rows."
    CASE = "..."                 # the row of `validation.goals.CASES` that it answers, or "" for none
    GOAL = (0.04, 0.10)          # median and 90th percentile of the relative error, or None
    TRIED = "..."                # shown where the goal is missed: what was tried and why it stays
    def outcomes(tables: Tables) -> Iterator[Outcome]: ...
"""

"""What each published number means, in one sentence each, so that a number can be cited with its definition."""

from __future__ import annotations

from agenttime_tui.metrics.fields import FIELDS
from agenttime_tui.metrics.terms import TERMS

DEFINITIONS: dict[str, str] = {
    **FIELDS,
    **TERMS,
    "runs": "Counted runs of the duration study that are over and had a request.",
    "untimed": "Counted runs without a usable time: in no share and no error.",
    "partial": "The agent has no counted run on some benchmark that others ran: not ranked.",
    "ratio": "Time worked divided by time requested.",
    "on_time": "Share of timed runs with 0.95 <= ratio <= 1.05, both ends included; every run weighs the same.",
    "early": "Share of timed runs with ratio < 0.95.",
    "late": "Share of timed runs with ratio > 1.05.",
    "met": "Share of timed runs with ratio >= 0.95 (on time or late).",
    "lower_bounds": "Runs that were stopped (cutoff, error, provider limit): they would have worked at least as long.",
    "at_cutoff": "Runs whose time worked reached twice the task's longest request, whatever ending was recorded.",
    "timing_error": "Benchmark-weighted: exp of the mean over benchmarks of the mean |ln ratio| of a benchmark's runs. "
    "A factor of at least 1, lower is better.",
    "timing_error_pooled": "Run-pooled: exp of the mean |ln ratio| over runs, without weighting by benchmark. Lower is "
    "better; not comparable with timing_error.",
    "median_ratio": "Median of worked / requested over timed runs.",
    "slope_pooled": "Least-squares slope, with intercept, of ln worked on ln requested over all runs.",
    "slope_within": "Slope of ln worked on ln requested after each task's means are taken out.",
    "slope_within_split": "slope_within on open-ended benchmarks and on the others, each over its own tasks.",
    "slope_task_mean": "Mean of the slopes of single tasks, over tasks with all three requests.",
    "runtime_at_16x": "16 to the power of slope_within: how many times longer a run lasts at 16 times the request.",
    "strip": "Runs in 41 columns of ratio: under 0.1x, 19 log-equal to 0.95, within 5 %, 19 log-equal to 10x, over.",
    "wording": "The sentence that asks for the time; null is the paper's. Wordings are never pooled.",
    "score": "Mean score of the scored runs on the benchmark's own scale; nothing to grade counts as 0.",
    "passed": "Runs that passed, of those graded by a benchmark with a pass rule.",
    "score_change": "Tasks whose score at the longest request is higher, the same or lower than at the shortest. Same: "
    "a difference below 0.01 on the 0 to 1 scale, exact equality for binary and unbounded scores.",
    "suite_score": "Mean of benchmark means, each rounded to 0.1, over cells that every ranked agent has a score for, "
    "in benchmarks with at least three such cells and percent scores. Interval: tasks drawn within each benchmark.",
    "censored": "Stopped runs as lower bounds: a timing error in which |ln ratio| of a stopped run is its expectation "
    "under a normal model of ln ratio fitted with censoring (Tobin 1958), one mean a request; the product-limit median "
    "(Kaplan and Meier 1958); and how many stopped runs could still be within or longer.",
    "conduct": "Runs with a transcript: early and late by the clock, on-time ones by a label as working, re-checked or "
    "slept; unclear and unread (unlabelled) ones are not in n. A person's label goes before the machine's; by_machine "
    "counts on-time runs that rest on rules alone, person and machine give each kind by itself.",
    "repeats": "Cells run several times: factor of one standard deviation of ln ratio within a cell and between cells.",
    "spent_usd": "What the attempts have cost so far by prices.toml, lost and superseded ones too: hours from release "
    "to end at a slot's share of its machine, and the model by the CLI's own sum, else by tokens, else by the hour. A "
    "lower bound where something has no price or was not seen to its end; judges are never in it. An estimate.",
    "miss": "Geometric mean of max(estimate / actual, actual / estimate); at least 1, lower is better.",
    "too_high": "Share of answered forecasts above the agent's own runtime; a forecast of zero is too low.",
    "bias": "Geometric mean of forecast / runtime; above 1 is too high.",
    "slope": "Compression exponent: slope of ln forecast on ln runtime; interval from 2,000 row resamples.",
    "prediction_ratio_actual_over_estimate": "Median of minutes to the first observed success over the estimate.",
    "median_absolute_error_minutes": "Median of |actual - estimate| in minutes.",
    "underestimation_rate": "Share of runs that took longer than estimated.",
    "within_1_5x": "Share of answered forecasts with 2/3 <= forecast / runtime <= 1.5.",
    "ratio_of_means": "Mean forecast over mean runtime.",
    "correlation_log": "Correlation of ln forecast and ln runtime.",
    "median_forecast_s": "Median of the answered forecasts that have a runtime, in seconds.",
    "median_runtime_s": "Median natural runtime of the same tasks, in seconds; natural runs are asked for no time.",
    "natural": "Runs that were asked for no time: their median runtime, and how many were stopped.",
    "missing": "Answers without a readable number; they are in no statistic.",
    "zeros": "Answers of zero: answered, too low, in no logarithm.",
    "without_runtime": "Forecasts of tasks without a natural run.",
    "runtimes_stopped": "Forecasts whose natural run was stopped: exact in everything but the slope, which omits them.",
    "outcomes": "Answers by what reading them by the study's published rule gave: ok, parse_fail, parse_invalid, "
    "refusal, infra_fail.",
    "rejected": "Answers that gave no number, each with why.",
    "variants": "Other forecast questions, never pooled with the paper's: p1 the task's text, p2 with its "
    "documentation, p3 with a probe of the original program.",
    "mean_log_error": "Mean of |ln(forecast / runtime)|, as the separate-turn study prints it; exp of it is the miss.",
    "referents": "The same question about oneself, a professional, a frontier agent, an expert; placebo only says "
    "finish for complete. Contrast a/b: geometric mean over tasks with both of the mean ln estimate's difference.",
    "by_human_estimate": "you / human in bins of the human estimate: under 10 min, 10 to under 120 min, 120 min and "
    "more; slope of ln(you / human) on ln human.",
    "quartiles": "By quarter of natural runtime, shortest first: geometric mean of runtime / forecast (the inverse of "
    "bias).",
    "baselines": "Correlation with the natural runtime, of logarithms (log) and of ranks with averaged ties (rank): of "
    "the forecast, of the visible events of the run, of the agent's report after it.",
    "reasons": "The sentence an agent gave for its forecast, with the run that holds it.",
    "asked_again": "Answers that came only when asked a second time, without tools.",
    "without_questions": "The same without the benchmarks of closed questions.",
    "parents": "Which runs were asked about: natural ones, or duration runs with their request taken out.",
    "over_replay": "Miss of scrubbed over miss of replay: what the removed time cues were worth.",
    "self_score": "Self-scores against grades, both in percent: bias is the mean difference (above 0 overconfident), "
    "bands give the mean grade for each band of self-scores.",
    "same_turn": "Estimate before and report after the work in one turn, against that run's own time; interrupted runs "
    "are in everything but the slope.",
    "within_2x_rate": "Share of runs with actual / estimate from 1/2 to 2, both included.",
    "spearman": "Rank correlation of ln ratio over paired cells, ties averaged; spearman_ordinal breaks them by order, "
    "as printed.",
    "longer": "Paired cells in which the second worked longer than the first.",
    "median_factor": "exp of the median difference of ln ratio over paired cells, second minus first.",
    "never_passed": "Runs whose verifier was never seen to pass: counted, and in no median or share.",
    "no_estimate": "Runs without a sealed estimate: in no number.",
    "window": "Range of a number when success came as early or as late as the polls allow. The ci of ETABench spans "
    "it: 2,000 resamples of runs, low end at the earliest times, high end at the latest; ci_observed leaves it out.",
    "ci": "95 % percentile interval from resampling tasks with replacement, each with all its runs, by Python's "
    "random.Random(1).choice over tasks in the order of first appearance: 1,000 resamples for timing errors, 2,000 for "
    "slopes and shares.",
}

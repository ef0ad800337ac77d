"""Tiers: what `make test` leaves to `make test-slow`, and what it tries once for real all the same.

Paths are those of this folder, a whole folder or a pattern of files; a test is written behind two colons.
Only what stands here is slow: files of one tier are not even loaded for the other. `tests/test_tiers.py`
holds these tables to what is there.
"""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache

# What makes tests slow, and where these are.
SLOW: dict[str, tuple[str, ...]] = {
    "Ray, with processes and clusters of its own": ("engines",),
    "slices of an index, and split galleries of earlier versions": (
        "gallery/test_split.py",
        "method/test_guessing.py::test_rankings_of_a_shortlist_are_those_of_one_place",
        "indexing/test_spread.py::test_what_slices_send_back_takes_no_more_memory_than_is_stated",
    ),
    "Chromium before a server": ("web/test_browser*.py",),
    "kills, damage and other processes, again and again": (
        "indexing/test_aside.py",
        "gallery/test_gallery_durability.py",
        "test_damage.py",
        "gallery/test_forget_killed.py",
        "web/test_load.py",
    ),
    "films and photos, decoded in children": (
        "cli/test_footage.py",
        "cli/test_open.py",
        "ingest/test_asked.py",
        "ingest/test_odd_films.py",
        "ingest/test_pace.py",
        "ingest/test_scan.py",
        "ingest/test_workers.py",
        "web/test_intake.py",
        "web/test_keeping.py",
        "web/test_photos.py",
        "web/test_upload_faces.py",
        "web/test_uploads*.py",
        "ingest/test_describe.py",
        "ingest/test_footage*.py",
        "test_footage*.py",
        "gallery/test_forget_footage.py",
        "search/test_question.py",
        "search/test_photo_query.py",
        "test_together_study.py",
        "demo/test_footage.py::test_a_detector_finds_every_face_and_nothing_else",
        "exchange/test_timelines.py",
        "exchange/test_xmp.py",
        "cli/test_exchange.py",
    ),
    "fuzz, and files that mean no good read in children": (
        "ingest/readers/test_mat.py",
        "ingest/test_reading_apart.py",
        "web/test_fuzz.py",
        "web/test_payloads.py",
    ),
    "the harness of trust, and what it rests on": (
        "trust/test_faults.py",
        "trust/test_harness_durability.py",
        "trust/test_harness_hostile.py",
        "trust/test_harness_spread.py",
        "trust/test_hosts.py",
    ),
    "everything that the documentation shows, run": (
        "cli/test_mcp.py",
        "test_docs.py::test_example_scripts_run",
        "test_docs.py::test_examples_run",
        "test_docs.py::test_the_example_package_keeps_the_contract",
        "test_docs.py::test_the_site_builds_without_a_warning_and_without_the_network",
        "test_package.py",
        "cli/test_demo.py::test_who_rose_is_told_with_whom_it_rose_through",
    ),
    "generators of the pages of benchmarks and studies": (
        "test_benchmarks.py",
        "test_descriptor_study.py",
        "test_feedback_study.py",
        "test_paper_figures.py",
        "test_real_faces.py",
        "test_results.py",
        "test_shapes.py",
        "test_stages.py",
        "test_study*.py",
    ),
    "long histories, and every combination of options": (
        "search/test_estimator.py::test_what_scikit_learn_asks",
        "rerankers/test_learnt_options.py::test_every_combination_keeps_the_contract",
        "test_state_machine.py",
        "gallery/test_decisions_histories.py",
        "search/test_query.py::test_threads_do_not_change_a_bit",
        "evaluation/test_statistics.py::test_false_alarms_are_as_rare_as_promised",
        "ingest/readers/test_parquet.py::test_any_damage_is_noticed_or_harmless",
    ),
    "the whole program on whole data sets, and its report": (
        "evaluation/test_report.py",
        "evaluation/test_suspects.py",
        "cli/test_evaluate*.py",
        "cli/test_demo.py::test_running_again_replaces_it",
        "cli/test_demo.py::test_an_interrupted_demo_is_replaced",
        "cli/test_prepare.py",
        "cli/test_people.py",
        "test_bad_input.py::test_sets_of_one_face_can_be_found",
        "test_limits.py::test_a_large_set_is_thinned_before_its_faces_are_compared",
        "ingest/readers/test_annotations.py::test_out_and_in_again_gives_the_same_people",
        "indexing/test_transform.py::test_it_helps_on_youtube_faces",
    ),
}
# Each dear kind of thing, tried once for real by `make test`.
ONCE: dict[str, tuple[str, ...]] = {
    "Ray, and workers of its own": ("engines/test_contract.py",),
    "a page in Chromium": (
        "web/test_browser.py::test_from_the_address_to_a_named_person_with_three_confirmed_clips",
    ),
    "kill -9 during add": ("gallery/test_gallery_durability.py::test_kill_while_adding",),
    "a split gallery of an earlier version": (
        "gallery/test_split.py::test_the_file_says_what_one_file_would_have_said",
    ),
    "a report with every figure": ("evaluation/test_report.py::test_every_figure_of_the_paper_is_there",),
    "time lines and sidecars, read back": (
        "exchange/test_timelines.py::test_an_edit_list_is_exact_to_the_frame",
        "exchange/test_timelines.py::test_time_codes_by_hand",
        "exchange/test_xmp.py::test_out_and_in_again_gives_the_same_people",
        "cli/test_exchange.py::test_export_in_every_format",
    ),
    "photos and a film, end to end": (
        "cli/test_footage.py::test_add_tells_the_plan_the_failures_and_what_was_added",
        "cli/test_footage.py::test_find_with_photo_folder_and_film",
        "web/test_intake.py::test_a_folder_appears_on_the_page_and_nothing_twice",
    ),
}


def is_slow(path: str, test: str) -> bool:
    """Whether a test, by its file below this folder and its name, is in the slow tier."""
    return _is_named(SLOW_NAMES, path, test) and not _is_named(ONCE_NAMES, path, test)


def may_be_slow(path: str) -> bool:
    """Whether a file has slow tests."""
    return bool(_tests(SLOW_NAMES, path)) and "" not in _tests(ONCE_NAMES, path)


def may_be_quick(path: str) -> bool:
    """Whether a file has tests that are not slow."""
    return "" not in _tests(SLOW_NAMES, path) or bool(_tests(ONCE_NAMES, path))


SLOW_NAMES = tuple(entry for entries in SLOW.values() for entry in entries)
ONCE_NAMES = tuple(entry for entries in ONCE.values() for entry in entries)


def _is_named(entries: tuple[str, ...], path: str, test: str) -> bool:
    return not _tests(entries, path).isdisjoint(("", test))


@cache
def _tests(entries: tuple[str, ...], path: str) -> frozenset[str]:
    """The tests that entries name in a file; an empty name is all of them."""
    pieces = (entry.partition("::") for entry in entries)
    return frozenset(
        test for files, _, test in pieces if fnmatch(path, files) or path.startswith(f"{files}/")
    )

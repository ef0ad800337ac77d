"""Time lines, read back by the libraries of others: webvtt-py, timecode, OpenTimelineIO."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from html import unescape
from pathlib import Path

import av
import numpy as np
import opentimelineio as otio
import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st
from timecode import Timecode

from lookalike import Gallery
from lookalike.errors import BadInput
from lookalike.exchange.timelines import RATES, Clock, one_line, standard_rate
from lookalike.gallery import decisions
from lookalike.gallery.export import FORMATS, OWN, export_as
from tests.exchange.samples import face_set, film_gallery, media, seen, write_film, write_photo
from tests.gallery import children
from tests.hostile_names import NAMES

FILM_RATE, PAL, NTSC = Fraction(24_000, 1001), Fraction(25), Fraction(30_000, 1001)
EVENT = re.compile(
    r"^(\d{3})  (\S{1,8}) +V     C        ((?:\d\d[:;]){3}\d\d) (\S+) (\S+) (\S+) *$", re.MULTILINE
)


# Time codes.


@pytest.mark.parametrize(
    ("rate", "first", "frame", "code"),
    [
        (FILM_RATE, "00:00:00:00", 24, "00:00:01:00"),
        (FILM_RATE, "01:00:00:00", 86_399 - 24, "01:59:58:23"),
        (PAL, "10:00:00:00", 1499, "10:00:59:24"),
        # Two numbers are left out at the first minute, none at the tenth.
        (NTSC, "00:00:00;00", 1799, "00:00:59;29"),
        (NTSC, "00:00:00;00", 1800, "00:01:00;02"),
        (NTSC, "00:00:00;00", 17_981, "00:09:59;29"),
        (NTSC, "00:00:00;00", 17_982, "00:10:00;00"),
        (NTSC, "01:00:00;00", 0, "01:00:00;00"),
        (NTSC, "23:59:59;29", 1, "00:00:00;00"),
        (NTSC, "00:00:00:00", 1800, "00:01:00:00"),
        (Fraction(60_000, 1001), "00:00:00;00", 3600, "00:01:00;04"),
        (Fraction(120), "00:00:00:000", 119, "00:00:00:119"),
    ],
)
def test_time_codes_by_hand(rate: Fraction, first: str, frame: int, code: str) -> None:
    clock = Clock.read(rate, first)
    assert clock.code(clock.start) == first
    assert clock.code(clock.start + frame) == code


@given(st.sampled_from(RATES), st.booleans(), st.integers(0, 5_000_000))
def test_a_time_code_leads_back_to_its_frame(rate: Fraction, drop: bool, frame: int) -> None:
    clock = Clock(rate, drop and rate.denominator != 1 and round(rate) % 30 == 0)
    frame %= 24 * 3600 * math.floor(rate)  # what fits into a day
    assert Clock.read(rate, clock.code(frame)) == Clock(rate, clock.drop, frame)


@pytest.mark.parametrize(
    ("rate", "drop"), [("23.976", False), ("25", False), ("29.97", False), ("29.97", True)]
)
def test_time_codes_as_another_library_counts(rate: str, drop: bool) -> None:
    exact = {"23.976": FILM_RATE, "25": PAL, "29.97": NTSC}[rate]
    clock = Clock(exact, drop)
    for frame in (*range(0, 4000, 7), *range(17_900, 18_100), 107_892, 1_000_000):
        # That library counts from 1.
        theirs = Timecode(rate, frames=frame + 1, force_non_drop_frame=not drop)
        assert clock.code(frame) == str(theirs), frame


@pytest.mark.parametrize(
    ("rate", "code", "says"),
    [
        (PAL, "hello", "no time code"),
        (PAL, "", "no time code"),
        (PAL, "1:00:00:00", "no time code"),
        (PAL, "99:99:99:99", "no time code of 25 frames"),
        (PAL, "24:00:00:00", "no time code of 25 frames"),
        (PAL, "00:00:00:25", "no time code of 25 frames"),
        (PAL, "00:00:00;00", "only 29.97 and its multiples"),
        (FILM_RATE, "00:00:00;00", "only 29.97 and its multiples"),
        (NTSC, "00:01:00;01", "one of those that are dropped"),
        (PAL, "٠٠:00:00:00", "no time code"),
    ],
)
def test_nonsense_is_no_time_code(rate: Fraction, code: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Clock.read(rate, code)


@pytest.mark.parametrize(
    ("rate", "placed"),
    [
        (NTSC, NTSC),
        (Fraction(2997, 100), NTSC),
        (Fraction(30), Fraction(30)),
        (Fraction(25, 2), PAL),
        (Fraction(15), Fraction(30)),
        (Fraction(10), Fraction(30)),
        (Fraction(5_400_000, 259_499), FILM_RATE),
        (Fraction(600), None),
    ],
)
def test_rates_that_have_time_codes(rate: Fraction, placed: Fraction | None) -> None:
    assert standard_rate(rate) == placed


# Frames. Each film shows 6 n on frame n: what is written must lead to the frame on which a set is seen.


def shown(film: Path) -> list[tuple[float, int]]:
    """Seconds and number of each frame, as a decoder sees them."""
    with av.open(str(film)) as file:
        frames = [(float(one.time), one.to_ndarray(format="gray").mean()) for one in file.decode(video=0)]
    first = frames[0][0]
    return [(time - first, round(level / 6)) for time, level in frames]


def span_of(film: Path, first: int, last: int) -> tuple[float, float]:
    times = {number: time for time, number in shown(film)}
    return times[first], times[last]


CASES = [
    (FILM_RATE, "01:00:00:00", ".mov"),
    (PAL, "10:00:00:00", ".mp4"),
    (NTSC, "00:59:59;20", ".mov"),
    (NTSC, "00:59:59:20", ".mov"),
    (FILM_RATE, "", ".mkv"),
    (NTSC, "", ".mts"),
]


@pytest.mark.parametrize(("rate", "code", "suffix"), CASES)
def test_an_edit_list_is_exact_to_the_frame(rate: Fraction, code: str, suffix: str, tmp_path: Path) -> None:
    film = write_film(tmp_path / f"a film, é{suffix}", rate, code=code)
    with film_gallery(
        tmp_path / "g", film, {"one": span_of(film, 7, 31), "two": span_of(film, 9, 9)}
    ) as gallery:
        decisions.name(gallery, ["one"], "Ada")
        assert export_as(gallery, tmp_path / "x.edl", "edl").remarks == ()
    text = (tmp_path / "x.edl").read_text(encoding="utf-8")
    drop = ";" in code
    assert f"FCM: {'DROP FRAME' if drop else 'NON-DROP FRAME'}\n" in text
    assert f"* FROM CLIP NAME: {film.name}\n* COMMENT: Ada (one)\n" in text
    theirs = "23.976" if rate == FILM_RATE else f"{float(rate):.4g}"
    zero = "00:00:00;00" if drop else "00:00:00:00"
    start = Timecode(theirs, code or zero, force_non_drop_frame=not drop).frame_number
    record = Timecode(theirs, "01:00:00" + zero[-3:], force_non_drop_frame=not drop).frame_number
    lengths = 0
    for (number, reel, *codes), (first, end) in zip(EVENT.findall(text), [(7, 32), (9, 10)], strict=True):
        assert (number, reel) == (f"{1 + (first == 9):03d}", "AFILM")
        source_in, source_out, record_in, record_out = (
            Timecode(theirs, one, force_non_drop_frame=not drop).frame_number for one in codes
        )
        assert (source_in - start, source_out - start) == (first, end)
        assert (record_in - record, record_out - record_in) == (lengths, end - first)
        lengths += end - first


def test_a_rate_that_varies_leads_to_the_right_frame(tmp_path: Path) -> None:
    times = [0.0, *np.cumsum(np.resize([1 / 30, 1 / 12, 1 / 20, 1 / 25], 39)).tolist()]
    film = write_film(tmp_path / "film.mp4", Fraction(30), times=times)
    frames = shown(film)
    spans = {f"{number:02d}": (time, time) for number, (time, _) in enumerate(frames)}
    with film_gallery(tmp_path / "g", film, spans) as gallery:
        done = export_as(gallery, tmp_path / "x.otio", "otio")
    [remark] = done.remarks
    assert "has a rate that varies, on average" in remark
    clips = otio.adapters.read_from_file(str(tmp_path / "x.otio")).find_clips()
    for number, clip in enumerate(clips):
        at = clip.source_range.start_time.to_seconds()
        # A player that comes there shows the last frame that has begun.
        assert max(one for one, (begin, _) in enumerate(frames) if begin <= at + 1e-3) == number
    assert number == len(frames) - 1


@pytest.mark.parametrize(("rate", "code", "suffix"), CASES)
def test_opentimelineio_reads_our_clips(rate: Fraction, code: str, suffix: str, tmp_path: Path) -> None:
    film = write_film(tmp_path / f"film{suffix}", rate, code=code)
    with film_gallery(
        tmp_path / "g", film, {"one": span_of(film, 7, 31), "two": span_of(film, 3, 9)}
    ) as gallery:
        decisions.name(gallery, ["one"], "Ada")
        export_as(gallery, tmp_path / "x.otio", "otio", person="ada")
    timeline = otio.adapters.read_from_file(str(tmp_path / "x.otio"))
    assert timeline.name == "Ada"
    [clip] = timeline.find_clips()
    assert clip.name == "Ada"
    start = Clock.read(rate, code or "00:00:00:00").start
    assert clip.source_range == otio.opentime.TimeRange(
        otio.opentime.RationalTime(start + 7, float(rate)), otio.opentime.RationalTime(25, float(rate))
    )
    assert clip.available_range().start_time.value == start
    assert clip.available_range().duration.value == 40
    if code:
        first = clip.available_range().start_time
        assert first.to_timecode(float(rate), drop_frame=";" in code) == code
    assert otio.url_utils.filepath_from_url(clip.media_reference.target_url) == str(film)
    assert clip.metadata["lookalike"]["set"] == "one"
    assert timeline.global_start_time.to_seconds() == pytest.approx(3600, rel=0.002)


@pytest.mark.parametrize(("rate", "code", "suffix"), CASES)
def test_subtitles_last_from_the_first_frame_to_the_end_of_the_last(
    rate: Fraction, code: str, suffix: str, tmp_path: Path
) -> None:
    film = write_film(tmp_path / f"film{suffix}", rate, code=code)
    with film_gallery(
        tmp_path / "g", film, {"one": span_of(film, 7, 31), "two": span_of(film, 9, 9)}
    ) as gallery:
        export_as(gallery, tmp_path / "x.vtt", "vtt")
    cues = list(webvtt.read(str(tmp_path / "x.vtt")))
    assert [cue.text for cue in cues] == ["one", "two"]
    for cue, (first, end) in zip(cues, [(7, 32), (9, 10)], strict=True):
        times = (cue.start_in_seconds + cue.start_time.milliseconds / 1000, end_of(cue))
        assert times == pytest.approx((float(first / rate), float(end / rate)), abs=0.0016)


def end_of(cue: webvtt.Caption) -> float:
    return cue.end_in_seconds + cue.end_time.milliseconds / 1000


def test_markers_for_resolve(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mov", NTSC, code="00:59:59;20")
    with film_gallery(
        tmp_path / "g", film, {"a|b": span_of(film, 7, 31), "two": span_of(film, 12, 12)}
    ) as gallery:
        decisions.name(gallery, ["a|b"], "Ada | Countess |C:ResolveColorRed")
        export_as(gallery, tmp_path / "x.edl", "markers")
    assert (tmp_path / "x.edl").read_text() == (
        "TITLE: film.mov\nFCM: DROP FRAME\n\n"
        "001  001      V     C        00:59:59;27 00:59:59;28 00:59:59;27 00:59:59;28  \n"
        "a/b |C:ResolveColorBlue |M:Ada / Countess /C:ResolveColorRed |D:25\n\n"
        "002  001      V     C        01:00:00;02 01:00:00;03 01:00:00;02 01:00:00;03  \n"
        " |C:ResolveColorBlue |M:two |D:1\n\n"
    )


def test_several_films_are_a_folder(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number, folder in enumerate(("a", "b", "c")):
            (tmp_path / folder).mkdir()
            film = write_film(
                tmp_path / folder / ("Film.mp4" if number < 2 else "film.mp4"), PAL, 10 + number
            )
            gallery.keep_file(media(film), [face_set(folder, [seen(time=0.04)])])
        assert export_as(gallery, tmp_path / "vtt", "vtt").files == 3
        export_as(gallery, tmp_path / "markers", "markers")
        export_as(gallery, tmp_path / "x.edl", "edl")
    assert sorted(one.name for one in (tmp_path / "vtt").iterdir()) == [
        "Film.mp4.vtt",
        "Film.mp4~2.vtt",
        "film.mp4~3.vtt",
    ]
    assert len(list((tmp_path / "markers").iterdir())) == 3
    assert [event[1] for event in EVENT.findall((tmp_path / "x.edl").read_text())] == [
        "FILM",
        "FILM2",
        "FILM3",
    ]


# Names that mean harm.


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mov", PAL, code="10:00:00:00")
    ids = [name for name in NAMES if name.strip()]
    assert len(ids) > 200
    with film_gallery(tmp_path / "g", film, dict.fromkeys(ids, (0.2, 0.4))) as gallery:
        for format in ("vtt", "edl", "markers", "otio"):
            export_as(gallery, tmp_path / f"x.{format}", format)
    shown = sorted(map(one_line, ids))
    cues = list(webvtt.read(str(tmp_path / "x.vtt")))
    assert sorted(unescape(cue.text) for cue in cues) == shown
    raw = (tmp_path / "x.vtt").read_text(encoding="utf-8")
    assert not re.search("<(?!-)", raw)
    assert raw.count("-->") == len(ids)
    for format in ("edl", "markers"):
        text = (tmp_path / f"x.{format}").read_text(encoding="utf-8")
        assert len(EVENT.findall(text)) == len(ids)
        assert len(text.split("\n")) == 3 + 3 * len(ids) + 1
        assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) == {"\n"}
    clips = otio.adapters.read_from_file(str(tmp_path / "x.otio")).find_clips()
    assert sorted(clip.metadata["lookalike"]["set"] for clip in clips) == sorted(ids)


# Bad input: a sentence, and nothing written.


def refused(gallery: Gallery, path: Path, format: str, says: str, **options: object) -> None:
    before = set(path.parent.iterdir())
    with pytest.raises(BadInput, match=says):
        export_as(gallery, path, format, **options)
    assert set(path.parent.iterdir()) == before


@pytest.mark.parametrize("format", ["edl", "markers", "otio"])
def test_films_that_do_not_say(format: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone.mov"
    with film_gallery(tmp_path / "g", gone, {"one": (1.0, 2.0)}) as gallery:
        refused(gallery, tmp_path / "x", format, r"no file or folder .*gone\.mov.*; or give --rate")
        refused(gallery, tmp_path / "x", format, "--rate is one of 23.976, 24, 25", rate=17.0)
        refused(gallery, tmp_path / "x", format, "--start is 'x', which is no time code", rate=25, start="x")
        export_as(gallery, tmp_path / "x", format, rate=25, start="01:00:00:00")
        if format == "edl":
            assert "01:00:01:00 01:00:02:01" in (tmp_path / "x").read_text()
        export_as(gallery, tmp_path / "x.vtt", "vtt")
    assert end_of(next(iter(webvtt.read(str(tmp_path / "x.vtt"))))) == 2.04


@pytest.mark.parametrize("format", ["edl", "markers", "otio"])
def test_a_film_without_a_frame_rate(format: str, tmp_path: Path) -> None:
    """It is there and can be read, but has one frame and does not say how long that lasts."""
    film = tmp_path / "film.mkv"
    with av.open(str(film), "w") as file:
        stream = file.add_stream("libx264")
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        stream.codec_context.framerate, stream.codec_context.time_base = Fraction(0), Fraction(1, 1000)
        frame = av.VideoFrame.from_ndarray(np.zeros((96, 160, 3), np.uint8), format="rgb24")
        frame.pts, frame.time_base = 0, Fraction(1, 1000)
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    with film_gallery(tmp_path / "g", film, {"one": (0.0, 0.0)}) as gallery:
        refused(gallery, tmp_path / "x", format, "does not say how many frames a second it has: give --rate")
        for rate in (0, -25, 17, 1e9, float("inf"), float("nan")):
            refused(gallery, tmp_path / "x", format, "--rate is one of 23.976, 24, 25", rate=rate)
        export_as(gallery, tmp_path / "x", format, rate=25)
    if format == "edl":
        assert "00:00:00:00 00:00:00:01" in (tmp_path / "x").read_text()


def test_a_start_that_is_nonsense(tmp_path: Path) -> None:
    """As Matroska keeps whatever was written."""
    film = tmp_path / "film.mkv"
    with av.open(str(film), "w") as file:
        file.metadata["timecode"] = "99:99:99:99, really"
        stream = file.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        for _ in range(5):
            picture = av.VideoFrame.from_ndarray(np.zeros((96, 160, 3), np.uint8), format="rgb24")
            file.mux(stream.encode(picture))
        file.mux(stream.encode(None))
    with film_gallery(tmp_path / "g", film, {"one": (0.0, 0.04)}) as gallery:
        refused(
            gallery,
            tmp_path / "x",
            "edl",
            "begins at '99:99:99:99, really', which is no time code: give --start",
        )
        export_as(gallery, tmp_path / "x", "edl", start="02:00:00:00")
    assert "02:00:00:00 02:00:00:02" in (tmp_path / "x").read_text()


def test_an_edit_list_counts_in_one_way(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for name, rate in (("a.mov", PAL), ("b.mov", NTSC)):
            film = write_film(tmp_path / name, rate, 10)
            gallery.keep_file(media(film), [face_set(name, [seen(time=0.04)])])
        refused(gallery, tmp_path / "x", "edl", "have 25, 29.97 frames a second: export them one by one")
        export_as(gallery, tmp_path / "x.otio", "otio")
    rates = [
        clip.source_range.duration.rate
        for clip in otio.adapters.read_from_file(str(tmp_path / "x.otio")).find_clips()
    ]
    assert rates == pytest.approx([25, 29.97], abs=0.001)


def test_more_than_an_edit_list_holds(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mov", PAL, 10)
    with film_gallery(tmp_path / "g", film, {f"s{n}": (0.04, 0.04) for n in range(1000)}) as gallery:
        for format in ("edl", "markers"):
            refused(gallery, tmp_path / "x", format, "has room for 999 events, and 1000 were chosen")
        export_as(gallery, tmp_path / "x.otio", "otio")


def test_sets_without_times(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mov", PAL, 10)
    with film_gallery(tmp_path / "g", film, {"one": (0.04, 0.08)}) as gallery:
        gallery.add(face_set("plain", [seen()]), "array")
        assert export_as(gallery, tmp_path / "x.vtt", "vtt").remarks == (
            "left out, as they have no times: 1 in photos or unknown files",
        )
        for format in ("vtt", "edl", "markers", "otio"):
            refused(gallery, tmp_path / "y", format, "none of the chosen sets is of a video", ids=["plain"])


def test_the_last_frame_counts_as_long_as_it_lasts(tmp_path: Path) -> None:
    """Of 12.5 frames a second each lasts two of 25."""
    film = write_film(tmp_path / "film.mp4", Fraction(25, 2), 20)
    with film_gallery(tmp_path / "g", film, {"one": (0.16, 0.4)}) as gallery:
        assert export_as(gallery, tmp_path / "x", "edl").remarks == (
            f"{str(film)!r} has 12.5 frames a second: it was placed on 25",
        )
    assert "00:00:00:04 00:00:00:12 01:00:00:00 01:00:00:08" in (tmp_path / "x").read_text()


LONG = 800
FULL = """
from lookalike.gallery.export import export, export_as
from lookalike.errors import StorageFailed

with Gallery(sys.argv[1]) as gallery:
    try:
        if sys.argv[3] == "npz":
            export(gallery, Path(sys.argv[2]))
        else:
            export_as(gallery, Path(sys.argv[2]), sys.argv[3])
        print("written")
    except StorageFailed as reason:
        print(reason)
"""


@pytest.mark.parametrize("format", [*FORMATS, OWN])
def test_a_disk_that_fills_leaves_no_half_file(format: str, tmp_path: Path) -> None:
    """In a process whose files may not grow: the operating system itself refuses."""
    letters = np.random.default_rng(0).integers(97, 123, size=(200, LONG))
    ids = [bytes(row.tolist()).decode() for row in letters]
    photo = write_photo(tmp_path / "photo.jpg", (10, 10, 40, 40))
    film = write_film(tmp_path / "film.mov", PAL, code="10:00:00:00")
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(media(film), [face_set(one, [seen(time=0.2), seen(time=0.4)]) for one in ids])
        gallery.keep_file(
            media(photo, "photo"),
            [face_set(f"p{one}", [seen((10, 10, 40, 40))], ["photo.jpg"]) for one in ids],
        )
        if format == "xmp":  # which has people only
            for number, one in enumerate(ids):
                decisions.name(gallery, [f"p{one}"], f"{number} {one[:150]}")
    before = sorted(tmp_path.iterdir())
    said = children.run(FULL, tmp_path / "g", tmp_path / "x", format, before=children.small_files(50_000))
    assert "nothing was exported" in said, said
    assert [one for one in sorted(tmp_path.iterdir()) if not one.name.startswith("g")] == [
        one for one in before if not one.name.startswith("g")
    ]

"""Timelines: appearances in videos as subtitles, edit lists, markers and OpenTimelineIO, to the frame.

A time code counts the frames of a video, from the code on that is written in the video for its first frame.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from lookalike.errors import BadInput, LookalikeError
from lookalike.exchange.appearances import Appearance, Selection
from lookalike.gallery.media import MediaFile
from lookalike.ingest.header import Header, read_headers_apart

# What editing programs have time codes for.
RATES: Final = (
    *(Fraction(24000, 1001), Fraction(24), Fraction(25), Fraction(30000, 1001), Fraction(30)),
    *(Fraction(48000, 1001), Fraction(48), Fraction(50), Fraction(60000, 1001), Fraction(60)),
    *(Fraction(100), Fraction(120000, 1001), Fraction(120)),
)
# The mean rate of a film whose rate varies differs by so much from the one that it was made with.
NEARLY: Final = 0.02
# Seconds by which the time of a frame may be rounded: Matroska keeps milliseconds, and so do we.
ROUNDED: Final = Fraction(11, 10_000)
# How long a frame is taken to last where the film cannot be asked.
USUAL_FRAME: Final = Fraction(1, 25)
# The events of an edit list are numbered in three digits.
MOST_EVENTS: Final = 999
REEL: Final = 8
DAY: Final = 24 * 60 * 60
CODE: Final = re.compile(r"(\d\d):(\d\d):(\d\d)([:;.,])(\d\d\d?)", re.ASCII)


@dataclass(frozen=True)
class Clock:
    """How the frames of a video are counted.

    With `drop` numbers of frames are left out so that the code keeps up with the time of day: of each minute
    the first two (at 29.97 frames a second), but for every tenth minute.
    """

    rate: Fraction  # frames a second
    drop: bool = False
    start: int = 0  # the number of the first frame

    @property
    def nominal(self) -> int:
        """Frames that a second of the time code has."""
        return round(self.rate)

    @property
    def dropped(self) -> int:
        """How many numbers a minute leaves out."""
        return self.nominal // 15 if self.drop else 0

    def frame(self, seconds: float) -> int:
        """The first frame, from 0, that shows what a video shows at a time."""
        return max(0, math.ceil((Fraction(seconds) - ROUNDED) * self.rate))

    def code(self, frame: int) -> str:
        """The time code of a number of frames; after a day it begins again."""
        if self.drop:
            # Ten minutes have one whole minute; the others lack their first numbers.
            minute = 60 * self.nominal - self.dropped
            tens, rest = divmod(frame, 10 * minute + self.dropped)
            frame += 9 * self.dropped * tens
            frame += self.dropped * max(0, (rest - self.dropped) // minute)
        seconds, frames = divmod(frame % (DAY * self.nominal), self.nominal)
        hours, minutes = divmod(seconds // 60, 60)
        digits = len(str(self.nominal - 1))
        return f"{hours:02d}:{minutes:02d}:{seconds % 60:02d}{';' if self.drop else ':'}{frames:0{digits}d}"

    @classmethod
    def read(cls, rate: Fraction, code: str) -> Clock:
        """The clock whose first frame has a time code; or raise BadInput, whose text follows what has it."""
        found = CODE.fullmatch(code.strip())
        if found is None:
            raise BadInput(f"{code!r}, which is no time code")
        hours, minutes, seconds, frames = (int(found[place]) for place in (1, 2, 3, 5))
        clock = cls(rate, found[4] != ":")
        told = f"{code!r}, which is no time code of {_written(rate)} frames a second"
        if hours > 23 or minutes > 59 or seconds > 59 or frames >= clock.nominal:
            raise BadInput(told)
        if clock.drop and (rate.denominator == 1 or clock.nominal % 30):
            raise BadInput(f"{told}: only 29.97 and its multiples drop frames")
        if clock.drop and seconds == 0 and minutes % 10 and frames < clock.dropped:
            raise BadInput(f"{told}: this frame is one of those that are dropped")
        total = ((hours * 60 + minutes) * 60 + seconds) * clock.nominal + frames
        passed = hours * 60 + minutes
        return cls(rate, clock.drop, total - clock.dropped * (passed - passed // 10))


def _written(rate: Fraction) -> str:
    return f"{float(rate):.6g}"


def standard_rate(rate: Fraction) -> Fraction | None:
    """The rate that has time codes and comes nearest; else one that has a frame for each; None beyond all.

    12.5 frames a second are placed on 25, 15 on 30.
    """
    near = min(RATES, key=lambda one: abs(one - rate))
    if abs(near - rate) <= NEARLY * rate:
        return near
    faster = [one for one in RATES if one > rate]
    return min(faster, key=lambda one: ((one / rate).denominator != 1, one), default=None)


@dataclass(frozen=True)
class Film:
    """A video with what is seen in it, in order of time; how long it says it is, how long a frame lasts."""

    file: MediaFile
    clock: Clock
    seconds: float
    frame: Fraction
    appearances: tuple[Appearance, ...]

    @property
    def name(self) -> str:
        """Its file, without folders."""
        return PurePath(self.file.path).name

    def span(self, one: Appearance) -> tuple[int, int]:
        """The first frame of an appearance and the one behind its last, from 0."""
        first, end = self.clock.frame(one.start or 0.0), Fraction(one.end or 0.0) + self.frame
        return first, max(first + 1, self.clock.frame(float(end)))


def films(chosen: Selection) -> list[Film]:
    """The videos of a selection, each with its own clock.

    Raise BadInput if nothing of it is seen in a video, or a video cannot be read, or has no frame rate or an
    invalid time code; it says what to give instead.
    """
    found = _by_film(chosen)
    made = []
    for (file, seen), header in zip(found, _headers(found), strict=True):
        told = Header() if isinstance(header, LookalikeError) else header
        if isinstance(header, LookalikeError) and chosen.rate is None:
            raise BadInput(f"{header}; or give --rate, and --start if it does not begin at 00:00:00:00")
        clock = _clock(file, told, chosen)
        made.append(Film(file, clock, told.seconds, 1 / (told.rate or clock.rate), seen))
    return made


def _by_film(chosen: Selection) -> list[tuple[MediaFile, tuple[Appearance, ...]]]:
    """Films in the order of the selection, with what is seen in each by time."""
    seen: dict[MediaFile, list[Appearance]] = {}
    left_out = 0
    for one in chosen.appearances:
        if one.is_film and one.file is not None:
            seen.setdefault(one.file, []).append(one)
        else:
            left_out += 1
    if not seen:
        raise BadInput("there is nothing to place on a time line: none of the chosen sets is of a video")
    if left_out:
        chosen.remarks.append(f"left out, as they have no times: {left_out} in photos or unknown files")
    return [
        (file, tuple(sorted(several, key=lambda one: (one.start or 0.0, one.set_id))))
        for file, several in seen.items()
    ]


def _headers(found: Sequence[tuple[MediaFile, object]]) -> Iterator[Header | LookalikeError]:
    return read_headers_apart([Path(file.path) for file, _ in found])


def _clock(file: MediaFile, header: Header, chosen: Selection) -> Clock:
    """How the frames of a video are counted, as it says itself or, where it does not, as is asked for."""
    rate = standard_rate(header.rate) if header.rate else None
    if rate is None:
        if chosen.rate is None:
            raise BadInput(
                f"{file.path!r} does not say how many frames a second it has: give --rate, for instance 25"
            )
        rate = _asked_rate(chosen.rate)
    elif header.is_variable or abs(rate - (header.rate or rate)) > Fraction(1, 1000):
        how = "a rate that varies, on average " if header.is_variable else ""
        said = f"{how}{_written(header.rate or rate)} frames a second"
        chosen.remarks.append(f"{file.path!r} has {said}: it was placed on {_written(rate)}")
    try:
        if header.start:
            try:
                return Clock.read(rate, header.start)
            except BadInput:
                if chosen.start is None:
                    raise
        return Clock(rate) if chosen.start is None else Clock.read(rate, chosen.start)
    except BadInput as refused:
        whose = f"{file.path!r} says that it begins at" if chosen.start is None else "--start is"
        raise BadInput(f"{whose} {refused}: give --start, for instance 00:00:00:00") from None


def _asked_rate(rate: float) -> Fraction:
    """The rate that has time codes and is meant by a number from outside."""
    # Written so that it holds for what is no number, too.
    found = standard_rate(Fraction(rate).limit_denominator(1001)) if 1 <= rate <= 1000 else None
    if found is None or abs(float(found) - rate) > NEARLY * rate:
        known = ", ".join(_written(one) for one in RATES)
        raise BadInput(f"--rate is one of {known} frames a second, got {rate:g}")
    return found


def one_line(text: str) -> str:
    """A name as one line of text: whatever breaks a line or steers a terminal becomes a blank."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _each_file(made: Iterable[tuple[str, str]], suffix: str) -> bytes | dict[str, bytes]:
    """One file by itself; of several a folder, each called after its video."""
    texts = list(made)
    if len(texts) == 1:
        return texts[0][1].encode("utf-8", "backslashreplace")
    files: dict[str, bytes] = {}
    for name, text in texts:
        base, copies = one_line(name), 1
        called = f"{base}{suffix}"
        while called.casefold() in {known.casefold() for known in files}:
            copies += 1
            called = f"{base}~{copies}{suffix}"
        files[called] = text.encode("utf-8", "backslashreplace")
    return files


# WebVTT.


def as_vtt(chosen: Selection) -> bytes | dict[str, bytes]:
    """Subtitles that name whoever is seen, one file for each video."""
    found = _by_film(chosen)
    made = []
    for (file, seen), header in zip(found, _headers(found), strict=True):
        # Subtitles need no time code: a film that is gone, or has no rate, has them all the same.
        rate = None if isinstance(header, LookalikeError) else header.rate
        frame = USUAL_FRAME if not rate else 1 / rate
        made.append((PurePath(file.path).name, _vtt(seen, frame)))
    return _each_file(made, ".vtt")


def _vtt(seen: Sequence[Appearance], frame: Fraction) -> str:
    cues = ["WEBVTT\n"]
    for one in seen:
        start, end = one.start or 0.0, Fraction(one.end or 0.0) + frame
        # Sets that look like a time line would be taken for one.
        text = escape(one_line(one.label), quote=False)
        cues.append(f"{_vtt_time(start)} --> {_vtt_time(max(float(end), start + 0.001))}\n{text}\n")
    return "\n".join(cues)


def _vtt_time(seconds: float) -> str:
    whole, thousandths = divmod(round(1000 * seconds), 1000)
    minutes, whole = divmod(whole, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{whole:02d}.{thousandths:03d}"


# Edit lists, as CMX 3600 has them.


def as_edl(chosen: Selection) -> bytes:
    """An edit list of all appearances, one behind the other from 01:00:00:00 on.

    Raise BadInput if there are more than an edit list has room for, or videos whose frames are counted in
    several ways.
    """
    found = films(chosen)
    _check_events(sum(len(film.appearances) for film in found))
    ways = {(film.clock.rate, film.clock.drop) for film in found}
    if len(ways) > 1:
        told = ", ".join(sorted(f"{_written(rate)}{' drop frame' if drop else ''}" for rate, drop in ways))
        raise BadInput(
            f"an edit list has one frame rate, and these videos have {told} frames a second: "
            "export them one by one (name their sets), or choose --format otio"
        )
    clock = Clock.read(found[0].clock.rate, f"01:00:00{';' if found[0].clock.drop else ':'}00")
    reels, at, lines = _reels(found), clock.start, []
    placed = ((film, one) for film in found for one in film.appearances)
    for number, (film, one) in enumerate(placed, start=1):
        first, end = film.span(one)
        lines += [
            _event(clock, number, reels[film.file], film.clock.start + first, at, end - first),
            f"* FROM CLIP NAME: {one_line(film.name)}",
            f"* COMMENT: {one_line(one.label)}" + (f" ({one_line(one.set_id)})" if one.person else ""),
        ]
        at += end - first
    return _edl(chosen.title, clock, lines).encode("utf-8", "backslashreplace")


def as_markers(chosen: Selection) -> bytes | dict[str, bytes]:
    """Markers for DaVinci Resolve, on a time line that begins with the video; a list for each video."""
    made = []
    for film in films(chosen):
        _check_events(len(film.appearances))
        lines = []
        for number, one in enumerate(film.appearances, start=1):
            first, end = film.span(one)
            at = film.clock.start + first
            name = one_line(one.label).replace("|", "/")
            note = one_line(one.set_id).replace("|", "/") if one.person else ""
            lines += [
                _event(film.clock, number, "001", at, at, 1) + "  ",
                f"{note} |C:ResolveColorBlue |M:{name} |D:{end - first}",
                "",
            ]
        made.append((film.name, _edl(film.name, film.clock, lines)))
    return _each_file(made, ".edl")


def _check_events(count: int) -> None:
    if count > MOST_EVENTS:
        raise BadInput(
            f"an edit list has room for {MOST_EVENTS} events, and {count} were chosen: "
            "choose fewer sets, or --format otio"
        )


def _edl(title: str, clock: Clock, lines: Iterable[str]) -> str:
    mode = "DROP FRAME" if clock.drop else "NON-DROP FRAME"
    return "\n".join([f"TITLE: {one_line(title)}", f"FCM: {mode}", "", *lines, ""])


def _event(clock: Clock, number: int, reel: str, source: int, record: int, length: int) -> str:
    places = (source, source + length, record, record + length)
    codes = " ".join(clock.code(frame) for frame in places)
    return f"{number:03d}  {reel:<{REEL}} V     C        {codes}"


def _reels(found: Sequence[Film]) -> dict[MediaFile, str]:
    """A name of eight letters or digits for each video, none twice."""
    reels: dict[MediaFile, str] = {}
    for film in found:
        stem = re.sub("[^A-Z0-9]", "", PurePath(film.name).stem.upper()) or "FILM"
        reel, copies = stem[:REEL], 1
        while reel in reels.values():
            copies += 1
            reel = f"{stem[: REEL - len(str(copies))]}{copies}"
        reels[film.file] = reel
    return reels


# OpenTimelineIO. Its files are JSON, and so simple that no library is needed to write one.


def as_otio(chosen: Selection) -> bytes:
    """A time line of all appearances, one behind the other, each clip with the clock of its own video."""
    found = films(chosen)
    clips = [_clip(film, one) for film in found for one in film.appearances]
    clock = found[0].clock
    track = _thing("Track.1", "", kind="Video", children=clips)
    stack = _thing("Stack.1", "", children=[track])
    begin = _moment(3600 * clock.nominal, clock.rate)
    told = _thing("Timeline.1", one_line(chosen.title), global_start_time=begin, tracks=stack)
    return (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _thing(schema: str, name: str, **more: Any) -> dict[str, Any]:
    return {"OTIO_SCHEMA": schema, "metadata": {}, "name": name, **more}


def _moment(frames: int, rate: Fraction) -> dict[str, Any]:
    return {"OTIO_SCHEMA": "RationalTime.1", "rate": float(rate), "value": float(frames)}


def _range(start: int, length: int, rate: Fraction) -> dict[str, Any]:
    return {
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": _moment(start, rate),
        "duration": _moment(length, rate),
    }


def _clip(film: Film, one: Appearance) -> dict[str, Any]:
    clock = film.clock
    first, end = film.span(one)
    length = max(end, round(film.seconds * clock.rate))
    media = _thing(
        "ExternalReference.1",
        one_line(film.name),
        target_url=f"file://{quote(PurePath(film.file.path).as_posix())}",
        available_range=_range(clock.start, length, clock.rate),
    )
    media["metadata"] = {
        "lookalike": {
            "start_timecode": clock.code(clock.start),
            "drop_frame": clock.drop,
            "file_sha256": film.file.content,
        }
    }
    return {
        "OTIO_SCHEMA": "Clip.2",
        "metadata": {"lookalike": one.row()},
        "name": one_line(one.label),
        "source_range": _range(clock.start + first, end - first, clock.rate),
        "media_references": {"DEFAULT_MEDIA": media},
        "active_media_reference_key": "DEFAULT_MEDIA",
        "effects": [],
        "markers": [],
        "enabled": True,
    }

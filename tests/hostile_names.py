"""More than two hundred names that mean harm to whoever shows them, and a reader that sees what they did."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import product

# What closes the place where a name stands, and what would then run or load.
OPENINGS = ("", '"', "'", "`", ">", '">', "'>", "</td>", "</bdi>", "</title>", "</script>", "</style>", "-->")
CODE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.invalid/x.css>",
    "<meta http-equiv=refresh content=0;url=//evil.invalid>",
    "<base href=//evil.invalid/>",
    "<form action=//evil.invalid><input name=a>",
    " onmouseover=alert(1) x=",
    " style=background:url(//evil.invalid) x=",
    "<a href=javascript:alert(1)>click</a>",
    "<!--",
    "<![CDATA[",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
)
OTHERS = (
    "{{ 7*7 }}",
    "{% raw %}",
    "{# note #}",
    "${alert(1)}",
    "#{7*7}",
    "<%= 7*7 %>",
    "$\\href{javascript:alert(1)}{x}$",
    "\\(\\require{html}\\)",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "&amp;amp;",
    "&quot;onload=x",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "\u202egpj.exe",
    "\u2066\u202e>tpircs<",
    "\u2028alert(1)\u2029",
    "\ufeff<script>",
    "\uff1cscript\uff1e",
    "\u00a0",
    "a\ufffdb",
    "../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "//evil.invalid/x",
    "file:///etc/passwd",
    "?token=1#x",
    "%3Cscript%3E",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(1)",
    "a" * 1000,
    "\U0001f469\u200d\U0001f680" * 40,
    "Z\u0351\u036b\u0343" * 80,
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "NaN",
    "-1",
    "'; DROP TABLE sets; --",
)
NAMES = tuple(dict.fromkeys((*OTHERS, *(a + b for a, b in product(OPENINGS, CODE)))))
# For whoever hands names on to what was tried with all of them: one that breaks out of an attribute into a
# script, one that a template would compute, one that turns the direction of writing.
FEW = ('"><script>alert(1)</script>', "{{ 7*7 }}", "\u2066\u202e>tpircs<")


class Tags(HTMLParser):
    """Every tag with the names of its attributes, every address and all text, as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", ()))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", ()))

    def handle_decl(self, decl: str) -> None:
        self.tags.append(("declaration", ()))

    def unknown_decl(self, data: str) -> None:
        self.tags.append(("declaration", ()))

    def handle_pi(self, data: str) -> None:
        self.tags.append(("instruction", ()))

    def handle_data(self, data: str) -> None:
        self.text += data

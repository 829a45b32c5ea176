# SPDX-License-Identifier: MIT
"""A thousand names that a page may take for something else than text: each of these, with a number so that each is
unlike all others."""

COUNT = 1000
SHAPES = (
    "<script>hacked = {n}</script>", "<img src=x onerror='hacked = {n}'>", "\"><svg onload=\"hacked = {n}\">",
    "</a></td></table><h1>{n}</h1>", "javascript:hacked={n}", "' autofocus onfocus='hacked = {n}",
    "{{{{ {n} * {n} }}}}", "${{hacked = {n}}}",
    "%3Cscript%3Ehacked={n}%3C/script%3E", "&lt;b&gt; &amp; &#{n}; &quot;", "<!-- {n} -->",
    "<style>* {{ display: none }}</style>{n}", "<base href='https://example.org/{n}'>",
    "<meta http-equiv=refresh content='0; url=https://example.org/{n}'>",
    "<iframe srcdoc='<script>hacked={n}</script>'>",
    "<form action='https://example.org/{n}'><button>", "\u202egnp.{n}\u202c",
    "\u200b\u200d\ufeff{n}", "e\u0301\u0323{n}",
    "\U0001f469\u200d\U0001f680 {n}", "\u0645\u0644\u0641 {n}", "\u540d\u524d {n}", "../../etc/passwd {n}", "CON.{n}",
    "a b\u00a0c\u2003{n}", "__proto__ {n}", "constructor.{n}", "null {n}", "{n}" + "w" * 240, "`{n}` $(id) ; rm -rf",
    "=cmd|' /C calc'!A{n}", "{n}\u2028\u2029", "<x-y is=\"z\">{n}</x-y>",
)


def names():
    """The list of them."""
    return [SHAPES[number % len(SHAPES)].format(n=number) for number in range(COUNT)]

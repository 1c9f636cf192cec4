"""Texts as a model, a tool or a page that it read may give them, to do harm where they are shown."""

MARK = "window.pwned = true"

SCRIPTS = (
    f"<script>{MARK}</script>",
    f"<img src=x onerror='{MARK}'>",
    f"<svg onload='{MARK}'>",
    f'<a href="javascript:{MARK}">here</a>',
    f"[here](javascript:{MARK.replace(' ', '')})",
    f"[here](<javascript:{MARK}>)",
    f"[here](JaVaScRiPt:{MARK.replace(' ', '')})",
    f"[here](&#106;avascript:{MARK.replace(' ', '')})",
    f"[here](java\tscript:{MARK.replace(' ', '')})",
    f"[here](data:text/html,<script>{MARK}</script>)",
    "[here](vbscript:msgbox)",
    "[here](file:///etc/passwd)",
    f"<javascript:{MARK.replace(' ', '')}>",
    f'![x](x" onerror="{MARK})',
    f'![x](https://example.com/x.png "\\" onerror=\'{MARK}\'")',
    f'[x](https://example.com/"onclick="{MARK.replace(" ", "")})',
    f"[ref]\n\n[ref]: javascript:{MARK.replace(' ', '')}",
    f"```<img/src=x/onerror={MARK.replace(' ', '')}>\ncode\n```",
    f"```py\n</code></pre><script>{MARK}</script>\n```",
    f"    </code></pre><script>{MARK}</script>",
    f"`</code><script>{MARK}</script>`",
    f"|a|\n|-|\n|<script>{MARK}</script>|",
    f'|a|\n|:-:" onclick="{MARK}|\n|b|',
    f"# <script>{MARK}</script>",
    f"</details></div></section></main><script>{MARK}</script>",
    f"<details open ontoggle='{MARK}'>",
    f'<iframe srcdoc="<script>parent.{MARK}</script>">',
    f"<form action='javascript:{MARK}'><button>press</button></form>",
    "<style>@import 'https://example.com/x.css'</style><base href='https://example.com/'>",
    f"<meta http-equiv=refresh content='0;url=javascript:{MARK}'>",
    f"<math><mtext><table><mglyph><style><img src=x onerror='{MARK}'>",
    f"<!--><img src=x onerror='{MARK}'>-->",
    f"<noscript><p title=\"</noscript><img src=x onerror='{MARK}'>\">",
    f"<template><script>{MARK}</script></template>",
)

UNCLOSED = (
    "<div><b><table><tr><td>",
    "<!-- never closed",
    "```\nnever closed",
    "<textarea>",
    "<title>",
    "**a _b `c",
    "<a href='",
)

ESCAPES = (
    "\x1b]52;c;cm0gLXJmIC8=\x07clipboard",
    "\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]0;title\x9cafter",
    "\x9d0;title\x9cafter",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x9b2Jcleared",
    "\x1bP+q544e\x1b\\dcs",
    "\x1b]2;never ended\nnext line",
    "bell\x07 null\x00 del\x7f backspace\x08\x08 cr\rover",
)

ALL = (*SCRIPTS, *UNCLOSED, *ESCAPES)

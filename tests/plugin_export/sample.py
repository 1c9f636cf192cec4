"""A conversation that has everything."""

from typing import Any

EVENTS: list[dict[str, Any]] = [
    {"type": "config_delta", "timestamp": "2026-03-01 10:00:00.000000", "delta": {}},
    {"timestamp": "2026-03-01 10:00:00.000000", "type": "turn_start"},
    {
        "timestamp": "2026-03-01 10:00:00.000000",
        "type": "chat_request",
        "content": "Why does *this* fail?\n\n    x = <y>\n",
        "author": "Ada",
    },
    {"timestamp": "2026-03-01 10:00:01.000000", "type": "chat_response", "reasoning": "Look at `x`.\n"},
    {
        "timestamp": "2026-03-01 10:00:02.000000",
        "type": "tool_call_request",
        "id": "1",
        "name": "read_file",
        "arguments": {"path": "a.py", "lines": [1, 2]},
    },
    {
        "timestamp": "2026-03-01 10:00:03.000000",
        "type": "inquiry_request",
        "id": "1.allow",
        "source": {"source": "tool", "name": "read_file"},
        "question": {"text": "Read **a.py**?", "answer_type": {"type": "boolean"}},
    },
    {"timestamp": "2026-03-01 10:00:04.000000", "type": "inquiry_response", "id": "1.allow", "answer": True},
    {
        "timestamp": "2026-03-01 10:00:05.000000",
        "type": "tool_call_response",
        "id": "1",
        "content": "```\nx = y\n```\n",
        "is_error": False,
    },
    {"timestamp": "2026-03-01 10:00:06.000000", "type": "chat_response", "message": "It is `y`:\n\n```py\nx = 1\n"},
    {"timestamp": "2026-03-02 11:30:00.000000", "type": "turn_start"},
    {"timestamp": "2026-03-02 11:30:00.000000", "type": "chat_request", "content": "As JSON"},
    {"timestamp": "2026-03-02 11:30:01.000000", "type": "chat_response", "data": {"fixed": True}},
]

MARKDOWN = """\
# Why \\<y\\> \\*fails\\*

Conversation 17000000001 · 2 turns · last used 2026-03-02 11:30 UTC

## Turn 1 · 2026-03-01 10:00 UTC

> **Ada**
>
> Why does *this* fail?
>
>     x = <y>

It is `y`:

```py
x = 1
```

## Turn 2 · 2026-03-02 11:30 UTC

> As JSON

```json
{
  "fixed": true
}
```
"""

MARKDOWN_WITH_ALL = """\
# Why \\<y\\> \\*fails\\*

Conversation 17000000001 · 2 turns · last used 2026-03-02 11:30 UTC

## Turn 1 · 2026-03-01 10:00 UTC

> **Ada**
>
> Why does *this* fail?
>
>     x = <y>

<details>
<summary>Reasoning</summary>

Look at `x`.

</details>

<details>
<summary>Tool <code>read_file</code></summary>

```json
{
  "path": "a.py",
  "lines": [
    1,
    2
  ]
}
```

read\\_file asked:

> Read **a.py**?

Answer: yes

Result:

````
```
x = y
```
````

</details>

It is `y`:

```py
x = 1
```

## Turn 2 · 2026-03-02 11:30 UTC

> As JSON

```json
{
  "fixed": true
}
```
"""

HTML_BODY_WITH_ALL = """\
<main class="document">
<header>
<h1 dir="auto">Why &lt;y&gt; *fails*</h1>
<p class="about">Conversation 17000000001 · 2 turns · last used 2026-03-02 11:30 UTC</p>
</header>
<section class="turn" id="turn-1" aria-labelledby="turn-1-name">
<h2 id="turn-1-name"><a href="#turn-1">Turn 1</a> <time datetime="2026-03-01T10:00:00Z">2026-03-01 10:00</time></h2>
<div class="request" id="part-2"><p class="who">Ada</p><div class="said" dir="auto">Why does *this* fail?

    x = &lt;y&gt;</div></div>
<details class="reasoning" id="part-3"><summary>Reasoning</summary>
<p>Look at <code>x</code>.</p>
</details>
<details class="tool" id="part-4"><summary>Tool <code>read_file</code> <span class="gist">a.py</span></summary>
<dl class="arguments">
<dt>path</dt><dd><code>a.py</code></dd>
<dt>lines</dt><dd><pre><code>[
  <span class="hl-constant">1</span>,
  <span class="hl-constant">2</span>
]
</code></pre>
</dd>
</dl>
<p class="label">read_file asked</p>
<p>Read <strong>a.py</strong>?</p>
<p class="answer">yes</p>
<p class="label">Result</p>
<pre><code>```
x = y
```
</code></pre>
</details>
<div class="reply" id="part-8" dir="auto">
<p>It is <code>y</code>:</p>
<pre><code>x = <span class="hl-constant">1</span>
</code></pre>
</div>
</section>
<section class="turn" id="turn-2" aria-labelledby="turn-2-name">
<h2 id="turn-2-name"><a href="#turn-2">Turn 2</a> <time datetime="2026-03-02T11:30:00Z">2026-03-02 11:30</time></h2>
<div class="request" id="part-10"><p class="who">You</p><div class="said" dir="auto">As JSON</div></div>
<div class="reply" id="part-11">
<pre><code>{
  <span class="hl-tag">&quot;fixed&quot;</span>: <span class="hl-constant">true</span>
}
</code></pre>
</div>
</section>
</main>
</body>
</html>
"""

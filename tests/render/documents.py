"""Documents that tests render: the kinds of answers that models give, and a few that they should not."""

from __future__ import annotations

ANSWER = """\
# Title here *with emph* ##
Intro paragraph with **bold text**, *italics*, `code span`, ~~gone~~ and a [link](https://example.com/a_b) and
<https://auto.link/x>. Bare https://example.com/foo_bar_baz, ok. 2 * 3 * 4 and snake_case_name; a very long line so that
it has to wrap at some point 你好世界这是一个很长的中文句子，没有空格。应该在任何地方换行。

- item one
- item **two** with a long text that wraps around to the next line because it is long enough
  continued
  1. nested
  1. second

     paragraph in it
     ```python
     def f(x):
         \"\"\"Doc
         string\"\"\"
         return x + 1
     ```
- [ ] task
- [x] done

> quote with text that is long enough to be wrapped at the width
> > nested quote
> - list in quote

| Name | Value | Description |
|:-----|------:|:-----------:|
| a | 1 | short |
| 你好 | 22 | a **long** cell that has to be wrapped since it is much longer than the column width max |
| `x` | 333 | [l](http://x.y)<br>second |

***

```c
/* multi
   line */
int main(void) { return 0; }
```
Hard break here  \nnext\\
third

    indented code

    more

<div>
html *x*
</div>

End *unclosed and **more
next line**
"""

MALFORMED = """\
**bold *both** italic* `open
[link](http://a.b "title
with line") ![img](<c d>) [x][y] [z]: <w
| a | b
|---|---|
| only | head |
|---|---|
- - - nested
 * * *
>>> deep
lazy
1) one
   2) two
10. ten
\ttab
-\tx
***a** b* __c_ d__ ~~e~ f~~ \\*g\\* &amp; &#x41; &bogus;
```` info
``` not the end
````
~~~
```
"""

TEXT = ("The quick brown fox jumps over the lazy dog; " * 7).strip() + "\n\n" + "word\n" * 5

DOCUMENTS = {
    "answer": ANSWER,
    "malformed": MALFORMED,
    "text": TEXT,
    "windows line ends": ANSWER.replace("\n", "\r\n"),
    "no line end": ANSWER.rstrip("\n"),
    "in a quote": "".join(f"> {line}\n" for line in ANSWER.split("\n")),
    "in an item": "1. " + ANSWER.replace("\n", "\n   "),
}

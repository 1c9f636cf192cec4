"""A server without the SDK that does one thing wrong: `raw_server.py MODE`. It has one tool, `do`."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

MODE = sys.argv[1]
BIG = int(sys.argv[2]) if len(sys.argv) > 2 else 0


def put(text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    while data:
        data = data[os.write(1, data) :]


def send(**message: Any) -> None:
    put(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def answer(number: Any, result: Any) -> None:
    if MODE == "modern":
        result = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0, **result}
    send(id=number, result=result)


def note(what: Any) -> None:
    """Leave a line for the test in the file that it names."""
    if os.environ.get("NOTES"):
        with open(os.environ["NOTES"], "a") as notes:
            notes.write(json.dumps(what) + "\n")


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def initialize(number: Any, params: dict[str, Any]) -> None:
    if MODE == "silent":
        return
    if MODE == "modern":
        data = {"supported": ["2026-07-28"], "requested": params["protocolVersion"]}
        send(id=number, error={"code": -32022, "message": "an old version", "data": data})
        return
    if MODE == "refuses":
        send(id=number, error={"code": -32000, "message": "not today"})
        return
    if MODE == "flood":
        while True:
            put(b"y\n" * 30000)
    if MODE == "old":
        version = "2024-11-05"
    else:
        version = params["protocolVersion"] if MODE != "unknown" else "1999-01-01"
    if MODE == "garbage":
        put('Server starting...\n\n[1, 2]\n{\n"text"\n{}\nnull\n' + "[" * 100000 + "\n")
        put(b'\xff\xfe\x00\n{"jsonrpc":"2.0","method":1}\n')
        put('{"jsonrpc":"2.0","method":"notifications/nonsense","params":{}}\r\n')
    capabilities = {} if MODE == "toolless" else {"tools": {"listChanged": True}}
    answer(
        number, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "x", "version": "1"}}
    )


def tools(number: Any, params: dict[str, Any]) -> None:
    if MODE == "notools":
        answer(number, {"tools": "none"})
        return
    tool: dict[str, Any] = {"name": "do", "description": "Do it.", "inputSchema": {"type": "object"}}
    if MODE == "pattern":
        tool["outputSchema"] = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    result: dict[str, Any] = {"tools": [tool]}
    if MODE == "pages":
        page = int(params.get("cursor") or 0)
        result["tools"] = [{**tool, "name": f"do{page}"}]
        if page < 2:
            result["nextCursor"] = str(page + 1)
    if MODE == "crowd":
        result["tools"] = [{**tool, "name": f"do{number}"} for number in range(BIG)]
    if MODE == "names":
        result["tools"] = [{**tool, "name": name} for name in ("do", "x" * 129, "a\nb", "c\x1b[2J", "")]
    if MODE == "endless":
        result["nextCursor"] = "again"
    if MODE == "later":
        send(method="notifications/tools/list_changed")
    answer(number, result)


def call(number: Any, params: dict[str, Any]) -> None:
    if MODE == "big":
        answer(number, text("begin" + "x" * BIG + "end"))
    elif MODE == "many":
        answer(number, {"content": [], "structuredContent": {"a": [[1]] * (BIG // 5)}})
    elif MODE == "bigid":
        put(json.dumps({"result": text("x" * BIG), "id": number, "jsonrpc": "2.0"}) + "\n")
    elif MODE == "bignote":
        send(method="notifications/message", params={"level": "info", "data": "x" * BIG})
    elif MODE == "twice":
        answer(number, text("first"))
        answer(number, text("second"))
        answer(99999, text("stray"))
        answer(str(number), text("third"))
    elif MODE == "wrong":
        answer(number, {"content": 5})
    elif MODE == "noresult":
        send(id=number)
    elif MODE == "surrogate":
        put(json.dumps({"jsonrpc": "2.0", "id": number, "result": text("a\ud800b")}) + "\n")
    elif MODE == "invalid":
        put(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xffb"}]}}\n' % number)
    elif MODE == "pattern":
        answer(number, {**text("ok"), "structuredContent": {"a": "a" * 40 + "!"}})
    elif MODE == "exits":
        print("out of luck", file=sys.stderr, flush=True)
        sys.exit(7)
    elif MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "closes":
        os.close(1)
        time.sleep(600)
    elif MODE == "leaves":
        subprocess.Popen(["sleep", "600"])
        os._exit(4)
    elif MODE == "asks":
        for each in range(2500):
            send(id=f"{each}{'q' * 300}", method="ping")
        time.sleep(600)
    elif MODE == "data":
        answer(number, {"content": [], "structuredContent": {"a": [1, None, "ü"]}})
    elif MODE == "empty":
        answer(number, {"content": [], "isError": True})
    elif MODE == "error":
        send(id=number, error={"code": -32602, "message": "no such thing"})
    elif MODE == "deaf":
        time.sleep(600)
    elif MODE == "slow":
        note({"called": number})
    else:
        answer(number, text(json.dumps(params)))


def main() -> None:
    if MODE == "dies":
        print("first\nno \x1b[31mkey\x1b[0m is set", file=sys.stderr, flush=True)
        sys.exit(3)
    if MODE == "noise":
        os.write(2, b"x" * 3_000_000 + b"\n" + b"line\n" * 5000)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params") or {}
        method = message.get("method")
        if method == "initialize":
            initialize(message["id"], params)
        elif method == "server/discover":
            if MODE == "modern":
                answer(message["id"], {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            else:
                send(id=message["id"], error={"code": -32601, "message": "unknown"})
        elif method == "tools/list":
            tools(message["id"], params)
        elif method == "tools/call":
            call(message["id"], params)
        else:
            note(message)
    while MODE == "stubborn":
        time.sleep(600)


main()

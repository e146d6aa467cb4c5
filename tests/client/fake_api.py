"""A Messages API that plays a script and remembers what it was sent.

Standard library only. A script is a list of turns; a turn is a list of blocks,
{"text": ...} or {"tool": NAME, "input": {...}}. Which turn is played follows
from the number of assistant messages in the request, so a repeated request gets
the same answer. A conversation whose first user message holds a key of
`scripts` plays that script, any other the script "main". Requests that offer no
tools (titles, summaries) get one line of text.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def user_text(message):
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [] if isinstance(block, dict))


class FakeApi:
    """Listens on a free port of 127.0.0.1; `requests` holds the bodies."""

    def __init__(self, scripts):
        self.scripts = scripts
        self.requests = []
        self.lock = threading.Lock()
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer_json({})

            def do_GET(self):
                self.answer_json({"data": [], "has_more": False})

            def do_POST(self):
                body = json.loads(self.read_body() or b"{}")
                path = self.path.split("?")[0]
                if path.endswith("/count_tokens"):
                    return self.answer_json({"input_tokens": 100})
                if not path.endswith("/v1/messages"):
                    return self.answer_json({})
                with api.lock:
                    api.requests.append(body)
                    number = len(api.requests)
                blocks = api.turn(body, number)
                if body.get("stream"):
                    self.answer_stream(body, blocks, number)
                else:
                    message = envelope(body, number)
                    message.update(content=blocks, stop_reason=stop_reason(blocks))
                    self.answer_json(message)

            def read_body(self):
                if "chunked" not in (self.headers.get("Transfer-Encoding") or ""):
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = b""
                while length := int(self.rfile.readline().strip() or b"0", 16):
                    body += self.rfile.read(length)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def start(self, kind, length=None):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                if length is not None:
                    self.send_header("Content-Length", str(length))
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True

            def answer_json(self, value):
                data = json.dumps(value).encode()
                self.start("application/json", len(data))
                if self.command != "HEAD":
                    self.wfile.write(data)

            def answer_stream(self, body, blocks, number):
                self.start("text/event-stream")

                def send(name, **fields):
                    data = json.dumps({"type": name, **fields})
                    self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
                    self.wfile.flush()

                try:
                    send("message_start", message=envelope(body, number))
                    for index, block in enumerate(blocks):
                        if block["type"] == "text":
                            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
                        else:
                            start = {**block, "input": {}}
                            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                        send("content_block_start", index=index, content_block=start)
                        send("content_block_delta", index=index, delta=delta)
                        send("content_block_stop", index=index)
                    send("message_delta", delta={"stop_reason": stop_reason(blocks), "stop_sequence": None}, usage={"output_tokens": 9})
                    send("message_stop")
                except (BrokenPipeError, ConnectionResetError):
                    pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def turn(self, body, number):
        if not body.get("tools"):
            return [{"type": "text", "text": "A summary of the conversation."}]
        messages = body.get("messages") or []
        first = "\n".join(user_text(m) for m in messages if m.get("role") == "user")
        name = next((key for key in self.scripts if key != "main" and key in first), "main")
        step = sum(1 for message in messages if message.get("role") == "assistant")
        script = self.scripts[name]
        turn = script[step] if step < len(script) else [{"text": "done"}]
        return [self.block(block, number, index) for index, block in enumerate(turn)]

    @staticmethod
    def block(block, number, index):
        if "text" in block:
            return {"type": "text", "text": block["text"]}
        call = f"toolu_check{number:03d}{index}"
        return {"type": "tool_use", "id": call, "name": block["tool"], "input": block["input"]}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class FakeResponses:
    """The same for OpenAI's Responses API: `calls` is a list of
    {"call": NAME, "args": {...}} or {"text": ...}; which one is played follows
    from the number of call outputs in the request."""

    def __init__(self, calls):
        self.calls = calls
        self.requests = []
        self.lock = threading.Lock()
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def begin(self, kind, length=None):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                if length is not None:
                    self.send_header("Content-Length", str(length))
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True

            def do_GET(self):
                data = b'{"data": [], "models": []}'
                self.begin("application/json", len(data))
                self.wfile.write(data)

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if not self.path.split("?")[0].endswith("/responses"):
                    return self.do_GET()
                body = json.loads(raw)
                with api.lock:
                    api.requests.append(body)
                    number = len(api.requests)
                self.begin("text/event-stream")
                usage = {"input_tokens": 9, "input_tokens_details": None, "output_tokens": 9,
                         "output_tokens_details": None, "total_tokens": 18}
                for event in [
                    {"type": "response.created", "response": {"id": f"resp_{number}"}},
                    {"type": "response.output_item.done", "output_index": 0, "item": api.item(body, number)},
                    {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
                ]:
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
                    self.wfile.flush()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def item(self, body, number):
        step = sum(1 for item in body.get("input", []) if str(item.get("type", "")).endswith("call_output"))
        turn = self.calls[step] if step < len(self.calls) else {"text": "done"}
        if "text" in turn:
            content = [{"type": "output_text", "text": turn["text"]}]
            return {"type": "message", "id": f"m_{number}", "role": "assistant", "content": content}
        # MCP tools are told apart by a namespace.
        space = {"namespace": turn["namespace"]} if "namespace" in turn else {}
        return {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": turn["call"],
                "arguments": json.dumps(turn["args"]), **space}

    stop = FakeApi.stop


def envelope(body, number):
    usage = {"input_tokens": 9, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"id": f"msg_{number:03d}", "type": "message", "role": "assistant", "model": body.get("model", "m"),
            "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}


def stop_reason(blocks):
    return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"

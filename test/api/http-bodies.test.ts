/**
 * Request bodies and malformed bytes: multipart, limits while reading (S3), truncated bodies, wrong lengths and invalid
 * encodings. Each case ends in a declared error or a closed connection, writes nothing, and the server handles the next
 * request.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { expects, outcome, refusal } from "../support/client.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const message = "type=direct&to=[2]&content=x";
const tooLarge = refusal(`The request body is over ${limits.body_bytes_max} bytes`, "PAYLOAD_TOO_LARGE", 413);

/** A request head for POST /messages by the owner. */
function head(headers: string, path = "/api/v1/messages"): string {
  const type = /content-type:/i.test(headers) ? "" : "Content-Type: application/x-www-form-urlencoded\r\n";
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner.authorization}\r\n${type}${headers}\r\n\r\n`;
}

/** Runs `act`, and checks that nothing was written and the server still answers. */
async function checkNoTrace(t: Test, act: () => Promise<unknown>): Promise<void> {
  const changes = await owner.watchChanges();
  await act();
  t.strictSame(await changes(), [], "nothing was written");
  t.equal((await owner.anonymous().get("/server_settings")).status, 200, "the server still answers");
}

/** A body of this size that sends a message; an unknown parameter fills it up. */
function formOf(bytes: number): string {
  return `${message}&pad=`.padEnd(bytes, "p");
}

function multipart(boundary: string, parts: readonly string[], end = `--${boundary}--\r\n`): string {
  return parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("") + end;
}

function field(name: string, value: string): string {
  return `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
}

const messageParts = [field("type", "direct"), field("to", "[2]"), field("content", "grüß dich")];

function postMultipart(contentType: string, body: string) {
  return owner.send("POST", "/messages", body, { "Content-Type": contentType });
}

t.test("[behaviour 1.3] multipart bodies are read like forms, however the boundary is quoted", async (t) => {
  const types = [
    ["B", "multipart/form-data; boundary=B"],
    ["B", 'multipart/form-data; boundary="B"'],
    ["a b:c", 'multipart/form-data; boundary="a b:c"'],
    ["B", "multipart/form-data;boundary=B"],
    ["B", "multipart/form-data; charset=utf-8; boundary=B"],
    ["B", 'multipart/form-data; boundary="B"; charset=utf-8'],
    ["B", "multipart/form-data; boundary=B; charset=utf-8"],
    ["B", "Multipart/Form-Data; Boundary=B"],
  ] as const;
  for (const [boundary, type] of types) {
    const sent = await postMultipart(type, multipart(boundary, messageParts));
    t.match(outcome(sent), { status: 200, body: { result: "success", id: Number } }, type);
    if (sent.status !== 200) continue;
    const read = await owner.get(`/messages/${sent.body.id}`);
    t.equal(read.body.raw_content, "grüß dich");
  }
});

t.test("[behaviour 1.3] a part with a file name is an ordinary value; unknown parts are listed", async (t) => {
  const file =
    'Content-Disposition: form-data; name="content"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nfrom a file';
  const sent = await postMultipart(
    "multipart/form-data; boundary=B",
    multipart("B", [field("type", "direct"), field("to", "[2]"), file, field("größe", "1")]),
  );
  t.strictSame(sent.body.ignored_parameters_unsupported, ["größe"]);
  t.equal((await owner.get(`/messages/${sent.body.id}`)).body.raw_content, "from a file");
});

t.test("[D45] a malformed multipart body and a repeated parameter are rejected", async (t) => {
  const malformed = refusal("Malformed multipart body");
  const good = multipart("B", messageParts);
  await checkNoTrace(t, async () => {
    await expects(t, postMultipart("multipart/form-data", good), malformed, "no boundary");
    await expects(t, postMultipart("multipart/form-data; boundary=", good), malformed, "an empty one");
    await expects(t, postMultipart("multipart/form-data; boundary=C", good), malformed, "another one");
    await expects(t, postMultipart("multipart/form-data; boundary=B", "no parts"), malformed);
    await expects(
      t,
      postMultipart("multipart/form-data; boundary=B", multipart("B", [...messageParts, "\r\nnameless"])),
      malformed,
      "a part without a name",
    );
    await expects(
      t,
      postMultipart("multipart/form-data; boundary=B", multipart("B", [...messageParts, field("to", "[2]")])),
      "Parameter 'to' was sent twice",
    );
    const parts = Array.from({ length: limits.form_parameters_max + 1 }, (_, index) => field(`n${index}`, ""));
    await expects(
      t,
      postMultipart("multipart/form-data; boundary=B", multipart("B", parts)),
      "Too many parameters",
      "[S3] form_parameters_max",
    );
    const bytes = Buffer.from(multipart("B", [...messageParts, field("local_id", "\u00ff")]), "latin1");
    const answer = await owner.send("POST", "/messages", bytes, { "Content-Type": "multipart/form-data; boundary=B" });
    t.strictSame(outcome(answer), refusal("The request body is not valid UTF-8"));
  });
});

t.test("[S3] the headers of a multipart part are bounded: their bytes, their lines, their parameters", async (t) => {
  const bytesMax = limits.upload_part_headers_bytes_max;
  const linesMax = limits.upload_part_headers_max;
  const parametersMax = limits.upload_part_header_parameters_max;
  const disposition = 'Content-Disposition: form-data; name="content"';
  const headed = (headers: string) =>
    postMultipart(
      "multipart/form-data; boundary=B",
      multipart("B", [...messageParts.slice(0, 2), `${headers}\r\n\r\nheaded`]),
    );
  const line = "X-More: ";
  const padded = (bytes: number) => `${disposition}\r\n${line}`.padEnd(bytes, "x");
  const lines = (count: number) => [...Array(count - 1).fill("X-More: 1"), disposition].join("\r\n");
  const parameters = (count: number) => `Content-Disposition: form-data${"; a=1".repeat(count - 1)}; name="content"`;
  const fitting = [padded(bytesMax), lines(linesMax), parameters(parametersMax)];
  for (const headers of fitting) t.equal((await headed(headers)).status, 200);
  const over = [padded(bytesMax + 1), lines(linesMax + 1), parameters(parametersMax + 1)];
  await checkNoTrace(t, async () => {
    for (const headers of over) await expects(t, headed(headers), "Malformed multipart body");
  });
});

t.test("[behaviour 1.3] a JSON body counts as no parameters, like any other type", async (t) => {
  const missing = refusal("Missing 'type' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "type" });
  await checkNoTrace(t, async () => {
    for (const type of ["application/json", "text/plain", "application/octet-stream"]) {
      const body = JSON.stringify({ type: "direct", to: [2], content: "x" });
      await expects(t, owner.send("POST", "/messages", body, { "Content-Type": type }), missing, type);
    }
    const answer = await exchange(server.url, head("Content-Type: text/plain\r\nContent-Length: 28") + message);
    t.strictSame(JSON.parse(answer?.text ?? ""), missing.body, "a form without its content type");
  });
});

t.test("[D45] invalid percent-encoding is rejected in a body and in a query", async (t) => {
  const malformed = refusal("Malformed form encoding");
  await checkNoTrace(t, async () => {
    // A lone %, a truncated escape, no hex digits, and invalid UTF-8: a lone byte, overlong, half a surrogate pair,
    // beyond the last plane.
    for (const broken of ["%", "%4", "%zz", "%ff", "%c0%80", "%ed%a0%80", "%f4%90%80%80"]) {
      const inBody = await owner.send("POST", "/messages", `${message}&local_id=${broken}`);
      t.strictSame(outcome(inBody), malformed, `${broken} in a value`);
      const inName = await owner.send("POST", "/messages", `${message}&${broken}=1`);
      t.strictSame(outcome(inName), malformed, `${broken} in a name`);
      const inQuery = await owner.send("POST", `/messages?local_id=${broken}`, message);
      t.strictSame(outcome(inQuery), malformed, `${broken} in the query`);
    }
  });
});

t.test("[D45] a path with invalid percent-encoding is rejected with the error envelope", async (t) => {
  for (const path of ["/messages/%", "/messages/%zz", "/messages/%ff", "/%c0%80"]) {
    const { status, body } = await owner.get(path);
    t.ok(status === 404 || status === 400, path);
    t.match(body, { result: "error", msg: String, code: /^(NOT_FOUND|BAD_REQUEST)$/ });
  }
});

t.test("[D45] invalid UTF-8 is rejected in a body and harmless in headers", async (t) => {
  await checkNoTrace(t, async () => {
    const body = Buffer.concat([Buffer.from(`${message}&local_id=`), Buffer.from([0xff, 0xfe])]);
    await expects(t, owner.send("POST", "/messages", body), "The request body is not valid UTF-8");
    const strange = Buffer.from(
      "GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nAuthorization: Basic \u00ff\u00fe\r\n\r\n",
      "latin1",
    );
    t.equal((await exchange(server.url, strange))?.status, 401, "in Authorization");
    const noText = `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString("base64")}`;
    const refused = await owner.anonymous().get("/users/me", {}, { Authorization: noText });
    t.strictSame(outcome(refused), refusal("Invalid authorization header for basic auth", "UNAUTHORIZED", 401));
  });
  const get = `GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner.authorization}\r\n`;
  for (const name of ["User-Agent", "Origin", "Idempotency-Key", "X-Unknown"]) {
    const bytes = Buffer.from(`${get}${name}: a\u00ff\u00c3(\u00e9\r\n\r\n`, "latin1");
    t.equal((await exchange(server.url, bytes))?.status, 200, name);
  }
});

t.test("[S3] body_bytes_max: a body of that size is read; one byte more is 413, and it is closed", async (t) => {
  const full = await owner.send("POST", "/messages", formOf(limits.body_bytes_max));
  t.match(outcome(full), { status: 200, body: { result: "success", ignored_parameters_unsupported: ["pad"] } });
  await checkNoTrace(t, async () => {
    const over = await owner.send("POST", "/messages", formOf(limits.body_bytes_max + 1));
    t.strictSame(outcome(over), tooLarge);
    const connection = new RawConnection(server.url);
    const body = formOf(limits.body_bytes_max + 1);
    await connection.write(head(`Content-Length: ${body.length}`) + body);
    const answer = await connection.answer();
    t.strictSame({ status: answer?.status, body: JSON.parse(answer?.text ?? "") }, tooLarge);
    t.equal(answer?.headers["connection"], "close");
    await connection.closed;
  });
});

t.test("[S3] a chunked body is counted while it arrives: 413 beyond the limit", async (t) => {
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const connection = new RawConnection(server.url);
  await connection.write(head("Transfer-Encoding: chunked") + chunk("type=direct&to=") + chunk("[2]&content=y"));
  await connection.write(chunk("es") + chunk(""));
  const answer = await connection.answer();
  t.equal(answer?.status, 200, "chunked bodies are read");
  const { id } = JSON.parse(answer?.text ?? "");
  t.equal((await owner.get(`/messages/${id}`)).body.raw_content, "yes");
  // Bytes after a chunked body are never treated as a request.
  await connection.closed;
  await checkNoTrace(t, async () => {
    const large = new RawConnection(server.url);
    await large.write(head("Transfer-Encoding: chunked") + chunk(`${message}&pad=`));
    for (let sent = 0; sent <= limits.body_bytes_max; sent += 256 * 1024) {
      await large.write(chunk("p".repeat(256 * 1024)));
    }
    const refused = await large.answer();
    t.strictSame({ status: refused?.status, body: JSON.parse(refused?.text ?? "") }, tooLarge);
    await large.closed;
  });
});

t.test("[S3] a head that announces too large a body is rejected before the body arrives", async (t) => {
  await checkNoTrace(t, async () => {
    const connection = new RawConnection(server.url);
    await connection.write(head("Content-Length: 9999999999"));
    for (let sent = 0; sent <= limits.body_bytes_max; sent += 256 * 1024)
      await connection.write("p".repeat(256 * 1024));
    const answer = await connection.answer();
    t.equal(answer?.status, 413);
    await connection.closed;
  });
});

t.test("[spec 2.1] a truncated body is never executed", async (t) => {
  await checkNoTrace(t, async () => {
    const cut = new RawConnection(server.url);
    await cut.write(head(`Content-Length: ${message.length + 10}`) + message);
    cut.destroy();
    await cut.closed;
    const halfClosed = new RawConnection(server.url);
    await halfClosed.write(head(`Content-Length: ${message.length + 10}`) + message);
    halfClosed.finish();
    await halfClosed.closed;
    t.equal(halfClosed.rest, "", "the client that disconnects gets no success");
    const inChunk = new RawConnection(server.url);
    await inChunk.write(`${head("Transfer-Encoding: chunked")}ff\r\n${message}`);
    inChunk.finish();
    await inChunk.closed;
    t.equal(inChunk.rest, "");
    const inHead = new RawConnection(server.url);
    await inHead.write(head(`Content-Length: ${message.length}`).slice(0, -10));
    inHead.finish();
    await inHead.closed;
  });
});

t.test("[spec 2.1] bytes beyond a wrong Content-Length do not belong to the request", async (t) => {
  await checkNoTrace(t, async () => {
    const short = new RawConnection(server.url);
    // The announced length ends before the content does: the request is incomplete, and the other bytes are no request.
    await short.write(head("Content-Length: 18") + message);
    const answer = await short.answer();
    t.ok(answer === null || answer.status >= 400, "rejected, or the connection is closed");
    short.destroy();
    const lies = [
      "Content-Length: abc",
      "Content-Length: -1",
      "Content-Length: 1e1",
      "Content-Length: 99999999999999999999999",
    ];
    for (const length of [...lies, "Content-Length: 28\r\nTransfer-Encoding: chunked"]) {
      const connection = new RawConnection(server.url);
      await connection.write(head(length) + message);
      const refused = await connection.answer();
      // [D33] uWebSockets.js answers framing errors.
      t.ok(refused === null || (refused.status >= 400 && refused.status < 500), length);
      connection.destroy();
    }
  });
});

t.test("[spec 2.1] a slow body is read to its end", async (t) => {
  const connection = new RawConnection(server.url);
  await connection.write(head(`Content-Length: ${message.length}`));
  for (const byte of message) await connection.write(byte);
  t.equal((await connection.answer())?.status, 200);
  connection.destroy();
});

t.test("[pitfalls 2.1] clients that disconnect while they wait for an answer do not affect the server", async (t) => {
  const changes = await owner.watchChanges();
  const password = "p".repeat(20);
  const waiting = ["early", "late"].map(async (name) => {
    const body = `email=${name}@example.com&password=${password}&full_name=${name}`;
    const connection = new RawConnection(server.url);
    await connection.write(head(`Content-Length: ${body.length}`, "/api/v1/users") + body);
    connection.destroy();
    await connection.closed;
  });
  await Promise.all(waiting);
  const followUp = await owner.post("/users", { email: "third@example.com", password, full_name: "Third" });
  t.equal(followUp.status, 200);
  t.ok((await changes()).length >= 1, "the server still works");
});

t.test("[pitfalls 2.2] no input becomes a header of the response", async (t) => {
  const evil = "x%0d%0aX-Evil:%201%0d%0a%0d%0ahello";
  const known =
    /^(content-type|content-length|date|uwebsockets|allow|www-authenticate|connection|x-content-type-options|x-ratelimit-\w+|access-control-[\w-]+)$/;
  const get = (path: string, more = "") =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner.authorization}\r\n${more}\r\n`;
  const requests = [
    get(`/api/v1/${evil}`),
    get(`/api/v1/users/me?${evil}=${evil}`),
    get(`/api/v1/events?queue_id=${evil}&last_event_id=1`),
    get("/api/v1/users/me", `Origin: ${evil}\r\n`),
    `OPTIONS /api/v1/users/me HTTP/1.1\r\nHost: ${evil}\r\nAccess-Control-Request-Headers: ${evil}\r\n\r\n`,
    `${head("Content-Length: 1", `/api/v1/messages?type=channel&to=${evil}&topic=${evil}&content=x`)}a`,
  ];
  for (const request of requests) {
    const answer = await exchange(server.url, request);
    const unknown = Object.keys(answer?.headers ?? {}).filter((name) => !known.test(name));
    t.strictSame(unknown, [], request);
    for (const value of Object.values(answer?.headers ?? {})) t.notMatch(value, /evil/i);
  }
});

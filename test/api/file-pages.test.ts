/**
 * Serving uploaded files (D181, D185; E3): headers, ranges, and clients that stop reading. A browser must never execute
 * a file or guess its type.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { readRange } from "../../src/edge/pages/files.ts";
import { fetchFile, uploaded } from "../support/attachments.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { fetchPage, picture } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const clock = new ManualClock(Date.parse("2026-03-01T10:00:00Z"));
const server = await startTestServer(t, { clock });
const { owner } = server;
const text = await uploaded(owner, "0123456789", '"digits.txt"');

t.test("[D181] types safe in a browser are shown, others are downloads, and none is guessed", async (t) => {
  const types: Readonly<Record<string, readonly [type: string, isShown: boolean]>> = {
    "a.txt": ["text/plain; charset=utf-8", true],
    "a.PNG": ["image/png", true],
    "a.mp4": ["video/mp4", true],
    "a.html": ["application/octet-stream", false],
    "a.svg": ["application/octet-stream", false],
    "a.pdf": ["application/octet-stream", false],
    "a.js": ["application/octet-stream", false],
    "a.png.html": ["application/octet-stream", false],
    Object: ["application/octet-stream", false],
    "a.constructor": ["application/octet-stream", false],
  };
  for (const [name, [type, isShown]] of Object.entries(types)) {
    const { url } = await uploaded(owner, "<script>alert(1)</script>", `"${name}"`);
    const { headers } = await fetchFile(owner, url);
    t.equal(headers.get("content-type"), type, name);
    t.match(headers.get("content-disposition"), isShown ? /^inline;/ : /^attachment;/, name);
    t.equal(headers.get("x-content-type-options"), "nosniff");
    const sandbox =
      name === "a.mp4" ? /^default-src 'none';.*sandbox allow-same-origin$/ : /^default-src 'none';.*sandbox$/;
    t.match(headers.get("content-security-policy"), sandbox);
    t.equal(headers.get("cache-control"), "private, no-cache");
    const download = await fetchFile(owner, url.replace("/user_uploads/", "/user_uploads/download/"));
    t.match(download.headers.get("content-disposition"), /^attachment;/, "requested as a download");
  }
  const image = await picture("png", 20, 20);
  const { url } = await uploaded(owner, image, '"i.png"');
  t.ok((await fetchFile(owner, url)).bytes.equals(image), "the bytes are served as they were uploaded");
});

t.test("[D185] RFC 9110: a single range of a file is served", async (t) => {
  const get = (headers: Record<string, string>) => fetchFile(owner, text.url, headers);
  const parts: Readonly<Record<string, readonly [status: number, bytes: string, range: string | null]>> = {
    "bytes=0-3": [206, "0123", "bytes 0-3/10"],
    "bytes=4-": [206, "456789", "bytes 4-9/10"],
    "bytes=-2": [206, "89", "bytes 8-9/10"],
    "bytes=-99": [206, "0123456789", "bytes 0-9/10"],
    "bytes=9-99": [206, "9", "bytes 9-9/10"],
    "bytes=10-": [416, "", "bytes */10"],
    "bytes=-0": [416, "", "bytes */10"],
    "bytes=3-1": [200, "0123456789", null],
    "bytes=0-1,3-4": [200, "0123456789", null],
    "lines=1-2": [200, "0123456789", null],
    "bytes=-": [200, "0123456789", null],
  };
  for (const [range, [status, bytes, received]] of Object.entries(parts)) {
    const got = await get({ Range: range });
    t.strictSame(
      [got.status, got.bytes.toString(), got.headers.get("content-range")],
      [status, bytes, received],
      range,
    );
  }
  t.strictSame(readRange("bytes=0-0", 0), { kind: "unsatisfiable" }, "an empty file has no ranges");
  const etag = (await get({})).headers.get("etag") ?? "";
  t.equal((await get({ "If-None-Match": etag })).status, 304);
  t.equal((await get({ "If-None-Match": '"other"' })).status, 200);
  t.equal((await get({ Range: "bytes=0-3", "If-Range": etag })).status, 206);
  t.equal((await get({ Range: "bytes=0-3", "If-Range": '"other"' })).status, 200);
  t.equal(
    (await fetchFile(owner.anonymous(), text.url, { "If-None-Match": etag })).status,
    404,
    "[S1] access is checked first",
  );
});

t.test("RFC 9110: HEAD returns the headers of GET without a body; other methods are rejected", async (t) => {
  const request = (method: string) =>
    `${method} ${text.url} HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner.authorization}\r\n\r\n`;
  const answer = await exchange(server.url, request("HEAD"), false);
  t.match(answer, { status: 200, headers: { "content-length": "10", "content-type": "text/plain; charset=utf-8" } });
  t.equal((await exchange(server.url, request("POST")))?.status, 405);
});

t.test("[E3] download_stall_ms_max: a client that stops reading is disconnected and buffers little", async (t) => {
  const size = 24 * 1024 * 1024;
  const { url } = await uploaded(owner, Buffer.alloc(size, "x"), '"large.txt"');
  t.equal((await fetchFile(owner, url)).bytes.length, size, "a large file is sent completely");
  const again = await fetchFile(owner, url, { Range: `bytes=${size - 3}-` });
  t.equal(again.bytes.toString(), "xxx", "again on the same connection");
  const request = `GET ${url} HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner.authorization}\r\n\r\n`;
  const connection = new RawConnection(server.url);
  await connection.write(request);
  connection.destroy();
  await connection.closed;
  t.equal((await fetchPage(server.url, url, { Authorization: owner.authorization })).status, 200, "the server lives");

  // What was sent before may be closed after it has arrived.
  while (openFiles() > 0) await owner.get("/users/me");
  const stalled = await stalledReader(request);
  while (openFiles() === 0) await owner.get("/users/me");
  // Nothing waits until the kernel's buffers are full. Then the timeout closes the connection and the file.
  while (openFiles() > 0) {
    clock.advance(limits.download_stall_ms_max);
    await owner.get("/users/me");
  }
  t.ok((await stalled.rest()) < size, "the connection closed before the file was sent");
});

/** Number of uploaded files that this process has open. */
function openFiles(): number {
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes("/files/uploads/");
    } catch {
      return false;
    }
  }).length;
}

/** Sends the request and reads no answer until `rest`, which counts all its bytes. */
async function stalledReader(request: string): Promise<{ rest(): Promise<number> }> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.pause();
  await new Promise<void>((resolve) => socket.write(request, () => resolve()));
  return {
    rest: () =>
      new Promise((resolve) => {
        let bytes = 0;
        socket.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          // The whole file arrived: the server did not close the connection.
          if (bytes > 24 * 1024 * 1024) socket.destroy();
        });
        socket.on("close", () => resolve(bytes));
        // A socket paused explicitly does not resume when a listener is added.
        socket.resume();
      }),
  };
}

t.test("[S3] downloads_concurrent_max: all concurrent downloads together buffer at most 64 MiB", async (t) => {
  t.ok(limits.downloads_concurrent_max * limits.download_chunk_bytes <= 64 * 1024 * 1024, "the sum is bounded");
});

/**
 * File uploads over HTTP (behaviour 1.8, D178): what counts as a file, size limits, permissions, and cleanup after
 * failures. Tested through the avatar upload.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { UploadBudget } from "../../src/edge/http/body-reader.ts";
import { fileLabel } from "../../src/edge/http/form.ts";
import { bugLog } from "../support/bug-log.ts";
import { type Client, expects, outcome, refusal } from "../support/client.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { multipart, multipartType, picture, upload } from "../support/pictures.ts";
import { turn } from "../support/runtime.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const avatar = "/users/me/avatar";
const png = await picture("png", 40, 30);
const exactlyOne = refusal("You must upload exactly one avatar.");
const tooLarge = refusal("Uploaded file is larger than the allowed limit of 5 MiB", "PAYLOAD_TOO_LARGE", 413);
const undecodable = refusal("Could not decode image; did you upload an image file?");
const notLoggedIn = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);

/** All files of the default realm, temporary ones included. */
function filesOf({ dataDir }: TestServer): string[] {
  try {
    return readdirSync(join(dataDir, "realms", "1", "files"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

/** Checks that the work leaves no file and sends no event. */
async function checkNoTrace(t: Test, work: () => Promise<void>): Promise<void> {
  const changes = await owner.watchChanges();
  await server.realm.files.idle();
  const before = filesOf(server);
  await work();
  await server.realm.files.idle();
  t.strictSame(filesOf(server), before, "no file is left");
  t.strictSame(await changes(), [], "no event is sent");
}

function post(client: Client, body: Buffer, headers: Record<string, string> = {}) {
  return client.send("POST", avatar, body, { "Content-Type": multipartType, ...headers });
}

function head(client: Client, more: string): string {
  const authorization = client.authorization === "" ? "" : `Authorization: ${client.authorization}\r\n`;
  return `POST /api/v1${avatar} HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${multipartType}\r\n${more}\r\n\r\n`;
}

t.test("exactly one file: none, two and a field without a file are rejected", async (t) => {
  await checkNoTrace(t, async () => {
    const file = { bytes: png, filename: '"a.png"' };
    const bodies = {
      "a field": multipart([{ bytes: "text" }]),
      "two files": multipart([file, { ...file, name: "other" }]),
      "two files with one name": multipart([file, file]),
      "nothing chosen": multipart([{ bytes: "", filename: '""' }]),
    };
    for (const [what, body] of Object.entries(bodies)) {
      t.strictSame((await post(owner, body)).body.msg, exactlyOne.body.msg, what);
    }
    await expects(t, owner.post(avatar), exactlyOne, "no body");
    await expects(t, owner.send("POST", avatar, png, { "Content-Type": "image/png" }), exactlyOne);
  });
  const fields = multipart([
    { bytes: "value", name: "more" },
    { bytes: png, filename: '"a.png"' },
  ]);
  t.match(outcome(await post(owner, fields)), {
    status: 200,
    body: { result: "success", ignored_parameters_unsupported: ["more"] },
  });
});

t.test("[behaviour 1.8] avatar_bytes_max: a file of 5 MiB is processed, one byte more is 413", async (t) => {
  await checkNoTrace(t, async () => {
    const most = Buffer.alloc(limits.avatar_bytes_max, "x");
    await expects(t, upload(owner, avatar, most), undecodable, "read completely, and recognized as no picture");
    const over = Buffer.alloc(limits.avatar_bytes_max + 1, "x");
    await expects(t, upload(owner, avatar, over), tooLarge);
  });
});

t.test("[S3] upload_margin_bytes: a body over file and margin gets 413 while it arrives, and a close", async (t) => {
  const bound = limits.avatar_bytes_max + limits.upload_margin_bytes;
  await checkNoTrace(t, async () => {
    const file = { bytes: Buffer.alloc(limits.avatar_bytes_max), filename: '"a"' };
    const padOf = (length: number) => multipart([file, { bytes: "p".repeat(length), name: "pad" }]);
    const fitting = padOf(bound - padOf(0).length);
    t.equal(fitting.length, bound);
    t.strictSame((await post(owner, fitting)).body.msg, undecodable.body.msg, "a body of that size is read");
    const whole = "x".repeat(bound + 1);
    const bodies = {
      [`Content-Length: ${bound + 1}`]: whole,
      "Content-Length: 9999999999": whole,
      "Transfer-Encoding: chunked": `${(bound + 1).toString(16)}\r\n${whole}`,
    };
    for (const [announced, body] of Object.entries(bodies)) {
      const connection = new RawConnection(server.url);
      await connection.write(head(owner, announced) + body);
      const answer = await connection.answer();
      t.strictSame({ status: answer?.status, body: JSON.parse(answer?.text ?? "{}") }, tooLarge, announced);
      await connection.closed;
    }
  });
});

t.test("[S3] other operations keep body_bytes_max, whatever their content type", async (t) => {
  await checkNoTrace(t, async () => {
    const body = multipart([{ bytes: Buffer.alloc(limits.body_bytes_max), filename: '"a"', name: "content" }]);
    const answer = await owner.send("POST", "/messages", body, { "Content-Type": multipartType });
    const bound = `The request body is over ${limits.body_bytes_max} bytes`;
    t.strictSame(outcome(answer), refusal(bound, "PAYLOAD_TOO_LARGE", 413));
  });
});

t.test("[D2] an unauthenticated body is rejected with 401 once it is too large, and closed", async (t) => {
  await checkNoTrace(t, async () => {
    await expects(t, upload(owner.anonymous(), avatar, png), notLoggedIn, "a small one is answered, too");
    const connection = new RawConnection(server.url);
    await connection.write(head(owner.anonymous(), `Content-Length: ${limits.avatar_bytes_max}`));
    for (let sent = 0; sent <= limits.body_bytes_max; sent += 256 * 1024)
      await connection.write("x".repeat(256 * 1024));
    const answer = await connection.answer();
    t.strictSame({ status: answer?.status, body: JSON.parse(answer?.text ?? "{}") }, notLoggedIn);
    t.match(answer?.headers["www-authenticate"], /^Basic/);
    await connection.closed;
  });
});

t.test("[S3] uploads_per_user_max: one more concurrent upload is 503; other users' continue", async (t) => {
  const busy = await server.user("busy");
  const announced = `Content-Length: ${limits.avatar_bytes_max}`;
  const slow = Array.from({ length: limits.uploads_per_user_max }, () => new RawConnection(server.url));
  for (const connection of slow) await connection.write(head(busy, announced));
  // An upload has begun once a request on a later connection is answered.
  await exchange(server.url, "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n");
  await expects(t, upload(busy, avatar, png), refusal("The server is overloaded", "OVERLOADED", 503));
  t.equal((await upload(owner, avatar, png)).status, 200);
  t.equal((await busy.get("/users/me")).status, 200, "other requests of the user, too");
  for (const connection of slow) connection.destroy();
  await Promise.all(slow.map((connection) => connection.closed));
  let status = 503;
  // The server notices the disconnects with a delay.
  while (status === 503) ({ status } = await upload(busy, avatar, png));
  t.equal(status, 200, "their slots are released");
});

t.test("[S3] upload_bytes_in_flight_max: bodies that do not fit together are rejected until others end", async (t) => {
  const budget = new UploadBudget();
  const largest = limits.avatar_bytes_max + limits.upload_margin_bytes;
  const count = Math.floor(limits.upload_bytes_in_flight_max / largest);
  const taken = Array.from({ length: count }, (_, index) => budget.take(`p${index}`, limits.avatar_bytes_max, null));
  t.notOk(taken.some((allowance) => "kind" in allowance));
  const rest = limits.upload_bytes_in_flight_max - count * largest;
  t.match(budget.take("one more", limits.avatar_bytes_max, null), { code: "OVERLOADED" });
  t.match(budget.take("one more", limits.avatar_bytes_max, rest + 1), { code: "OVERLOADED" });
  t.match(budget.take("one more", limits.avatar_bytes_max, rest), { bytesMax: largest }, "the rest is available");
  const [first] = taken;
  if (first !== undefined && !("kind" in first)) first.release();
  t.match(
    budget.take("later", limits.avatar_bytes_max, 9_999_999_999),
    { bytesMax: largest },
    "an announced length beyond the limit is not reserved",
  );
});

t.test("[D178] a file that arrives in several segments is stored as one file", async (t) => {
  const body = multipart([{ bytes: png, filename: '"a.png"' }]);
  const connection = new RawConnection(server.url);
  await connection.write(head(owner, `Content-Length: ${body.length}`));
  for (let start = 0; start < body.length; start += 50) await connection.write(body.subarray(start, start + 50));
  t.equal((await connection.answer())?.status, 200);
  connection.destroy();
});

t.test("[D178] an aborted upload leaves nothing, before and after its last byte", async (t) => {
  const body = multipart([{ bytes: png, filename: '"a.png"' }]);
  await checkNoTrace(t, async () => {
    const cut = new RawConnection(server.url);
    await cut.write(head(owner, `Content-Length: ${body.length}`));
    await cut.write(body.subarray(0, body.length - 1));
    cut.destroy();
    await cut.closed;
    t.equal((await owner.get("/users/me")).status, 200);
  });
  const gone = new RawConnection(server.url);
  await gone.write(Buffer.concat([Buffer.from(head(owner, `Content-Length: ${body.length}`)), body]));
  gone.destroy();
  await gone.closed;
  // It may still be executed, like any request whose client disconnected; files and rows must agree then, too.
  await upload(owner, avatar, png);
  await server.realm.files.idle();
  const claimed = server.realm.view.users.get(owner.userId)?.avatarFile ?? "";
  t.ok(filesOf(server).includes(claimed.replace(/^\d+\//, "")));
});

t.test("[D25] a repeat with the same key and file gets the same answer and stores no second file", async (t) => {
  const person = await server.user("repeating");
  const headers = { "Idempotency-Key": "one-upload" };
  const first = await upload(person, avatar, png, { headers });
  t.equal(first.status, 200);
  await server.realm.files.idle();
  const before = filesOf(server);
  await expects(t, upload(person, avatar, png, { headers }), outcome(first));
  await server.realm.files.idle();
  t.strictSame(filesOf(server), before);
  const other = await picture("png", 50, 50);
  await expects(
    t,
    upload(person, avatar, other, { headers }),
    "This Idempotency-Key was used for a request with other parameters",
  );
  await server.realm.files.idle();
  t.strictSame(filesOf(server), before);
  t.equal((await person.get("/users/me")).body.avatar_url, first.body.avatar_url);
});

t.test("[M5] while the store rejects writes, uploads are rejected and nothing is written", async (t) => {
  const full = await startTestServer(t, { environment: { STORE_FREE_BYTES_MIN: String(Number.MAX_SAFE_INTEGER) } });
  const noRoom = refusal("The server is out of disk space and does not accept changes", "STORE_REFUSES_WRITES", 503);
  for (const path of [avatar, "/realm/emoji/full"]) {
    await expects(t, upload(full.owner, path, png), noRoom);
    await expects(t, upload(full.owner, path, "no picture"), noRoom, "before anything is decoded or written");
  }
  t.strictSame(filesOf(full), []);
});

t.test("[M5] files count towards the quota of the store", async (t) => {
  // More than an empty store needs, and less than one with some pictures.
  const quota = 16 * 1024 * 1024;
  const small = await startTestServer(t, { environment: { STORE_BYTES_MAX: String(quota) } });
  t.equal((await upload(small.owner, avatar, png)).status, 200);
  const { files } = small.realm;
  const before = files.bytes;
  t.ok(before > 0, "the pictures are counted");
  t.equal((await small.owner.delete(avatar)).status, 200);
  await files.idle();
  t.equal(files.bytes, 0, "and no longer after their deletion");
  const name = `avatars/${"0".repeat(32)}.png`;
  t.ok(await files.write([{ name, bytes: Buffer.alloc(quota) }]));
  let answer = await small.owner.delete(avatar);
  // The quota is measured once a second.
  while (answer.status === 200) answer = await small.owner.delete(avatar);
  t.equal(answer.body.code, "STORE_REFUSES_WRITES");
});

t.test("[D186] the client's file name is only a label: no folder, no control characters, limited length", async (t) => {
  t.equal(fileLabel("../../etc/passwd"), "passwd");
  t.equal(fileLabel("..\\pictures\\me.png"), "me.png");
  t.equal(fileLabel("a\r\nX-Evil: 1\0.png"), "aX-Evil: 1.png");
  t.equal(fileLabel("/"), "");
  const longest = "🍎".repeat(limits.file_name_code_points_max);
  t.equal(fileLabel(longest), longest, "[S3] file_name_code_points_max, in code points");
  t.equal(fileLabel(`${longest}x`), longest);
  const stem = "🍎".repeat(limits.file_name_code_points_max - 4);
  t.equal(fileLabel(`${stem}.png`), `${stem}.png`);
  t.equal(fileLabel(`${stem}🍎.png`), `${stem}.png`, "a long name loses the end of its stem and keeps its extension");
  t.equal(fileLabel(`${longest}. png`), longest, "text that is no extension is not kept");
  const names = [
    '"../../../../evil.png"',
    '"a%0d%0aX-Evil: 1"',
    '"a\nX-Evil: 1"',
    '"..\\\\..\\\\evil.png"',
    '"\0"',
    "evil",
  ];
  for (const filename of names) {
    const { status, body, headers } = await upload(owner, avatar, png, { filename });
    t.equal(status, 200, filename);
    t.match(body.avatar_url, /^\/user_avatars\/1\/[0-9a-f]{32}\.png\?version=\d+$/);
    t.equal(headers.get("X-Evil"), null);
  }
  await server.realm.files.idle();
  t.notOk(filesOf(server).some((name) => name.includes("evil")));
});

t.test("users of every role may upload an avatar", async (t) => {
  for (const [name, role] of Object.entries(roles)) {
    const person = await server.user(`a-${name}`, role);
    t.equal((await upload(person, avatar, png)).status, 200, name);
    t.equal((await person.delete(avatar)).status, 200, name);
  }
});

t.test("[S3] a client that loses its key and disconnects at the end of an upload causes no error", async (t) => {
  const bugs = bugLog();
  const own = await startTestServer(t, { log: bugs.log });
  const body = multipart([{ bytes: "x".repeat(5000), filename: '"a.txt"' }]);
  for (let round = 0; round < 8; round++) {
    const person = await own.user(`round ${round}`);
    const connection = new RawConnection(own.url);
    const request = head(person, `Content-Length: ${body.length}`).replace(avatar, "/user_uploads");
    await connection.write(Buffer.concat([Buffer.from(request), body.subarray(0, 1000)]));
    // It has begun once a later request is answered.
    t.equal((await person.post("/users/me/api_key/regenerate")).status, 200);
    await connection.write(body.subarray(1000));
    connection.finish();
    await connection.closed;
  }
  t.equal((await own.owner.get("/users/me")).status, 200);
  t.strictSame(bugs.lines, []);
});

t.test("[D178] a complete upload is executed, however soon its client disconnects after the last byte", async (t) => {
  const bugs = bugLog();
  const own = await startTestServer(t, { log: bugs.log });
  const body = multipart([{ bytes: "x".repeat(20_000), filename: '"a.txt"' }]);
  const request = head(own.owner, `Content-Length: ${body.length}`).replace(avatar, "/user_uploads");
  for (let passes = 0; passes < 150; passes++) {
    const connection = new RawConnection(own.url);
    await connection.write(Buffer.concat([Buffer.from(request), body]));
    for (let pass = 0; pass < passes; pass++) await turn();
    connection.destroy();
    await connection.closed;
  }
  t.equal((await upload(own.owner, "/user_uploads", png)).status, 200);
  const { files } = own.realm;
  await files.idle();
  t.strictSame(bugs.lines, []);
  const { attachments } = (await own.owner.get("/attachments")).body;
  t.equal(filesOf(own).length, attachments.length, "each file belongs to an attachment");
  const sizes = attachments.map(({ size }: { size: number }) => size);
  t.equal(
    files.bytes,
    sizes.reduce((sum: number, size: number) => sum + size, 0),
  );
});

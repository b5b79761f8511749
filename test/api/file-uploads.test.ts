/**
 * Uploading files (D178, D186, D224): valid and invalid bodies, cleanup after an incomplete upload, and bounded memory,
 * because a file is streamed to disk.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { addressableName } from "../../domain/attachments.ts";
import { limits } from "../../schemas/limits.ts";
import { UploadBudget } from "../../src/edge/http/body-reader.ts";
import { attachmentsOf, fetchFile, sendFile, uploaded } from "../support/attachments.ts";
import { type Client, expects, outcome, refusal } from "../support/client.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { multipart, multipartType } from "../support/pictures.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const mebibyte = 1024 * 1024;
const server = await startTestServer(t, { environment: { MAX_FILE_UPLOAD_SIZE_MIB: "3", UPLOAD_QUOTA_MIB: "40" } });
const { owner } = server;
const bytesMax = 3 * mebibyte;
const tooLarge = refusal("Uploaded file is larger than the allowed limit of 3 MiB", "PAYLOAD_TOO_LARGE", 413);
const malformed = refusal("Malformed multipart body");
const noFile = refusal("You must specify a file to upload");
const file = { filename: '"a.txt"', name: "file" };

async function filesOf(): Promise<string[]> {
  await server.realm.files.idle();
  try {
    return readdirSync(join(server.dataDir, "realms", "1", "files", "uploads")).sort();
  } catch {
    return [];
  }
}

/** Checks that the work leaves no file, uses no quota and sends no event. */
async function checkNoTrace(t: Test, work: () => Promise<void>): Promise<void> {
  const changes = await owner.watchChanges();
  const before = await filesOf();
  const { bytes } = server.realm.files;
  await work();
  // A rejection is answered at once; the partial file is deleted after its last write.
  await until(() => server.realm.files.bytes === bytes);
  t.strictSame(await filesOf(), before, "no file is left");
  t.strictSame(await changes(), [], "no event is sent");
}

function post(client: Client, body: Buffer | string, contentType = multipartType) {
  return client.send("POST", "/user_uploads", body, { "Content-Type": contentType });
}

function head(client: Client, more: string): string {
  return `POST /api/v1/user_uploads HTTP/1.1\r\nHost: x\r\nAuthorization: ${client.authorization}\r\nContent-Type: ${multipartType}\r\n${more}\r\n\r\n`;
}

t.test("no file, two, a plain field and an empty choice are rejected", async (t) => {
  await checkNoTrace(t, async () => {
    await expects(t, post(owner, multipart([{ bytes: "text" }])), noFile, "a field");
    await expects(t, post(owner, multipart([])), noFile, "no part");
    await expects(t, post(owner, multipart([{ bytes: "", filename: '""' }])), noFile, "nothing chosen");
    const two = refusal("You may only upload one file at a time");
    await expects(
      t,
      post(
        owner,
        multipart([
          { bytes: "a", ...file },
          { bytes: "b", ...file, name: "b" },
        ]),
      ),
      two,
    );
    const large = Buffer.alloc(mebibyte);
    await expects(
      t,
      post(
        owner,
        multipart([
          { bytes: "a", ...file },
          { bytes: large, ...file },
        ]),
      ),
      two,
    );
  });
});

t.test("[D178] a body that is truncated or not multipart is rejected and leaves no file", async (t) => {
  const whole = multipart([{ bytes: Buffer.alloc(200_000, "x"), ...file }]);
  const second = multipart([
    { bytes: "a", ...file },
    { bytes: Buffer.alloc(200_000, "x"), ...file },
  ]);
  await checkNoTrace(t, async () => {
    for (const length of [1, 60, 150, 100_000, whole.length - 30, whole.length - 4]) {
      await expects(t, post(owner, whole.subarray(0, length)), malformed, `${length} bytes`);
    }
    for (const length of [200, 300, 400, second.length - 50]) {
      await expects(t, post(owner, second.subarray(0, length)), malformed, `${length} bytes, second file`);
    }
    await expects(t, post(owner, whole, "multipart/form-data"), malformed, "no boundary");
    await expects(t, post(owner, whole, "multipart/form-data; boundary=other"), malformed, "another boundary");
    await expects(t, post(owner, "x".repeat(1000)), malformed, "anything");
    await expects(t, post(owner, "file=x", "application/x-www-form-urlencoded"), noFile);
  });
  t.equal((await post(owner, whole)).status, 200);
});

t.test("[D178] MAX_FILE_UPLOAD_SIZE_MIB: a file at the limit is stored, one byte more is 413", async (t) => {
  const most = Buffer.alloc(bytesMax, "0123456789");
  const { url } = await uploaded(owner, most);
  t.ok((await fetchFile(owner, url)).bytes.equals(most));
  await checkNoTrace(t, async () => {
    await expects(t, sendFile(owner, Buffer.alloc(bytesMax + 1)), tooLarge);
    const connection = new RawConnection(server.url);
    await connection.write(head(owner, "Transfer-Encoding: chunked"));
    const body = multipart([{ bytes: Buffer.alloc(bytesMax + limits.upload_margin_bytes + 1), ...file }]);
    await connection.write(Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body]));
    t.equal((await connection.answer())?.status, 413, "however it comes");
    await connection.closed;
  });
  const { body } = await owner.post("/register", { fetch_event_types: ["realm"] });
  t.equal(body.max_file_upload_size_mib, 3);
  t.equal(body.realm_upload_quota_mib, 40);
});

t.test("[S3] upload_chunk_bytes: files around multiples of the chunk size are stored unchanged", async (t) => {
  for (const pieces of [1, 2]) {
    for (const surplus of [-1, 0, 1]) {
      const size = pieces * limits.upload_chunk_bytes + surplus;
      const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8)) % 256));
      const { url } = await uploaded(owner, bytes);
      t.ok((await fetchFile(owner, url)).bytes.equals(bytes), `${size} bytes`);
    }
  }
});

t.test("[S3] upload_margin_bytes: the bytes and fields besides the file are limited", async (t) => {
  await checkNoTrace(t, async () => {
    const fields = Array.from({ length: 3 }, (_, index) => ({
      bytes: "x".repeat(limits.upload_margin_bytes / 2),
      name: `f${index}`,
    }));
    t.equal((await post(owner, multipart([...fields, { bytes: "a", ...file }]))).status, 413);
    const many = Array.from({ length: limits.form_parameters_max + 1 }, (_, index) => ({
      bytes: "",
      name: `f${index}`,
    }));
    await expects(t, post(owner, multipart(many)), "Too many parameters");
  });
  const answer = await post(
    owner,
    multipart([
      { bytes: "v", name: "more" },
      { bytes: "a", ...file },
    ]),
  );
  t.match(outcome(answer), { status: 200, body: { ignored_parameters_unsupported: ["more"] } });
});

t.test("[D178] a client that disconnects during an upload leaves no file", async (t) => {
  const body = multipart([{ bytes: Buffer.alloc(mebibyte), ...file }]);
  await checkNoTrace(t, async () => {
    for (const sent of [100, 500_000, body.length - 1]) {
      const connection = new RawConnection(server.url);
      await connection.write(head(owner, `Content-Length: ${body.length}`));
      await connection.write(body.subarray(0, sent));
      // The upload has begun once a later request is answered.
      await owner.get("/users/me");
      connection.destroy();
      await connection.closed;
    }
    while ((await filesOf()).some((name) => name.endsWith(".part"))) await owner.get("/users/me");
  });
});

t.test("[D178] a file that arrives in several segments is stored as one file", async (t) => {
  const body = multipart([{ bytes: "a file in many pieces", ...file }]);
  const connection = new RawConnection(server.url);
  await connection.write(head(owner, `Content-Length: ${body.length}`));
  for (let start = 0; start < body.length; start += 7) await connection.write(body.subarray(start, start + 7));
  const answer = await connection.answer();
  t.equal((await fetchFile(owner, JSON.parse(answer?.text ?? "{}").url)).bytes.toString(), "a file in many pieces");
  connection.destroy();
});

t.test("[S3] uploads_per_user_max and upload_buffer_bytes limit concurrent uploads and their memory", async (t) => {
  const busy = await server.user("busy");
  const slow = Array.from({ length: limits.uploads_per_user_max }, () => new RawConnection(server.url));
  for (const connection of slow) await connection.write(head(busy, `Content-Length: ${bytesMax}`));
  // An upload has begun once a request on a later connection is answered.
  await exchange(server.url, "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n");
  await expects(t, sendFile(busy, "x"), refusal("The server is overloaded", "OVERLOADED", 503));
  t.equal((await sendFile(owner, "x")).status, 200, "others go on");
  for (const connection of slow) connection.destroy();
  await Promise.all(slow.map((connection) => connection.closed));
  let status = 503;
  while (status === 503) ({ status } = await sendFile(busy, "x"));
  t.equal(status, 200);

  const budget = new UploadBudget();
  const count = limits.upload_bytes_in_flight_max / limits.upload_buffer_bytes;
  const realm = server.realm;
  const taken = Array.from({ length: count }, (_, index) => budget.take(`p${index}`, 1e12, null, realm));
  t.notOk(
    taken.some((allowance) => "kind" in allowance),
    "memory does not grow with the size of the file",
  );
  t.match(budget.take("one more", 1e12, null, realm), { code: "OVERLOADED" });
});

t.test("[D224] realm_upload_quota_mib: a file that fits is stored, one byte more is rejected", async (t) => {
  const person = await server.user("collector");
  const used = (await person.get("/attachments")).body.upload_space_used;
  let left = 40 * mebibyte - used;
  for (; left > bytesMax; left -= bytesMax) await uploaded(person, Buffer.alloc(bytesMax));
  const over = refusal("Upload would exceed your organization's upload quota.", "REALM_UPLOAD_QUOTA");
  await checkNoTrace(t, async () => {
    await expects(t, sendFile(person, Buffer.alloc(left + 1)), over);
  });
  t.equal((await sendFile(person, Buffer.alloc(left))).status, 200);
  await expects(t, sendFile(person, "x"), over);
  for (const { id } of await attachmentsOf(person)) await person.delete(`/attachments/${id}`);
  t.equal((await sendFile(person, "x")).status, 200, "deleting a file frees space");
});

t.test("[D186] a URL has only letters, digits, `_`, `.` and `-`; the original name is kept for display", async (t) => {
  const names: Readonly<Record<string, readonly [address: string, label: string]>> = {
    '"../../etc/passwd"': ["passwd", "passwd"],
    '"..\\\\..\\\\me.txt"': ["me.txt", "me.txt"],
    '"a b  c.txt"': ["a-b-c.txt", "a b  c.txt"],
    '"<script>alert(1)</script>.html"': ["script.html", "script>.html"],
    '"Ünïcödé 🍎 文件.txt"': ["Ünïcödé-文件.txt", "Ünïcödé 🍎 文件.txt"],
    '"..."': ["uploaded-file", "..."],
    '"🍎"': ["uploaded-file", "🍎"],
    '"evil\u202Egpj.exe"': ["evilgpj.exe", "evilgpj.exe"],
    '"tab\there"': ["tabhere", "tabhere"],
    "bare.txt": ["bare.txt", "bare.txt"],
  };
  for (const [sent, [address, label]] of Object.entries(names)) {
    const made = await uploaded(owner, sent, sent);
    t.equal(made.url.split("/").at(-1), address, sent);
    t.equal(made.filename, label, sent);
    const got = await fetchFile(owner, made.url);
    t.equal(got.bytes.toString(), sent);
    t.match(got.headers.get("content-disposition"), /filename\*=UTF-8''/);
  }
  const encoded = multipart([{ bytes: "x", name: "file" }])
    .toString()
    .replace('name="file"', "name=\"file\"; filename*=UTF-8''na%C3%AFve.txt");
  t.equal((await post(owner, encoded)).body.filename, "naïve.txt", "in the form of older clients");
  const word = '"=?utf-8?B?bmHDr3ZlLnR4dA==?="';
  const star = "UTF-8''na%C3%AFve.txt";
  const both: Readonly<Record<string, string>> = {
    [`${word}; filename*=${star}`]: "naïve.txt",
    [`${word}; filename*="${star}"`]: "naïve.txt",
    [`x.txt; filename*=iso-8859-1''na%EFve.txt`]: "naïve.txt",
    [`"x.txt"; filename*=UTF-8''%FF.txt`]: "x.txt",
    [`"x.txt"; filename*=other''y.txt`]: "x.txt",
    [`"x.txt"; filename*=UTF-8'en'..%2F..%2Fy.txt`]: "y.txt",
  };
  for (const [sent, label] of Object.entries(both)) {
    t.equal((await uploaded(owner, "x", sent)).filename, label, sent);
    const reversed = sent.replace(/^(.*?); filename\*=(.*)$/, "$2; filename=$1");
    const form = multipart([{ bytes: "x", name: "file" }])
      .toString()
      .replace('name="file"', `name="file"; filename*=${reversed}`);
    t.equal((await post(owner, form)).body.filename, label, reversed);
  }
  const most = limits.upload_path_name_bytes_max;
  t.equal(addressableName(`${"a".repeat(most)}.txt`), `${"a".repeat(most - 4)}.txt`, "[S3] upload_path_name_bytes_max");
  t.equal(addressableName(`${"a".repeat(most - 4)}.txt`).length, most);
  t.equal(encodeURIComponent(addressableName(`${"文".repeat(255)}.txt`)).length, 9 * 66 + 4);
  const long = await uploaded(owner, "long", `"${"文".repeat(300)}.txt"`);
  t.equal(long.filename, `${"文".repeat(limits.file_name_code_points_max - 4)}.txt`, "shortened, with its extension");
  const got = await fetchFile(owner, long.url);
  t.match(
    [got.status, got.headers.get("content-type")],
    [200, /^text\/plain/],
    "a file with the longest name can be fetched",
  );
});

t.test("[D178] an empty file is accepted", async (t) => {
  const { url } = await uploaded(owner, "", '"empty.txt"');
  const got = await fetchFile(owner, url);
  t.equal(got.status, 200);
  t.equal(got.bytes.length, 0);
});

t.test("[M5] while the store rejects writes, an upload is rejected before its body is read", async (t) => {
  const full = await startTestServer(t, { environment: { STORE_FREE_BYTES_MIN: String(Number.MAX_SAFE_INTEGER) } });
  const noRoom = refusal("The server is out of disk space and does not accept changes", "STORE_REFUSES_WRITES", 503);
  await expects(t, sendFile(full.owner, "x"), noRoom);
});

t.test("[M6] if the disk cannot store the file, the answer is 500 and the server keeps running", async (t) => {
  const { owner: other, dataDir } = await startTestServer(t);
  // A file is at the path where the folder should be.
  writeFileSync(join(dataDir, "realms", "1", "files"), "");
  const failed = refusal("Internal server error", "INTERNAL_SERVER_ERROR", 500);
  await expects(t, sendFile(other, "some text"), failed);
  t.equal((await other.post("/messages", { type: "direct", to: [2], content: "on" })).status, 200);
});

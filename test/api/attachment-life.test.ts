/** Uploaded files whose messages are removed by retention or moved over many turns, and uploads to a full disk. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { attachmentsOf, fetchFile, linkTo, sendFile, uploaded } from "../support/attachments.ts";
import { type Client, expects, refusal } from "../support/client.ts";
import { idsOf, move, moved } from "../support/message-moves.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { dayMs, hourMs, pass } from "../support/retention.ts";
import { commands } from "../support/runtime.ts";
import { startTestServer, type Teardown, type TestServer } from "../support/server.ts";

t.test("[spec 2.4, M8] retention releases a deleted message's files, which go five weeks later", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const [ada, bob] = [await server.user("ada"), await server.user("bob")];
  const short = await server.owner.createChannel("short", [server.owner, ada, bob], { message_retention_days: 1 });
  const long = await server.owner.createChannel("long", [server.owner, ada, bob]);
  const [once, twice] = [await uploaded(ada, "once"), await uploaded(ada, "twice")];
  await ada.say(short, "files", `${linkTo(once)} ${linkTo(twice)}`);
  const kept = await ada.say(long, "files", linkTo(twice));
  const follower = await ada.follow({ event_types: ["attachment", "message"], queue_lifespan_secs: 604_800 });
  await pass(server, clock, dayMs + hourMs);
  t.strictSame(await idsOf(ada, short, "files"), [], "the message is deleted");
  const linked = async () =>
    (await attachmentsOf(ada)).map(({ messages }) => messages.map(({ id }: { id: number }) => id));
  t.strictSame(await linked(), [[], [kept]]);
  await follower.settled();
  t.match(
    follower.ofType("attachment").map(({ op, attachment }) => [op, attachment.messages.length]),
    [
      ["update", 0],
      ["update", 1],
    ],
    "its owner receives an event",
  );
  t.strictSame([(await fetchFile(bob, once.url)).status, (await fetchFile(bob, twice.url)).status], [404, 200], "[S1]");
  t.equal((await fetchFile(ada, once.url)).status, 200, "the owner keeps it for five weeks");
  clock.jump(limits.upload_kept_unclaimed_ms);
  await server.realm.dispatcher.idle();
  t.strictSame([(await fetchFile(ada, once.url)).status, (await fetchFile(bob, twice.url)).status], [404, 200]);
  t.strictSame(await linked(), [[kept]]);
});

t.test("[S1, M3] during a long move, readers of the message can fetch its file at each moment", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const names = ["both", "left", "reached", "neither"] as const;
  const [both, left, reached, neither] = await Promise.all(names.map((name) => server.user(name)));
  if (both === undefined || left === undefined || reached === undefined || neither === undefined) return;
  const secret = { invite_only: true, history_public_to_subscribers: true };
  const from = await owner.createChannel("from", [owner, both, left], secret);
  const to = await owner.createChannel("to", [owner, both, reached], secret);
  const [stays, goes] = [await uploaded(both, "stays"), await uploaded(both, "goes")];
  await both.say(from, "t", linkTo(stays));
  const first = await both.say(from, "t", linkTo(goes));
  const { dispatcher } = server.realm;
  const posts = Array.from({ length: 4 * limits.move_batch_messages }, (_, n) => commands.post("t", `n ${n}`, 2, from));
  await Promise.all(posts.map((post) => dispatcher.ask(post)));
  const statusOf = async (by: Client, file: { url: string }) => (await fetchFile(by, file.url)).status;
  const seen = (file: { url: string }) => Promise.all([left, reached].map((by) => statusOf(by, file)));
  t.strictSame(
    [await seen(stays), await seen(goes)],
    [
      [200, 404],
      [200, 404],
    ],
  );
  let isOver = false;
  const moving = move(owner, first, { stream_id: to, propagate_mode: "change_later" }).finally(() => {
    isOver = true;
  });
  const wrong: unknown[] = [];
  for (let looks = 0; !isOver || looks === 0; looks++) {
    const now = [await statusOf(both, goes), await statusOf(neither, goes), await statusOf(neither, stays)];
    if (now.join() !== "200,404,404") wrong.push(now);
  }
  t.strictSame(wrong, [], "a reader of both channels can fetch it all the time, an outsider never");
  await expects(t, moving, moved);
  t.strictSame(
    [await seen(stays), await seen(goes)],
    [
      [200, 404],
      [404, 200],
    ],
  );
  t.equal((await idsOf(reached, to, "t")).length, posts.length + 1);
});

/** Mounts a small disk for uploads. Returns false without the right to mount one. */
function mountSmallDisk(t: Teardown, folder: string, bytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return false;
  }
  t.teardown(() => execFileSync("umount", ["-l", folder]));
  return true;
}

async function stagingRealm(server: TestServer, folder: string): Promise<string[]> {
  await server.realm.files.idle();
  return readdirSync(folder);
}

t.test("[M5] an upload that fills the disk is rejected with 503 and leaves no bytes of the file", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const folder = join(server.dataDir, "realms", "1", "files", "uploads");
  if (!mountSmallDisk(t, folder, 1024 * 1024)) return t.comment("skipped: this process cannot mount a disk");
  const kept = await uploaded(owner, Buffer.alloc(300_000, "k"));
  const before = server.realm.files.bytes;
  const names = await stagingRealm(server, folder);
  const full = refusal("The server is out of disk space and does not accept changes", "STORE_REFUSES_WRITES", 503);
  await expects(t, sendFile(owner, Buffer.alloc(900_000, "x")), full);
  t.strictSame(await stagingRealm(server, folder), names, "the temporary file is deleted");
  t.equal(server.realm.files.bytes, before, "and its size is not counted");
  t.equal((await attachmentsOf(owner)).length, 1);
  t.equal((await fetchFile(owner, kept.url)).bytes.length, 300_000, "the earlier file is intact");
  const again = await uploaded(owner, Buffer.alloc(600_000, "y"));
  t.equal((await fetchFile(owner, again.url)).bytes.length, 600_000, "a file that fits is accepted");
});

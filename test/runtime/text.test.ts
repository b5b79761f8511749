/**
 * Values that do not survive storage (pitfalls 1.7: lone surrogates, minus zero, `__proto__`) never reach memory
 * either: after requests that carry them everywhere, memory equals a rebuild from the rows (M9), over REST and sockets.
 */
import t from "tap";
import type { Realm } from "../../src/runtime/realm.ts";
import { RealmProjections } from "../../src/store/projections/realm-projections.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const half = "a\ud800b";
const awkward: readonly string[] = [half, "\udc00", "\u0000", "__proto__", "-0", "\ufeff", "\ufffe", "e\u0301"];

/** JSON as a hostile client writes it: it contains escapes that JSON.stringify would make well-formed. */
function rawJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('"-0"', "-0");
}

function sameAsDisk(realm: Realm): { readonly memory: string; readonly disk: string } {
  return {
    memory: JSON.stringify(realm.projections.snapshot()),
    disk: JSON.stringify(RealmProjections.rebuild(realm.lmdb).snapshot()),
  };
}

t.test("[M9] memory and disk agree after text that cannot be stored as it is", async (t) => {
  const { owner, running, url } = await startTestServer(t);
  const [realm] = running.host.openRealms;
  if (realm === undefined) throw new Error("no realm is open");
  const socket = new Socket(url, { as: owner });
  await socket.opened();
  const requests: [string, Record<string, unknown>][] = awkward.flatMap((text) => [
    ["/users/me/subscriptions", { subscriptions: rawJson([{ name: `n ${text}`, description: text, color: text }]) }],
    ["/channels/create", { name: `c ${text}`, description: text, subscribers: "[2]" }],
    ["/register", { event_types: rawJson([text]), narrow: rawJson([["sender", text]]) }],
    ["/register", { client_capabilities: `{${JSON.stringify(text)}: true}` }],
    ["/messages", { type: "channel", to: "general", topic: text, content: `x${text}`, local_id: text, queue_id: text }],
    ["/messages", { type: "direct", to: rawJson([text]), content: text }],
    ["/users", { email: `${text}@example.com`, full_name: `N${text}`, password: "correct horse battery" }],
    ["/typing", { type: "channel", op: "start", stream_id: 1, topic: text }],
  ]);
  for (const [path, params] of requests) {
    const answer = await owner.post(path, params);
    t.ok(answer.status < 500, `${path} ${answer.status}`);
    const frame = { type: "call", method: "POST", path, params };
    // A frame with lone surrogates is malformed: it is rejected without a ref, so nothing waits for its reply.
    if (/\\u[dD][89a-fA-F]/.test(JSON.stringify(frame))) socket.send(frame);
    else t.not((await socket.ask(frame)).code, "INTERNAL_SERVER_ERROR");
  }
  socket.close();
  const { memory, disk } = sameAsDisk(realm);
  t.equal(memory, disk);
  realm.lmdb.each("messages", (message) => {
    t.strictSame(realm.view.row("messages", message.id), message);
    t.notMatch(message.content, /\p{Surrogate}/u);
  });
  realm.lmdb.each("conversations", (row, id) => t.strictSame(realm.view.row("conversations", id), row));
  realm.lmdb.each("topicNames", ({ id }) => t.ok(realm.lmdb.has("conversations", id)));
});

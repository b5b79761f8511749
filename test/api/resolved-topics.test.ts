/** Resolving topics with long or existing names (spec 2.9; public API: update-message). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects } from "../support/client.ts";
import { audit, moved, read, topicOf } from "../support/message-moves.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const member = await server.user("member");
const id = await server.owner.createChannel("questions", [member]);
const mention = `@_**member 0|${member.userId}**`;

/** Renames like a client, with the default notices. */
const rename = (by: Client, messageId: number, topic: string, more = {}) =>
  by.patch(`/messages/${messageId}`, { topic, propagate_mode: "change_all", ...more });
const textsOf = async (topic: string) => (await topicOf(member, id, topic)).map(([, content]) => content);

t.test("[spec 2.9] last_moved_timestamp is absent if a topic was only resolved, name cut or not", async (t) => {
  const name = "n".repeat(limits.topic_code_points_max);
  const message = await member.say(id, name, "why?");
  await expects(t, rename(member, message, `✔ ${name}`), moved);
  const resolved = await read(member, message);
  t.equal(resolved.subject, `✔ ${"n".repeat(limits.topic_code_points_max - 5)}...`);
  t.notOk("last_moved_timestamp" in resolved);
  t.equal(resolved.edit_history.length, 1, "the history has the entry");
  await expects(t, rename(member, message, resolved.subject.slice(2)), moved);
  t.notOk("last_moved_timestamp" in (await read(member, message)), "nor if it was unresolved again");
  await rename(member, message, "another question");
  t.ok("last_moved_timestamp" in (await read(member, message)), "a move sets it");
});

t.test("a move that only resolves posts no move notice, also into an existing resolved topic", async (t) => {
  const first = await member.say(id, "taken", "one");
  await rename(member, first, "✔ taken");
  const second = await member.say(id, "taken", "two");
  await expects(t, rename(member, second, "✔ taken"), moved);
  const resolved = `${mention} has marked this topic as resolved.`;
  t.strictSame(await textsOf("✔ taken"), ["one", resolved, "two", resolved]);
  await member.say(id, "taken", "three");
  await expects(t, rename(member, first, "taken"), moved);
  t.strictSame(await textsOf("taken"), [
    ...["one", resolved, "two", resolved, "three"],
    `${mention} has marked this topic as unresolved.`,
  ]);
  audit(t, server);
});

t.test("resolving with another change posts the notice of a move", async (t) => {
  const [first, second] = [await member.say(id, "parts", "one"), await member.say(id, "parts", "two")];
  await rename(member, first, "✔ parts", { propagate_mode: "change_one" });
  t.match((await textsOf("✔ parts")).at(-1), /^\[A message\].* was moved here from /, "a part of the topic");
  await rename(member, second, "✔ parts", { content: "three" });
  t.equal(
    (await textsOf("✔ parts")).filter((text) => text.endsWith("as resolved.")).length,
    0,
    "and a change of content",
  );
  audit(t, server);
});

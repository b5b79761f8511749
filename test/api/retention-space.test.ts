/** Retention deletes the rows that belong to a message (spec 2.4); the sweep finds them by the message's traits. */
import t from "tap";
import type { TableName } from "../../schemas/records.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { dayMs, pass } from "../support/retention.ts";

const tables = [
  "messages",
  "messageEdits",
  "reactions",
  "messageAlerts",
  "messageFlags",
] as const satisfies TableName[];

t.test("[spec 2.4] an expired message is deleted with its reactions, earlier versions and mentions", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const member = await server.user("member");
  const id = await owner.createChannel("short-lived", [owner, member], { message_retention_days: 1 });
  const { lmdb } = server.realm;
  const counts = () => tables.map((table) => lmdb.count(table));
  const before = counts();
  await member.post("/users/me/alert_words", { alert_words: ["alarm"] });
  const message = await owner.say(id, "t", "an alarm");
  await owner.patch(`/messages/${message}`, { content: "another alarm" });
  await member.post(`/messages/${message}/reactions`, { emoji_name: "tada" });
  await member.post("/messages/flags", { op: "add", flag: "starred", messages: [message] });
  for (const [index, count] of counts().entries()) t.ok(count > (before[index] ?? 0), tables[index] ?? "");
  await pass(server, clock, 2 * dayMs);
  t.strictSame(counts(), before);
});

/**
 * Stores that contain commands, tables and a machine's context under their former names still work, and nothing is
 * lost.
 */
import { join } from "node:path";
import { open } from "lmdb";
import { pack } from "msgpackr";
import t from "tap";
import { storedName, type TableName } from "../../schemas/records.ts";
import { decodeRow } from "../../src/store/codec.ts";
import { seal } from "../../src/store/seal.ts";
import { Client } from "../support/client.ts";
import { createChannel, personOf, realmOf } from "../support/conversation.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

type Key = string | number | number[];

/** Writes rows as an earlier version did, bypassing the program. */
async function write(folder: string, rows: readonly (readonly [TableName, Key, readonly unknown[]])[]): Promise<void> {
  const root = open<Buffer, Key>({ path: folder, overlappingSync: false, maxDbs: 128, encoding: "binary" });
  for (const [table, key, row] of rows) {
    const database = root.openDB<Buffer, Key>({ name: storedName(table), encoding: "binary" });
    database.putSync(key, seal(table, key, pack(row)));
  }
  await root.close();
}

const recount = (id: number) => ({
  to: { actor: "conversation", id },
  type: "topic.recount",
  params: {},
  callerId: null,
  ticket: null,
});

t.test("[M3, M8] commands with their former types are processed after an upgrade", async (t) => {
  const first = await startTestServer(t);
  const anna = await personOf(first, "anna");
  const channel = await createChannel(first.owner, "kitchen", [anna]);
  await first.owner.say(channel, "old", "hello");
  const { environment: before } = realmOf(first);
  const conversationId = before.keys("conversations", { reverse: true, limit: 1 })[0] ?? 0;
  const lastMessageId = before.get("conversations", conversationId)?.lastMessageId;
  await first.stop();

  const look = { to: { actor: "retention" }, type: "retention.look", params: {}, callerId: null, ticket: null };
  await write(join(first.dataDir, "realms", "1"), [
    ["mailbox", 1, [1, 1, recount(conversationId), 0]],
    ["timers", [1, 2], [1, 1, 2, look]],
    ["deadLetters", 3, [1, 3, recount(conversationId), 0, "it failed", 3, null]],
    ["snapshots", "realm", [1, 1, "active", { isFounded: true }]],
  ]);

  const second = await startTestServer(t, { dataDir: first.dataDir });
  const again = new Client(second.url, anna.account);
  await again.say(channel, "old", "hello again");
  const { environment } = realmOf(second);
  // Commands of the server that did not fit into their turn may be in the mailbox for a moment, too.
  await until(() => environment.count("mailbox") === 0);
  t.strictSame(
    environment.rows("deadLetters", { limit: 10 }).map(({ row }) => row.error),
    ["it failed"],
  );
  t.notOk(environment.has("timers", [1, 2]), "the timer has fired");
  t.match(environment.get("deadLetters", 3)?.command, { type: "topic.refreshLastMessage" });
  t.ok((environment.get("conversations", conversationId)?.lastMessageId ?? 0) > (lastMessageId ?? 0));
});

t.test("[M3] parameters with their former names are read as the current ones", (t) => {
  const command = (params: object) => ({ ...recount(1), type: "messages.take-in", params });
  const paramsOf = (params: object) =>
    decodeRow("mailbox", 1, seal("mailbox", 1, pack([1, 1, command(params), 2]))) as unknown;
  t.match(paramsOf({ moveId: 5, isLimitedToSight: true }), {
    attempts: 2,
    command: { type: "messages.import", params: { moveId: 5, isLimitedToVisible: true, isLimitedToSight: undefined } },
  });
  const place = { kind: "channel", id: 1 };
  const floor = { upTo: 3, at: 1 };
  const none = { place, floor: null };
  t.match(paramsOf({ before: [{ place, floor }, none] }), {
    command: {
      params: {
        before: [
          { place, watermark: floor, floor: undefined },
          { place, watermark: null },
        ],
      },
    },
  });
  t.match(paramsOf({ before: "x" }), { command: { params: { before: "x" } } }, "another command's parameter");
  t.end();
});

t.test("[M3, M8] commands that were renamed later are read with their current names", (t) => {
  const former: readonly (readonly [string, object, string, object])[] = [
    ["attachments.recount", { attachmentIds: [1] }, "attachments.recheck", { attachmentIds: [1] }],
    ["channels.tell-inactive", { since: 1, upTo: 2, afterId: 0 }, "channels.announce-inactive", { since: 1 }],
    ["missed-messages.gather", { messageId: 1, afterUserId: 0 }, "missed-messages.collect", { messageId: 1 }],
    ["topic.tell-rename", { moveId: 1 }, "topic.announce-rename", { moveId: 1 }],
    ["mail.abandon", { isTaken: true }, "mail.abandon", { wasAccepted: true, isTaken: undefined }],
    ["webhook.abandon", { isTaken: false }, "webhook.abandon", { wasAnswered: false, isTaken: undefined }],
    ["messages.import", { moveId: 1 }, "messages.import", { moveId: 1 }],
  ];
  for (const version of [1, 2]) {
    for (const [type, params, currentType, currentParams] of former) {
      const command = { ...recount(1), type, params };
      const rows: readonly (readonly ["mailbox" | "timers" | "deadLetters", Key, readonly unknown[]])[] = [
        ["mailbox", 1, [1, command, 2]],
        ["timers", [5, 1], [5, 1, command]],
        ["deadLetters", 1, [1, command, 5, "it failed", 1, null]],
      ];
      for (const [table, key, row] of rows) {
        const read = decodeRow(table, key as never, seal(table, key, pack([version, ...row]))) as unknown;
        const expected = { command: { type: currentType, params: currentParams } };
        t.match(read, expected, `${type} in version ${version} of ${table}`);
      }
    }
  }
  t.end();
});

t.test("[E2] tables keep the on-disk names that stores were created with", async (t) => {
  const server = await startTestServer(t);
  const anna = await personOf(server, "anna");
  await server.owner.say("general", "topic", "hello");
  await anna.post("/mark_all_as_read", {});
  await server.stop();
  const path = join(server.dataDir, "realms", "1");
  const root = open<Buffer, string>({ path, overlappingSync: false, maxDbs: 128, encoding: "binary" });
  const names = [...root.getKeys()].map(String);
  await root.close();
  for (const name of ["readFloors", "channelSights", "messageAttention"]) t.ok(names.includes(name), name);
  for (const name of ["readWatermarks", "channelVisibility", "messageAlerts"]) t.notOk(names.includes(name), name);
});

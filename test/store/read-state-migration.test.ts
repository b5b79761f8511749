/**
 * A store from before read state existed: the upgrade completes its indexes, and old messages are not unread for any
 * user.
 */
import { join } from "node:path";
import t from "tap";
import type { MessageIndexRecord } from "../../schemas/messages.ts";
import { openEnvironment } from "../../src/store/environment.ts";
import { Client } from "../support/client.ts";
import { createChannel, personOf, realmOf } from "../support/conversation.ts";
import { startTestServer } from "../support/server.ts";

t.test(
  "[architecture, Read state] a store of version 2 is upgraded when its realm opens, and its old messages are read",
  async (t) => {
    const first = await startTestServer(t);
    const anna = await personOf(first, "anna");
    const channel = await createChannel(first.owner, "kitchen", [anna]);
    const id = await first.owner.say(channel, "old", "@**anna 0**");
    const direct = await first.owner.post("/messages", { type: "direct", to: [anna.userId], content: "old" });
    await first.stop();

    const environment = openEnvironment(join(first.dataDir, "realms", "1"));
    // A row as that version wrote it, without the current fields.
    const former = {} as unknown as MessageIndexRecord;
    environment.transaction(() => {
      for (const { key } of environment.rows("conversationMessages", { limit: 100 })) {
        environment.put("conversationMessages", key, former);
      }
      for (const { key, row } of environment.rows("channelMessages", { limit: 100 })) {
        environment.put("channelMessages", key, { conversationId: row.conversationId, ...former });
      }
      for (const { key } of environment.rows("readStates", { limit: 100 })) environment.remove("readStates", key);
      environment.put("meta", "version", { value: 2 });
    });
    await environment.close();

    const second = await startTestServer(t, { dataDir: first.dataDir });
    const again = new Client(second.url, anna.account);
    const types = ["message", "update_message_flags"];
    const unread = async () =>
      (await again.register({ fetch_event_types: types }))["unread_msgs"] as { count: number; mentions: number[] };
    t.strictSame((await unread()).count, 0);
    await again.post("/messages/flags", { op: "remove", flag: "read", messages: [id, direct.body.id] });
    const { count, mentions } = await unread();
    t.strictSame([count, mentions], [2, [id]]);
  },
);

t.test(
  "[architecture, Read state] the flags in a store of version 3 are indexed by message after the upgrade",
  async (t) => {
    const first = await startTestServer(t);
    const anna = await personOf(first, "anna");
    const id = await first.owner.say("general", "old", "x");
    await anna.post("/messages/flags", { op: "add", flag: "starred", messages: [id] });
    await first.stop();
    const folder = join(first.dataDir, "realms", "1");
    const environment = openEnvironment(folder);
    environment.transaction(() => {
      for (const { key } of environment.rows("flagHolders", { limit: 100 })) environment.remove("flagHolders", key);
      // For a message that was deleted.
      environment.put("messageFlags", [anna.userId, 1, id + 1], {});
      environment.put("meta", "version", { value: 3 });
    });
    await environment.close();

    const second = await startTestServer(t, { dataDir: first.dataDir });
    const again = new Client(second.url, anna.account);
    const starred = async () =>
      (await again.register({ fetch_event_types: ["starred_messages"] }))["starred_messages"] as number[];
    t.strictSame(await starred(), [id]);
    const { environment: opened } = realmOf(second);
    t.strictSame(
      opened.rows("flagHolders", { limit: 100 }).map(({ key }) => key),
      [[id, anna.userId, 1]],
    );
  },
);

t.test(
  "[S1] queues in a store of version 5 are deleted, because it did not record since when their owners could see a channel",
  async (t) => {
    const first = await startTestServer(t);
    const queue = await first.owner.register({ event_types: ["message"] });
    await first.stop();
    const environment = openEnvironment(join(first.dataDir, "realms", "1"));
    environment.transaction(() => environment.put("meta", "version", { value: 5 }));
    await environment.close();

    const second = await startTestServer(t, { dataDir: first.dataDir });
    const owner = new Client(second.url, first.owner.account);
    const { queue_id, last_event_id } = queue;
    const { status, body } = await owner.get("/events", { queue_id, last_event_id, dont_block: true });
    t.strictSame([status, body.code], [400, "BAD_EVENT_QUEUE_ID"]);
  },
);

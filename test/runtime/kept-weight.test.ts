/**
 * What is kept of messages that are read (runtime/row-cache.ts, queries/encoded-messages.ts) is bounded by characters: the bound is one
 * of memory only while a message weighs no more than it is counted as. Weighed after a collection: no clock decides.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { realmOf } from "../support/conversation.ts";
import { fillIndexes, messageRow, setNewestMessage } from "../support/filled.ts";
import { heapMib } from "../support/heap.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const perPage = limits.messages_per_fetch_max;
const content = "**short** text";
const rendered = "<p><strong>short</strong> text</p>";

t.test("[S3] a short message that was read weighs no more than it is counted as", async (t) => {
  const server = await startTestServer(t, { dataDir: temporaryFolder(t, { inMemory: true }) });
  const realm = realmOf(server);
  const newest = await server.owner.say("general", "weighed", content);
  const conversationId = realm.view.row("messages", newest)?.conversationId ?? 0;
  const first = newest + 1;
  fillIndexes(realm, conversationId, 2 * perPage, first);
  const row = (id: number) => messageRow(id, conversationId, { senderId: server.owner.userId, content, rendered });
  fill(
    realm,
    "messages",
    rowsFor<"messages">(2 * perPage, (id) => [id, row(id)], first),
  );
  setNewestMessage(realm, first + 2 * perPage - 1);
  const read = async (page: number) => {
    const { body } = await server.owner.get("/messages", {
      anchor: String(first + page * perPage),
      num_before: 0,
      num_after: perPage - 1,
    });
    return (body.messages as unknown[]).length;
  };
  // What is compiled and reserved at the first is not weighed.
  t.equal(await read(0), perPage);
  const before = heapMib();
  t.equal(await read(1), perPage);
  const weight = ((heapMib() - before) * 2 ** 20) / perPage;
  t.comment(`${Math.round(weight)} bytes a message`);
  t.ok(weight > (content.length + rendered.length) * 2, `they are kept: ${weight}`);
  const counted = limits.cached_message_characters_beside + 2 * (content.length + rendered.length);
  t.ok(weight <= counted, `${weight} bytes are not more than ${counted}`);
});

/**
 * The caches of messages that were read (runtime/caches.ts, queries/encoded-messages.ts) are bounded by characters.
 * That bounds memory only if a message takes no more memory than is counted for it. Measured after a garbage
 * collection, independent of time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { fillIndexes, messageRow, setNewestMessage } from "../support/filled.ts";
import { memoryBytes } from "../support/heap.ts";
import { until } from "../support/realtime.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const perPage = limits.messages_per_fetch_max;
/** So many that what else the process needs meanwhile, as compiled code, is little for one message. All fit. */
const pages = 4;
const content = "**short** text";
const rendered = "<p><strong>short</strong> text</p>";

/** The least of several measures: what is kept, without what is about to be freed. */
async function keptBytes(): Promise<number> {
  let least = memoryBytes();
  for (let more = 0; more < 2; more++) {
    await sleep(50);
    least = Math.min(least, memoryBytes());
  }
  return least;
}

t.test("[S3] a cached short message takes no more memory than is counted for it", async (t) => {
  const server = await startTestServer(t, { dataDir: temporaryFolder(t, { inMemory: true }) });
  const realm = server.realm;
  const newest = await server.owner.say("general", "weighed", content);
  const conversationId = realm.view.row("messages", newest)?.conversationId ?? 0;
  const first = newest + 1;
  const messages = (1 + pages) * perPage;
  fillIndexes(realm, conversationId, messages, first);
  const row = (id: number) => messageRow(id, conversationId, { senderId: server.owner.userId, content, rendered });
  fill(
    realm,
    "messages",
    rowsFor<"messages">(messages, (id) => [id, row(id)], first),
  );
  setNewestMessage(realm, first + messages - 1);
  const read = async (page: number) => {
    const { body } = await server.owner.get("/messages", {
      anchor: String(first + page * perPage),
      num_before: 0,
      num_after: perPage - 1,
    });
    return (body.messages as unknown[]).length;
  };
  // Memory for compilation and the first allocation is not measured.
  for (let time = 0; time < 2; time++) t.equal(await read(0), perPage);
  // Nor are rows that are kept until the store has them: these would hide as much.
  await until(() => realm.isStored);
  const before = await keptBytes();
  for (let page = 1; page <= pages; page++) {
    // The second time the encoded messages are kept as bytes.
    for (let time = 0; time < 2; time++) t.equal(await read(page), perPage);
  }
  const weight = ((await keptBytes()) - before) / (pages * perPage);
  t.comment(`${Math.round(weight)} bytes per message`);
  t.ok(weight > (content.length + rendered.length) * 2, `they are cached: ${weight}`);
  const counted = limits.cached_message_overhead_characters + 2 * (content.length + rendered.length);
  t.ok(messages * counted <= limits.cached_messages_characters_max, "none was evicted");
  t.ok(weight <= counted, `${weight} bytes are at most ${counted}`);
});

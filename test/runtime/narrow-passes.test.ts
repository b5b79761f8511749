/**
 * Long reads (S3, narrow_rows_per_pass_max; architecture, The path of a write): they find everything, and other
 * requests run between their passes.
 */
import t, { type Test } from "tap";
import { readNarrow } from "../../domain/narrow/narrow.ts";
import { isRefusal } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { messageFetchRoutes } from "../../src/operations/routes/message-fetch.ts";
import { fetchMessages, MessageWalk } from "../../src/queries/message-fetch.ts";
import { finished } from "../../src/queries/passes.ts";
import { callOf, read } from "../sim/calls.ts";
import { counted } from "../support/filled.ts";
import { answerOf, commands, generalId, type OpenRealm, openNewRealm, ownerId, turn } from "../support/runtime.ts";

const perPass = limits.narrow_rows_per_pass_max;

function operation(operationId: string) {
  const binding = messageFetchRoutes.find(({ endpoint }) => endpoint.operationId === operationId);
  if (binding === undefined) throw new Error(`no operation ${operationId}`);
  return binding.handler;
}

async function postAll(bench: OpenRealm, posts: readonly (readonly [topic: string, content: string])[]) {
  const pending = posts.map(([topic, content]) => bench.ask(commands.post(topic, content)));
  const ids = (await Promise.all(pending)).map((result) => answerOf(result)["id"] as number);
  await bench.idle();
  return ids;
}

/** The owner's response, and how many passes of the event loop it took. */
async function asked(t: Test, bench: OpenRealm, operationId: string, params: object) {
  const { realm } = bench;
  const caller = realm.view.users.get(ownerId);
  if (caller === undefined) throw new Error("there is no owner");
  let isOver = false;
  const answer = Promise.resolve(operation(operationId)(callOf({ realm, caller, params }) as never)).then((result) => {
    isOver = true;
    return read(result);
  });
  let passes = 0;
  for (; !isOver; passes++) await turn();
  const { code, body } = await answer;
  t.equal(code, null);
  return { body, passes };
}

const shown = { apply_markdown: false, client_gravatar: true, allow_empty_topic_name: true };
const fetched = {
  ...shown,
  include_anchor: true,
  num_before: 100,
  num_after: 0,
  anchor: "newest",
};

t.test("[S3] narrow_rows_per_pass_max: a search over more than one pass finds first and last", async (t) => {
  const bench = await openNewRealm(t);
  const filler = Array.from({ length: 3 * perPass }, (_, index) => ["t", `nothing ${index}`] as const);
  const link = ["t", "https://example.com"] as const;
  const ids = await postAll(bench, [link, ...filler, link]);
  const narrow = [{ operator: "has", operand: "link" }];
  const { body, passes } = await asked(t, bench, "get-messages", { ...fetched, narrow });
  const found = body.messages.map(({ id }: { id: number }) => id);
  t.strictSame(found, [ids[0], ids.at(-1)]);
  t.equal(body.found_oldest, true);
  t.ok(passes >= 3, `${passes} passes`);
});

t.test("[S3] narrow_rows_per_pass_max: a request for more ids than one pass reads returns each of them", async (t) => {
  const bench = await openNewRealm(t);
  const ids = await postAll(
    bench,
    Array.from({ length: 2 * perPass + 1 }, (_, index) => ["t", `m${index}`] as const),
  );
  const at = await asked(t, bench, "get-messages", { ...shown, message_ids: ids.slice(0, perPass) });
  const over = await asked(t, bench, "get-messages", { ...shown, message_ids: ids });
  t.strictSame([at.body.messages.length, over.body.messages.length], [perPass, 2 * perPass + 1]);
  t.ok(over.passes > at.passes, `${at.passes} and ${over.passes} passes`);
});

t.test("[S3] topics_per_pass_max: a list of more topics than one pass reads contains each of them", async (t) => {
  const bench = await openNewRealm(t);
  const before = await asked(t, bench, "get-stream-topics", { stream_id: generalId, allow_empty_topic_name: true });
  const count = 4 * limits.topics_per_pass_max;
  await postAll(
    bench,
    Array.from({ length: count }, (_, index) => [`topic ${index}`, "x"] as const),
  );
  const params = { stream_id: generalId, allow_empty_topic_name: true };
  const { body, passes } = await asked(t, bench, "get-stream-topics", params);
  t.equal(body.topics.length, before.body.topics.length + count);
  t.equal(new Set(body.topics.map((topic: { name: string }) => topic.name)).size, body.topics.length, "each once");
  t.ok(passes >= before.passes + 4, `${before.passes} and ${passes} passes`);
  const newestFirst = body.topics.map(({ max_id: id }: { max_id: number }) => id);
  t.strictSame(
    newestFirst,
    [...newestFirst].sort((a, b) => b - a),
  );
});

t.test(
  "[S3] fetch_again_rows_max: a page over more than one pass reads each message twice, not once more",
  async (t) => {
    const bench = await openNewRealm(t);
    const count = perPass;
    await postAll(
      bench,
      Array.from({ length: count }, (_, index) => ["t", `m${index}`] as const),
    );
    const { realm } = bench;
    const reader = realm.view.users.get(ownerId);
    const narrowed = reader === undefined ? null : readNarrow(realm.view, reader, []);
    if (reader === undefined || narrowed === null || isRefusal(narrowed)) throw new Error("there is no owner");
    const { view, looks } = counted(realm.view);
    const walk = new MessageWalk(view, reader, narrowed, () => false);
    const { messages } = await finished(
      fetchMessages(walk, { anchor: 1, before: 0, after: count, includesAnchor: false }),
    );
    const shownIds = await finished(
      walk.shown(messages, () => ({ id, content }) => ({
        value: `${id} ${content}`,
        characters: 500,
      })),
    );
    t.strictSame(shownIds?.length, messages.length, "each message");
    t.equal(new Set(shownIds).size, messages.length, "with its text");
    t.ok((looks.get("row messages") ?? 0) <= 2 * count, `${looks.get("row messages")} reads of ${count} messages`);
  },
);

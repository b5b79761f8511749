/**
 * What a handler read before it had to wait may have changed when it continues: a turn of one or many other commands
 * ran in between. The tests call handlers directly, as the executor does, so that the order of commands is known (M7).
 */
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Binding } from "../../src/operations/calls.ts";
import { Passwords } from "../../src/operations/identity/passwords.ts";
import { noRates, RateLimits } from "../../src/operations/rate-limits.ts";
import { authenticationRoutes } from "../../src/operations/routes/authentication.ts";
import { messageFetchRoutes } from "../../src/operations/routes/message-fetch.ts";
import { callOf, read } from "../sim/calls.ts";

import { answerOf, commands, type OpenRealm, openNewRealm, ownerId, turn } from "../support/runtime.ts";

/** The response to a user's request; the handler has started when this returns. */
async function startRead(
  bench: OpenRealm,
  bindings: readonly Binding[],
  operationId: string,
  params: object,
  id = ownerId,
) {
  const { realm } = bench;
  const binding = bindings.find(({ endpoint }) => endpoint.operationId === operationId);
  const caller = realm.view.users.get(id);
  if (binding === undefined || caller === undefined) throw new Error(`no ${operationId} by ${id}`);
  return read(await binding.handler(callOf({ realm, caller, params }) as never));
}

async function withPassword(t: Test, passwords: Passwords, password: string) {
  const bench = await openNewRealm(t);
  const change = async (to: string) => {
    const formerHash = bench.realm.view.row("credentials", ownerId)?.passwordHash ?? null;
    const params = { settings: {}, fullName: null, password: { formerHash, hash: to } };
    return bench.ask(command({ actor: "user", id: ownerId }, "user.change-settings", params, ownerId));
  };
  const hash = await passwords.hash(password);
  await change(hash ?? "");
  return { bench, change };
}

t.test("[S2] a login returns no key when the password changes while it is being compared", async (t) => {
  const passwords = new Passwords();
  const password = "correct horse battery";
  const { bench, change } = await withPassword(t, passwords, password);
  const routes = authenticationRoutes({ passwords, rates: new RateLimits(noRates, () => 0) }, false);
  const keys = () => [...bench.realm.view.apiKeysOf(ownerId)].length;
  const fetchKey = () => startRead(bench, routes, "fetch-api-key", { username: "owner@localhost", password });
  const before = keys();
  t.equal((await fetchKey()).body.user_id, ownerId);
  t.equal(keys(), before + 1);
  const late = fetchKey();
  t.equal((await change("another")).kind, "ok");
  t.equal((await late).code, "AUTHENTICATION_FAILED");
  t.equal(keys(), before + 1);
});

/**
 * A message that a search finds in its first pass, and more than two passes of other messages before the next match.
 */
async function withLongWalk(t: Test) {
  const bench = await openNewRealm(t);
  const made = await bench.ask(
    command(
      { actor: "realm" },
      "user.create",
      { email: "ann@example.com", fullName: "Ann", passwordHash: "none", role: roles.member },
      null,
    ),
  );
  const annId = answerOf(made)["user_id"] as number;
  const say = async (topic: string, content: string) =>
    answerOf(await bench.ask(commands.post(topic, content)))["id"] as number;
  const oldest = await say("t", "https://example.com");
  const filler = Array.from({ length: 3 * limits.narrow_rows_per_pass_max }, () =>
    bench.ask(commands.post("t", "nothing")),
  );
  await Promise.all(filler);
  const newest = await say("t", "https://example.com @**Owner**");
  await bench.idle();
  const params = { ...range, narrow: [{ operator: "has", operand: "link" }] };
  const fetching = () => startRead(bench, messageFetchRoutes, "get-messages", params, annId);
  return { bench, annId, oldest, newest, fetching };
}

const range = {
  apply_markdown: false,
  client_gravatar: true,
  allow_empty_topic_name: true,
  include_anchor: true,
  num_before: 100,
  num_after: 0,
  anchor: "newest",
};

function idsIn(body: { readonly messages: readonly { readonly id: number }[] }): number[] {
  return body.messages.map(({ id }) => id);
}

t.test("[S1, E2] a message deleted during a long search is not in its response", async (t) => {
  const { bench, oldest, newest, fetching } = await withLongWalk(t);
  t.strictSame(idsIn((await fetching()).body), [oldest, newest]);
  const late = fetching();
  const deletion = command({ actor: "message", id: newest }, "message.delete", {}, ownerId);
  t.equal((await bench.ask(deletion)).kind, "ok");
  t.strictSame(idsIn((await late).body), [oldest]);
});

t.test("[S1] a user who becomes a guest during a long search gets only what a guest may see", async (t) => {
  const { bench, annId, fetching } = await withLongWalk(t);
  const unsubscribed = { channelNames: ["general"], principals: [annId] };
  await bench.ask(command({ actor: "realm" }, "subscriptions.remove", unsubscribed, ownerId));
  t.equal(idsIn((await fetching()).body).length, 2, "a member reads public channels");
  const late = fetching();
  const demotion = { target: { id: annId }, fullName: null, role: roles.guest, profileData: [], newEmail: null };
  t.equal((await bench.ask(command({ actor: "realm" }, "user.update", demotion, ownerId))).kind, "ok");
  t.strictSame(idsIn((await late).body), []);
});

/** So much text that a response with all of it takes many passes to build. */
async function withLongAnswer(t: Test) {
  const bench = await openNewRealm(t);
  const text = "x".repeat(9000);
  const posts = Array.from({ length: 400 }, () => bench.ask(commands.post("long", text)));
  const ids = (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
  await bench.idle();
  const params = { ...range, num_before: ids.length, narrow: [{ operator: "topic", operand: "long" }] };
  /** Counts the passes of the event loop and calls `act` after each. */
  const fetching = async (act: (pass: number, isOver: () => boolean) => unknown) => {
    let isOver = false;
    const answer = startRead(bench, messageFetchRoutes, "get-messages", params).finally(() => {
      isOver = true;
    });
    let passes = 0;
    while (!isOver) {
      await turn();
      await act(passes++, () => isOver);
    }
    return { ids: idsIn((await answer).body), passes };
  };
  return { bench, ids, fetching };
}

t.test("[S3] narrow_characters_per_pass_max: a long response is built in several passes", async (t) => {
  const { ids, fetching } = await withLongAnswer(t);
  const { ids: shown, passes } = await fetching(() => undefined);
  t.strictSame(shown, ids);
  // Each message is matched with both of its texts, read again with them and encoded once: 45,000 characters, eight to
  // a unit of folding.
  const least = Math.floor((ids.length * 5 * 9000) / 8 / limits.narrow_characters_per_pass_max);
  t.ok(passes >= least, `${passes} passes, at least ${least}`);
});

t.test("[S1, E2] a message deleted while a long response is built is not in it, whatever the pass", async (t) => {
  const { bench, ids, fetching } = await withLongAnswer(t);
  const { passes } = await fetching(() => undefined);
  let left = ids;
  let deletedInTime = 0;
  for (let moment = 0; moment < passes; moment++) {
    const gone = left[0] ?? 0;
    const deletion = command({ actor: "message", id: gone }, "message.delete", {}, ownerId);
    let isInTime = false;
    const { ids: shown } = await fetching(async (pass, isOver) => {
      if (pass !== moment) return;
      await bench.ask(deletion);
      isInTime = !isOver();
    });
    left = left.slice(1);
    if (isInTime) deletedInTime++;
    t.strictSame(isInTime || shown[0] !== gone ? shown : shown.slice(1), left, `deleted in pass ${moment}`);
  }
  t.ok(deletedInTime >= 3, `${deletedInTime} of ${passes} passes`);
});

t.test("[E2] a long response completes although a user posts in each of its passes", async (t) => {
  const { bench, ids, fetching } = await withLongAnswer(t);
  const { ids: shown } = await fetching(() => bench.ask(commands.post("long", "more")));
  t.strictSame(shown, ids);
});

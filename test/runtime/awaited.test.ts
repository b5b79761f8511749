/**
 * What a request looked at before it had to wait, and what has become of it since: a turn of another command, or many, ran in between.
 * The handlers are called as the performer calls them, so that it is known which command comes when (M7).
 */
import t, { type Test } from "tap";
import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { Passwords } from "../../src/http/passwords.ts";
import { noRates, RateLimits } from "../../src/http/rate-limits.ts";
import { authenticationRoutes } from "../../src/http/routes/authentication.ts";
import { messageFetchRoutes } from "../../src/http/routes/message-fetch.ts";
import type { Binding } from "../../src/runtime/calls.ts";
import { callOf, read } from "../sim/calls.ts";

import { answerOf, commands, type OpenRealm, openFounded, ownerId } from "../support/runtime.ts";

/** What somebody is answered; the handler has begun when this returns. */
async function asked(
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
  const bench = await openFounded(t);
  const change = async (to: string) => {
    const formerHash = bench.realm.view.row("credentials", ownerId)?.passwordHash ?? null;
    const params = { settings: {}, fullName: null, password: { formerHash, hash: to } };
    return bench.ask(command({ actor: "user", id: ownerId }, "user.change-settings", params, ownerId));
  };
  const hash = await passwords.hash(password);
  await change(hash ?? "");
  return { bench, change };
}

t.test("[S2] a password that is changed while it is compared gives no key any more", async (t) => {
  const passwords = new Passwords();
  const password = "correct horse battery";
  const { bench, change } = await withPassword(t, passwords, password);
  const routes = authenticationRoutes(passwords, new RateLimits(noRates, () => 0), false);
  const keys = () => [...bench.realm.view.apiKeysOf(ownerId)].length;
  const fetchKey = () => asked(bench, routes, "fetch-api-key", { username: "owner@localhost", password });
  const before = keys();
  t.equal((await fetchKey()).body.user_id, ownerId);
  t.equal(keys(), before + 1);
  const late = fetchKey();
  t.equal((await change("another")).kind, "ok");
  t.equal((await late).code, "AUTHENTICATION_FAILED");
  t.equal(keys(), before + 1);
});

/** A message that a walk finds in its first pass, and more than two passes of others before the next match. */
async function withLongWalk(t: Test) {
  const bench = await openFounded(t);
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
  const fetching = () => asked(bench, messageFetchRoutes, "get-messages", params, annId);
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

t.test("[S1, E2] what is deleted while a long walk goes on is not in its answer any more", async (t) => {
  const { bench, oldest, newest, fetching } = await withLongWalk(t);
  t.strictSame(idsIn((await fetching()).body), [oldest, newest]);
  const late = fetching();
  const deletion = command({ actor: "message", id: newest }, "message.delete", {}, ownerId);
  t.equal((await bench.ask(deletion)).kind, "ok");
  t.strictSame(idsIn((await late).body), [oldest]);
});

t.test("[S1] who becomes a guest while a long walk goes on is shown what a guest may see", async (t) => {
  const { bench, annId, fetching } = await withLongWalk(t);
  const unsubscribed = { channelNames: ["general"], principals: [annId] };
  await bench.ask(command({ actor: "realm" }, "subscriptions.remove", unsubscribed, ownerId));
  t.equal(idsIn((await fetching()).body).length, 2, "a member reads public channels");
  const late = fetching();
  const demotion = { target: { id: annId }, fullName: null, role: roles.guest, profileData: [], newEmail: null };
  t.equal((await bench.ask(command({ actor: "realm" }, "user.update", demotion, ownerId))).kind, "ok");
  t.strictSame(idsIn((await late).body), []);
});

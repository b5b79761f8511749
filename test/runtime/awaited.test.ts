/**
 * What a request looked at before it had to wait, and what has become of it since: a turn of another command, or many, ran in between.
 * The handlers are called as the performer calls them, so that it is known which command comes when (M7).
 */
import t, { type Test } from "tap";
import { command } from "../../actors/commands.ts";
import { Passwords } from "../../src/http/passwords.ts";
import { noRates, RateLimits } from "../../src/http/rate-limits.ts";
import { authenticationRoutes } from "../../src/http/routes/authentication.ts";
import type { Binding } from "../../src/runtime/calls.ts";
import { callOf, read } from "../sim/calls.ts";

import { type OpenRealm, openFounded, ownerId } from "../support/runtime.ts";

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
  const routes = authenticationRoutes(passwords, new RateLimits(noRates, () => 0));
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

/**
 * States that follow rows: an organization and a user are open or deactivated as their rows say, whatever program wrote
 * them, in every turn.
 */
import t from "tap";
import { actorKinds } from "../../actors/kinds.ts";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { answerOf, codeOf, commands, createUsers, openNewRealm, ownerId } from "../support/runtime.ts";

const realm = { actor: "realm" } as const;
const other = { actor: "user", id: 3 } as const;

t.test("[D1] a deactivated organization accepts timers and the operator, and no user", async (t) => {
  const bench = await openNewRealm(t);
  const load = () => actorKinds.realm.load(realm, bench.realm.view)?.state;
  const reactivate = (callerId: number | null) => bench.ask(command(realm, "realm.reactivate", {}, callerId));
  t.equal(load(), "open");
  t.match(await reactivate(ownerId), { kind: "refused", code: "UNAUTHORIZED_PRINCIPAL" });
  t.strictSame(answerOf(await reactivate(null)), {}, "an open one stays as it is");
  answerOf(await bench.ask(command(realm, "realm.deactivate", {}, ownerId)));
  t.equal(load(), "deactivated");
  t.equal(codeOf(await bench.ask(commands.createChannel("new", [ownerId]))), "REALM_DEACTIVATED");
  answerOf(await bench.ask(command(realm, "channel.find-first-message", { channelId: 1 }, null)));
  const since = bench.realm.view.realm.deactivatedAt;
  bench.clock.advance(1000);
  answerOf(await bench.ask(command(realm, "realm.deactivate", {}, null)));
  t.equal(bench.realm.view.realm.deactivatedAt, since, "twice is once");
  const reopened = bench.crash(t);
  t.equal(codeOf(await reopened.ask(commands.createChannel("new", [ownerId]))), "REALM_DEACTIVATED", "after a crash");
  answerOf(await reopened.ask(command(realm, "realm.reactivate", {}, null)));
  t.equal(codeOf(await reopened.ask(commands.createChannel("new", [ownerId]))), "ok");
});

t.test("a snapshot that a newer program wrote is rejected", async (t) => {
  const bench = await openNewRealm(t);
  const newer = { version: 99, state: "open", context: {} };
  bench.lmdb.transaction(() => bench.lmdb.put("snapshots", "realm", newer));
  t.throws(() => actorKinds.realm.load(realm, bench.realm.view), /snapshot version 99 is newer than this program/);
});

t.test("[M7] the state of a user follows the row that the realm writes, in the same turn", async (t) => {
  const bench = await openNewRealm(t);
  await createUsers(bench, 2);
  const load = () => (actorKinds.user.load(other, bench.realm.view) ?? actorKinds.user.initial(other)).state;
  const status = { text: "hi", away: null, emojiName: null, emojiCode: null, reactionType: null };
  const own = command(other, "status.update", { ...status, isOwn: true }, 3);
  const byOwner = command(other, "status.update", { ...status, isOwn: false }, ownerId);
  t.equal(load(), "active");
  const [, mine, owners] = await Promise.all([
    bench.ask(command(realm, "user.deactivate", { userId: 3, comment: null }, ownerId)),
    bench.ask(own),
    bench.ask(byOwner),
  ]);
  t.equal(codeOf(mine), "USER_DEACTIVATED");
  t.match(owners, { kind: "refused", msg: "User is deactivated" });
  t.equal(load(), "deactivated");
  const expiry: Command = command(other, "user.email-change.expire", { keyHash: "k", requestedAt: 1 }, null);
  t.equal(codeOf(await bench.ask(expiry)), "ok", "the server continues");
  answerOf(await bench.ask(command(realm, "user.reactivate", { userId: 3 }, ownerId)));
  t.equal(load(), "active");
  t.equal(codeOf(await bench.ask(own)), "ok");
});

/**
 * A private channel that very many come to know of at once (S3): sight_pairs_max bounds the rows and events of one turn, and the
 * largest case that it allows is far below turn_bytes_max.
 */
import t from "tap";
import { channelSight } from "../../actors/realm/channel-sight.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import { prepared } from "../../src/store/environment.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { answerOf, commands, makePeople, openFounded, ownerId } from "../support/runtime.ts";

t.test(
  "[S3] sight_pairs_max: so many learn of a private channel in one turn; with one more, their queues end",
  async (t) => {
    const opened = await openFounded(t);
    const { realm } = opened;
    const { view } = realm;
    const max = limits.sight_pairs_max;
    const owner = view.users.get(ownerId);
    if (owner === undefined) throw new Error("no owner");
    const member = (id: number) => ({
      ...owner,
      id,
      role: roles.member,
      email: `p${id}@example.com`,
      fullName: `p ${id}`,
    });
    const first = 1_000_000;
    fill(
      realm,
      "users",
      rowsFor<"users">(max + 1, (id) => [id, member(id)], first),
    );
    // Rows are written for who follows events alone.
    const queue = { createdAt: 0, createdAtPosition: 0, lifespanMs: 600_000, client: "test", options: {} };
    fill(
      realm,
      "queues",
      rowsFor<"queues">(
        max + 1,
        (userId) => [`queue of ${userId}`, { ...queue, id: `queue of ${userId}`, userId }],
        first,
      ),
    );
    const made = await opened.ask(commands.createChannel("sealed", [ownerId]));
    const id = Number(answerOf(made)["id"]);
    const open = view.channels.get(id);
    if (open === undefined) throw new Error("no channel");
    const sealed: ChannelRecord = { ...open, isPrivate: true };
    fill(realm, "channels", [[id, sealed]]);
    const members = view.groups.system("role:members")?.id ?? 0;
    const after = supposing(view, {
      channels: new Map([[id, { ...sealed, groups: { ...sealed.groups, can_subscribe_group: members } }]]),
    });
    const ids = (count: number) => Array.from({ length: count }, (_, at) => first + at);
    const { appearing, gained } = channelSight(view, after, [id], ids(max));
    t.equal(gained.get(id)?.length, max, "at the bound all of them are told");
    let bytes = 0;
    let rows = 0;
    for (const effect of appearing) {
      if (effect.kind === "put") {
        bytes += prepared(effect.table, effect.key as never, effect.row as never).bytes?.length ?? 0;
        rows++;
      } else if (effect.kind === "emit") {
        const { audience, body, type } = effect;
        bytes += prepared("events", 1, { position: 1, at: view.now, type, audience, body }).bytes?.length ?? 0;
      }
    }
    t.equal(rows, max);
    t.ok(bytes * 2 < limits.turn_bytes_max, `${bytes} bytes`);
    const beyond = channelSight(view, after, [id], ids(max + 1));
    t.strictSame([beyond.appearing.length, beyond.gained.size], [0, 0], "one over");
    t.equal(beyond.vanishing.length, max + 1, "their queues end: they register again");
    t.match(beyond.vanishing[0], { kind: "remove", table: "queues", key: `queue of ${first}` });
  },
);

t.test(
  "[S3] sight_subscribers_max: so many subscribers of channels that appear are told of; with one more, queues end",
  async (t) => {
    const opened = await openFounded(t);
    const { view } = opened.realm;
    const [ada = 0, bob = 0, eve = 0] = await makePeople(opened, 3);
    await opened.ask(commands.register(eve, "queue of eve"));
    const channels = new Map<number, ChannelRecord>();
    const members = view.groups.system("role:members")?.id ?? 0;
    for (const name of ["first", "second"]) {
      const id = Number(answerOf(await opened.ask(commands.createChannel(name, [ada, bob])))["id"]);
      const open = view.channels.get(id);
      if (open === undefined) throw new Error("no channel");
      fill(opened.realm, "channels", [[id, { ...open, isPrivate: true }]]);
      channels.set(id, { ...open, isPrivate: true, groups: { ...open.groups, can_subscribe_group: members } });
    }
    const told = (max?: number) => channelSight(view, supposing(view, { channels }), channels.keys(), [eve], max);
    const kinds = (effects: ReturnType<typeof told>["appearing"]) =>
      effects.map((effect) => (effect.kind === "emit" ? effect.body["op"] : effect.kind));
    t.strictSame(kinds(told(4).appearing), ["put", "create", "peer_add", "put", "create", "peer_add"], "at the bound");
    t.strictSame(told(4), told());
    const beyond = told(3);
    t.strictSame([beyond.appearing.length, beyond.gained.size], [0, 0], "one over");
    t.match(beyond.vanishing, [{ kind: "remove", table: "queues", key: "queue of eve" }]);
  },
);

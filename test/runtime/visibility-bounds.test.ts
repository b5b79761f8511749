/**
 * A private channel that becomes visible to many users at once (S3): visibility_pairs_max bounds the rows and events of
 * one turn, and the largest allowed change is far below turn_bytes_max.
 */
import t from "tap";
import { channelVisibility } from "../../actors/realm/channel-visibility.ts";
import { withOverrides } from "../../domain/overlay-view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { prepared } from "../../src/store/lmdb.ts";
import { opOf } from "../support/logged-events.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { answerOf, commands, createUsers, openNewRealm, ownerId, queueOptions } from "../support/runtime.ts";

t.test(
  "[S3] visibility_pairs_max: one turn shows a private channel to that many users; with one more, their queues are closed",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm } = opened;
    const { view } = realm;
    const max = limits.visibility_pairs_max;
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
    // Rows are written only for users with an event queue.
    const queue = { createdAt: 0, createdAtPosition: 0, lifespanMs: 600_000, client: "test", options: queueOptions };
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
    const after = withOverrides(view, {
      channels: new Map([[id, { ...sealed, groups: { ...sealed.groups, can_subscribe_group: members } }]]),
    });
    const ids = (count: number) => Array.from({ length: count }, (_, at) => first + at);
    const { appearing, gained } = channelVisibility(view, after, [id], ids(max));
    t.equal(gained.get(id)?.length, max, "at the bound all of them receive the events");
    let bytes = 0;
    let rows = 0;
    for (const effect of appearing) {
      if (effect.kind === "put") {
        bytes += prepared(effect.table, effect.key as never, effect.row as never).bytes?.length ?? 0;
        rows++;
      } else if (effect.kind === "emit") {
        const { kind: _kind, span: _span, ...event } = effect;
        bytes += prepared("events", 1, { position: 1, at: view.now, ...event }).bytes?.length ?? 0;
      }
    }
    t.equal(rows, max);
    t.ok(bytes * 2 < limits.turn_bytes_max, `${bytes} bytes`);
    const beyond = channelVisibility(view, after, [id], ids(max + 1));
    t.strictSame([beyond.appearing.length, beyond.gained.size], [0, 0], "one over");
    t.equal(beyond.vanishing.length, max + 1, "their queues are closed: they register again");
    t.match(beyond.vanishing[0], { kind: "remove", table: "queues", key: `queue of ${first}` });
  },
);

t.test(
  "[S3] visibility_subscribers_max: events list that many subscribers of newly visible channels; with one more, queues are closed",
  async (t) => {
    const opened = await openNewRealm(t);
    const { view } = opened.realm;
    const [ada = 0, bob = 0, eve = 0] = await createUsers(opened, 3);
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
    const expectedEvent = (max?: number) =>
      channelVisibility(view, withOverrides(view, { channels }), channels.keys(), [eve], max);
    const kinds = (effects: ReturnType<typeof expectedEvent>["appearing"]) =>
      effects.map((effect) => (effect.kind === "emit" ? opOf(effect) : effect.kind));
    t.strictSame(
      kinds(expectedEvent(4).appearing),
      ["put", "create", "peer_add", "put", "create", "peer_add"],
      "at the bound",
    );
    t.strictSame(expectedEvent(4), expectedEvent());
    const beyond = expectedEvent(3);
    t.strictSame([beyond.appearing.length, beyond.gained.size], [0, 0], "one over");
    t.match(beyond.vanishing, [{ kind: "remove", table: "queues", key: "queue of eve" }]);
  },
);

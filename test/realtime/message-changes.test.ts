/**
 * Messages before plus events equals messages now (E2; architecture, Event log): edits, renames, moves, deletions and
 * reactions, live over a socket and replayed from the log, for users with different rights and clients with different
 * capabilities.
 */
import t, { type Test } from "tap";
import { roles } from "../../schemas/types.ts";
import type { Client, Event, Params, Queue } from "../support/client.ts";
import { MessageMirror, snapshotOf } from "../support/message-mirror.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import type { Socket } from "../support/socket.ts";

const types = ["message", "update_message", "delete_message", "reaction"];

interface Abilities {
  readonly empty_topic_name: boolean;
  readonly bulk_message_deletion: boolean;
}

class Watcher {
  readonly #client: Client;
  readonly #abilities: Abilities;
  readonly #messages: readonly Event[];
  readonly #socket: Socket;
  readonly #queue: Queue;

  private constructor(
    client: Client,
    abilities: Abilities,
    start: { messages: readonly Event[]; socket: Socket; queue: Queue },
  ) {
    this.#client = client;
    this.#abilities = abilities;
    this.#messages = start.messages;
    this.#socket = start.socket;
    this.#queue = start.queue;
  }

  static async of(client: Client, abilities: Abilities): Promise<Watcher> {
    const params = {
      event_types: types,
      fetch_event_types: [],
      apply_markdown: true,
      client_capabilities: { notification_settings_null: true, ...abilities },
    };
    const socket = await connect(client);
    await socket.ask({ type: "register", ...params });
    const queue = await client.register(params);
    const messages = await fetchAll(client, abilities, {});
    return new Watcher(client, abilities, { messages, socket, queue });
  }

  async check(t: Test, title: string, fence: number): Promise<void> {
    await this.#socket.event((event) => event.message?.id === fence);
    for (const [way, events] of [
      ["live", this.#socket.events],
      ["repeated", await this.#client.readNow(this.#queue)],
    ] as const) {
      const mirror = new MessageMirror(this.#messages);
      mirror.apply(events);
      const fresh = await fetchAll(this.#client, this.#abilities, { message_ids: mirror.ids });
      // Events of a public channel reach subscribers only, so a mirror cannot follow channels that it left.
      const { body } = await this.#client.get("/users/me/subscriptions");
      const channels = body.subscriptions.map((subscription: Event) => subscription.stream_id);
      const isFollowed = ({ stream_id: id }: Event) => id === undefined || channels.includes(id);
      t.strictSame(mirror.snapshot().filter(isFollowed), snapshotOf(fresh).filter(isFollowed), `${title}, ${way}`);
      t.ok(mirror.ids.length > 3, "there are messages to compare");
    }
    this.#socket.terminate();
  }
}

async function fetchAll(client: Client, abilities: Abilities, more: Params): Promise<Event[]> {
  const range = more["message_ids"] === undefined ? { anchor: "newest", num_before: 5000, num_after: 0 } : {};
  const { body } = await client.get("/messages", {
    ...range,
    ...more,
    allow_empty_topic_name: abilities.empty_topic_name,
  });
  return body.messages;
}

t.test("[E2, S1] clients that follow events have what a fresh fetch returns, whatever messages do", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const member = await server.user("member");
  const other = await server.user("other");
  const guest = await server.user("guest", roles.guest);
  const open = await owner.createChannel("open", [owner, member, other, guest]);
  const wide = await owner.createChannel("wide", [owner, member]);
  const sealed = await member.createChannel("sealed", [member, other], { invite_only: true });
  const say = async (channelId: number, topic: string, count: number, by = member) => {
    const ids: number[] = [];
    for (let n = 0; n < count; n++) ids.push(await by.say(channelId, topic, `${topic} ${n}`));
    return ids;
  };
  const [a = 0, b = 0, c = 0] = await say(open, "one", 3);
  const [d = 0, e = 0] = await say(open, "", 2, other);
  const [f = 0, g = 0] = await say(sealed, "inside", 2);
  const [h = 0] = await say(open, "leaving", 2);
  const direct = (await member.post("/messages", { type: "direct", to: [owner.userId], content: "x" })).body.id;
  await other.post(`/messages/${a}/reactions`, { emoji_name: "tada" });

  const able = { empty_topic_name: true, bulk_message_deletion: true };
  const unable = { empty_topic_name: false, bulk_message_deletion: false };
  const watchers: [string, Watcher][] = [];
  for (const [name, client, abilities] of [
    ["owner", owner, able],
    ["member", member, unable],
    ["other", other, able],
    ["guest", guest, unable],
  ] as const) {
    watchers.push([name, await Watcher.of(client, abilities)]);
  }

  const patch = async (by: Client, id: number, params: Params) => {
    const { status, body } = await by.patch(`/messages/${id}`, params);
    t.equal(status, 200, JSON.stringify(body));
  };
  const whole = { propagate_mode: "change_all" };
  await patch(member, a, { content: "/me edits @**owner**" });
  await patch(member, a, { content: "and again @**other 0**" });
  await patch(other, b, { topic: "two" });
  await patch(other, a, { ...whole, topic: "✔ one" });
  await patch(member, d, { ...whole, topic: "named https://example.com" });
  await patch(member, e, { topic: "" });
  const [late = 0] = await say(open, "two", 1);
  await patch(member, late, { content: "late, edited" });
  await other.post(`/messages/${late}/reactions`, { emoji_name: "smile" });
  await patch(member, c, { topic: "two", propagate_mode: "change_later" });
  await patch(owner, b, { ...whole, stream_id: wide });
  await patch(member, h, { ...whole, stream_id: sealed, topic: "left" });
  await patch(member, f, { stream_id: open, topic: "outside" });
  await patch(member, g, { content: "still inside" });
  await patch(member, direct, { content: "direct, edited" });
  await owner.post(`/messages/${direct}/reactions`, { emoji_name: "smile" });
  await other.delete(`/messages/${a}/reactions`, { emoji_name: "tada" });
  await owner.post(`/messages/${a}/reactions`, { emoji_name: "tada" });
  await member.delete(`/messages/${late}`);
  await member.delete(`/messages/${c}`);
  const fence = await owner.say("open", "the end", "the end");
  for (const [name, watcher] of watchers) await watcher.check(t, name, fence);
});

t.test("[E2] a user who followed a message into a private channel and left gets the message's next move", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const reader = await server.user("reader");
  const people = [owner, reader];
  const lobby = await owner.createChannel("lobby", people);
  const cellar = await owner.createChannel("cellar", people, { invite_only: true });
  const attic = await owner.createChannel("attic", people);
  const id = await owner.say(lobby, "soup", "hot");
  const kept = await owner.say(lobby, "bread", "cold");
  const queue = await reader.register({
    event_types: ["update_message", "delete_message"],
    client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
  });
  const move = async (messageId: number, to: { stream_id?: number; topic?: string }) => {
    const { status } = await owner.patch(`/messages/${messageId}`, {
      ...to,
      propagate_mode: "change_one",
      send_notification_to_old_thread: false,
      send_notification_to_new_thread: false,
    });
    t.equal(status, 200);
  };
  await move(id, { stream_id: cellar });
  await move(kept, { stream_id: cellar, topic: "secret" });
  await move(id, { topic: "broth" });
  await move(id, { stream_id: attic });
  const { status } = await reader.delete("/users/me/subscriptions", { subscriptions: ["cellar"] });
  t.equal(status, 200);
  const received = await reader.readNow(queue);
  // They may no longer see its topic there (S1).
  const found = received.map((event) => [event.type, event.message_ids, event.new_stream_id, event.subject]);
  t.strictSame(found, [
    ["update_message", [id], cellar, undefined],
    ["update_message", [kept], cellar, undefined],
    ["update_message", [id], attic, "broth"],
  ]);
  t.equal((await reader.get(`/messages/${id}`)).body.message.stream_id, attic);
});

t.test("[E2] a message moved out of a reader's channels before they poll is replayed as read", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const reader = await server.user("reader");
  const here = await owner.createChannel("here", [owner, reader]);
  const elsewhere = await owner.createChannel("elsewhere", [owner]);
  const queue = await reader.register({ event_types: ["message"], fetch_event_types: [] });
  const id = await owner.say(here, "lunch", "soup");
  await owner.patch(`/messages/${id}`, { stream_id: elsewhere });
  const events = await reader.readNow(queue);
  const flags = events.filter(({ message }) => message?.id === id).map((event) => event["flags"]);
  t.strictSame(flags, [["read", "historical"]]);
});

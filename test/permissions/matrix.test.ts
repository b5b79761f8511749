/**
 * The permission matrix (spec 2.2, 2.4, 4.4; behaviour 3.5 to 3.8): role x membership of the holding group x
 * subscription x kind of channel x held permission x operation. Each cell is an HTTP request, and the model gives the
 * expected answer.
 */
import t from "tap";
import { ownProperty } from "../../domain/own-property.ts";
import { channelGroupSettingNames } from "../../schemas/group-settings.ts";
import { roles } from "../../schemas/types.ts";
import type { Answer, Client } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import {
  channelPermissions,
  type Held,
  type Kind,
  kinds,
  type ModelRole,
  modelRoles,
  type Operation,
  type PermissionCase,
  permits,
  realmPermissions,
} from "./model.ts";

const server = await startTestServer(t);
const { owner: founder } = server;
const nobody = server.group("role:nobody");
/** A channel with more subscribers than everybody may mention together (behaviour 5.1). */
const audience = await server.users("listener", 16);

interface Person extends Pick<PermissionCase, "role" | "isHolder" | "isSubscribed"> {
  readonly client: Client;
  /** A different user for each caller, for values that must change. */
  readonly listenerId: number;
}

const people: Person[] = [];
for (const role of Object.keys(modelRoles) as ModelRole[]) {
  for (const isHolder of [true, false]) {
    for (const isSubscribed of [true, false]) {
      const name = `${role}${isHolder ? "H" : ""}${isSubscribed ? "S" : ""}`;
      const listenerId = audience[people.length % audience.length] ?? 0;
      people.push({ role, isHolder, isSubscribed, listenerId, client: await server.user(name, roles[role]) });
    }
  }
}
const subscribed = people.filter((person) => person.isSubscribed).map(({ client }) => client.userId);
const unsubscribed = people.filter((person) => !person.isSubscribed).map(({ client }) => client.userId);
const everybody = [...subscribed, ...unsubscribed];

const holders: number = (
  await ok(
    founder.post("/user_groups/create", {
      name: "holders",
      description: "",
      members: people.filter(({ isHolder }) => isHolder).map(({ client }) => client.userId),
    }),
  )
).body.group_id;
const realmNobody = Object.fromEntries(realmPermissions.map((name) => [name, { new: nobody }]));
await ok(founder.patch("/realm", { ...realmNobody, enable_spectator_access: true }));
await ok(
  founder.patch("/realm", {
    message_content_delete_limit_seconds: "unlimited",
    move_messages_within_stream_limit_seconds: "unlimited",
    move_messages_between_streams_limit_seconds: "unlimited",
  }),
);
const elsewhere = await founder.createChannel(
  "elsewhere",
  people.map(({ client }) => client),
);

async function ok(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  if (answer.status !== 200) throw new Error(`set-up failed: ${JSON.stringify(answer.body)}`);
  return answer;
}

/** Messages and topics that operations need. Each user has their own, sent while everybody was subscribed. */
const purposes = {
  "read a received message": "read",
  "delete another user's message": "deleted",
  "delete one's own message": "own",
  "move a message to another topic": "renamed",
  "resolve a topic": "resolved",
  "move a message to another channel": "moved",
  "delete a topic": "own",
} as const satisfies Partial<Record<Operation, string>>;
type Purpose = (typeof purposes)[keyof typeof purposes];
type Received = Readonly<Partial<Record<Purpose, number>>>;

interface Place {
  readonly id: number;
  readonly name: string;
  readonly kind: Kind;
  readonly oldMessage: number;
  /** By person; sent while everybody was subscribed. */
  readonly received: ReadonlyMap<Person, Received>;
}

const kindParams: Readonly<Record<Kind, Readonly<Record<string, boolean>>>> = {
  public: {},
  "web-public": { is_web_public: true },
  shared: { invite_only: true, history_public_to_subscribers: true },
  protected: { invite_only: true, history_public_to_subscribers: false },
};

let made = 0;

/** A channel in which nobody holds a permission except the given one. Users who are not subscribed have left it. */
async function placeOf(kind: Kind, held: Held, operations: readonly Operation[]): Promise<Place> {
  const needed = new Set(operations.flatMap((operation) => ownProperty<Purpose>(purposes, operation) ?? []));
  const name = `place ${++made}`;
  const groups = Object.fromEntries(
    channelGroupSettingNames.filter((each) => each !== "can_send_message_group").map((each) => [each, nobody]),
  );
  const id = await founder.createChannel(name, [founder], { ...kindParams[kind], ...groups });
  const oldMessage = await founder.say(id, "old", "before you came");
  await ok(
    founder.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [...everybody, ...audience] }),
  );
  const received = new Map<Person, Received>();
  await Promise.all(
    people.map(async (person) => {
      const messages: Partial<Record<Purpose, number>> = {};
      for (const purpose of needed) {
        const writer = purpose === "own" ? person.client : founder;
        messages[purpose] = await writer.say(id, topicOf(person, purpose), "for you");
      }
      received.set(person, messages);
    }),
  );
  await ok(founder.delete("/users/me/subscriptions", { subscriptions: [name], principals: unsubscribed }));
  if (held?.in === "channel") await ok(founder.patch(`/streams/${id}`, { [held.name]: { new: holders } }));
  return { id, name, kind, oldMessage, received };
}

function topicOf({ client }: Person, purpose: string): string {
  return `${purpose} ${client.userId}`;
}

type Attempt = (person: Person, place: Place) => Promise<boolean>;

async function succeeds(answering: Promise<Answer>): Promise<boolean> {
  const { status, body } = await answering;
  if (status >= 500 || status === 401) throw new Error(JSON.stringify(body));
  return status === 200;
}

/** How each operation is tried. Changes that would affect later cells are reverted. */
const attempts: Readonly<Record<Operation, Attempt>> = {
  "know the channel": ({ client }, { id }) => succeeds(client.get(`/streams/${id}`)),
  "list its subscribers": ({ client }, { id }) => succeeds(client.get(`/streams/${id}/members`)),
  "read an old message": ({ client }, { oldMessage }) => succeeds(client.get(`/messages/${oldMessage}`)),
  "read a received message": (person, { received }) =>
    succeeds(person.client.get(`/messages/${received.get(person)?.read}`)),
  post: ({ client }, { id }) =>
    succeeds(client.post("/messages", { type: "channel", to: id, topic: "t", content: "x" })),
  "mention everybody in a large channel": ({ client }, { id }) =>
    succeeds(client.post("/messages", { type: "channel", to: id, topic: "t", content: "@**all**" })),
  async "subscribe oneself"({ client, isSubscribed }, { name }) {
    const isIn = await succeeds(client.post("/users/me/subscriptions", { subscriptions: [{ name }] }));
    if (isIn && !isSubscribed) await ok(client.delete("/users/me/subscriptions", { subscriptions: [name] }));
    return isIn;
  },
  "subscribe somebody else": ({ client, listenerId }, { name }) =>
    succeeds(client.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [listenerId] })),
  async "unsubscribe somebody else"({ client, listenerId }, { name }) {
    const change = { principals: [listenerId] };
    const isOut = await succeeds(client.delete("/users/me/subscriptions", { ...change, subscriptions: [name] }));
    if (isOut) await ok(founder.post("/users/me/subscriptions", { ...change, subscriptions: [{ name }] }));
    return isOut;
  },
  "change the description": ({ client }, { id }) =>
    succeeds(client.patch(`/streams/${id}`, { description: `by ${client.userId}` })),
  "change who may subscribe": ({ client, listenerId }, { id }) =>
    succeeds(
      client.patch(`/streams/${id}`, {
        can_subscribe_group: { new: { direct_members: [listenerId], direct_subgroups: [] } },
      }),
    ),
  "delete another user's message": (person, { received }) =>
    succeeds(person.client.delete(`/messages/${received.get(person)?.deleted}`)),
  "delete one's own message": (person, { received }) =>
    succeeds(person.client.delete(`/messages/${received.get(person)?.own}`)),
  "move a message to another topic": (person, { received }) =>
    succeeds(person.client.patch(`/messages/${received.get(person)?.renamed}`, { topic: topicOf(person, "new name") })),
  "resolve a topic": (person, { received }) =>
    succeeds(
      person.client.patch(`/messages/${received.get(person)?.resolved}`, {
        topic: `✔ ${topicOf(person, "resolved")}`,
        propagate_mode: "change_all",
      }),
    ),
  "move a message to another channel": (person, { received }) =>
    succeeds(person.client.patch(`/messages/${received.get(person)?.moved}`, { stream_id: elsewhere })),
  "delete a topic": (person, { id }) =>
    succeeds(person.client.post(`/streams/${id}/delete_topic`, { topic_name: topicOf(person, "own") })),
};

/** Operations whose result may depend on a held permission, not only on the kind of channel. */
const related: Readonly<Record<string, readonly Operation[]>> = {
  can_add_subscribers_group: [
    "know the channel",
    "read an old message",
    "read a received message",
    "post",
    "subscribe oneself",
    "subscribe somebody else",
  ],
  can_administer_channel_group: [
    "know the channel",
    "list its subscribers",
    "read a received message",
    "subscribe somebody else",
    "unsubscribe somebody else",
    "change the description",
  ],
  can_delete_any_message_group: ["know the channel", "delete another user's message", "delete one's own message"],
  can_delete_own_message_group: ["delete another user's message", "delete one's own message"],
  can_mention_many_users_group: ["mention everybody in a large channel"],
  can_move_messages_between_channels_group: ["move a message to another channel"],
  can_move_messages_between_topics_group: ["move a message to another topic"],
  can_move_messages_out_of_channel_group: ["know the channel", "move a message to another channel"],
  can_move_messages_within_channel_group: ["know the channel", "move a message to another topic"],
  can_remove_subscribers_group: ["know the channel", "subscribe somebody else", "unsubscribe somebody else"],
  can_send_message_group: ["know the channel", "read an old message", "post", "mention everybody in a large channel"],
  can_subscribe_group: [
    "know the channel",
    "read an old message",
    "read a received message",
    "post",
    "subscribe oneself",
    "subscribe somebody else",
  ],
  can_resolve_topics_group: ["know the channel", "move a message to another topic", "resolve a topic"],
};

/** Tries the operations as all users concurrently, each user's in order. @returns cells that differ from the model */
async function differences(place: Place, held: Held, operations: readonly Operation[]): Promise<string[]> {
  const found: string[] = [];
  await Promise.all(
    people.map(async (person) => {
      for (const operation of operations) {
        const facts: PermissionCase = { ...person, kind: place.kind, held };
        const expected = permits[operation](facts);
        if ((await attempts[operation](person, place)) === expected) continue;
        const who = `${person.role}${person.isHolder ? ", holder" : ""}${person.isSubscribed ? ", subscribed" : ""}`;
        found.push(`${who}: ${operation} should be ${expected ? "permitted" : "refused"}`);
      }
    }),
  );
  return found.sort();
}

for (const kind of kinds) {
  t.test(`[spec 2.4, 4.4] a ${kind} channel in which nobody holds a permission`, async (t) => {
    // Operations that remove something run last.
    const operations = Object.keys(permits) as Operation[];
    t.strictSame(await differences(await placeOf(kind, null, operations), null, operations), []);
  });

  for (const name of channelPermissions) {
    t.test(`[spec 2.4, behaviour 3.5] a ${kind} channel whose ${name} is a group`, async (t) => {
      const held = { in: "channel", name } as const;
      const operations = related[name] ?? [];
      t.strictSame(await differences(await placeOf(kind, held, operations), held, operations), []);
    });
  }
}

for (const name of realmPermissions) {
  t.test(`[D5, behaviour 3.9] the organization's ${name} is a group`, async (t) => {
    await ok(founder.patch("/realm", { [name]: { new: holders } }));
    const held = { in: "realm", name } as const;
    for (const kind of kinds) {
      const operations = related[name] ?? [];
      t.strictSame(await differences(await placeOf(kind, held, operations), held, operations), [], kind);
    }
    await ok(founder.patch("/realm", { [name]: { new: nobody } }));
  });
}

/**
 * Who sends: somebody of every role. The fuzz deactivates people, takes their keys and changes their roles as readily as it does
 * anything else; who is found to be gone is replaced by somebody new.
 */
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import { changeUser, createChannel, personOf, realmOf } from "../support/conversation.ts";
import type { TestServer } from "../support/server.ts";
import { type Thing, Things } from "./things.ts";

export const crewRoles = [
  "nobody",
  "guest",
  "member",
  "moderator",
  "administrator",
  "owner",
  "bot",
  "webhook bot",
  "deactivated",
] as const;
export type CrewRole = (typeof crewRoles)[number];

const accountRoles = {
  guest: roles.guest,
  member: roles.member,
  moderator: roles.moderator,
  administrator: roles.administrator,
  owner: roles.owner,
  bot: roles.member,
  "webhook bot": roles.member,
  deactivated: roles.member,
} as const;

/** In seconds: nothing comes due while the fuzz looks. */
const farAhead = 4_102_444_800;

/** Who comes later finds enough. */
const furnishedMax = 30;

export class Crew {
  readonly #server: TestServer;
  readonly #members = new Map<CrewRole, Promise<Client>>();
  readonly things = new Things();
  #hired = 0;

  constructor(server: TestServer) {
    this.#server = server;
  }

  /** Places, people and messages under small ids. */
  async settle(): Promise<void> {
    const { owner } = this.#server;
    const people: Client[] = [];
    for (const role of crewRoles) if (role !== "nobody") people.push(await this.of(role));
    const active = people.filter((_client, index) => crewRoles[index + 1] !== "deactivated");
    const hidden = await createChannel(owner, "hidden", [owner], { invite_only: true });
    await owner.patch("/realm", { enable_spectator_access: true, moderation_request_channel_id: hidden });
    await createChannel(owner, "web", active, { is_web_public: true });
    await createChannel(owner, "common", active);
    for (let count = 0; count < 6; count++) {
      await owner.say("common", "a topic", `*hello* ${count}`);
      await owner.say("hidden", "a topic", "secret");
      await owner.say("web", "a topic", "seen by all");
    }
    await owner.post("/users/me/presence", { status: "active", ping_only: false });
    await owner.post("/messages", { type: "direct", to: [people[1]?.userId ?? 0], content: "psst" });
  }

  of(role: CrewRole): Promise<Client> {
    const known = this.#members.get(role);
    if (known !== undefined) return known;
    const hired = this.#hire(role);
    this.#members.set(role, hired);
    return hired;
  }

  async #hire(role: CrewRole): Promise<Client> {
    if (role === "nobody") return this.#server.owner.anonymous();
    const client = await personOf(this.#server, `${role.replace(" ", "")}${this.#hired++}x`, accountRoles[role]);
    if (role.endsWith("bot")) {
      const botType = role === "bot" ? 1 : 2;
      changeUser(this.#server, client.userId, (user) => ({ ...user, botType, botOwnerId: 2 }));
    }
    const answer = await client.post("/register", {});
    if (role === "deactivated") changeUser(this.#server, client.userId, (user) => ({ ...user, isActive: false }));
    this.things.set(client.userId, "queue", String(answer.body.queue_id ?? ""));
    if (this.#hired <= furnishedMax) await this.#furnish(client);
    return client;
  }

  /** What has to be there before it can be changed: a few of each role's own. */
  async #furnish(client: Client): Promise<void> {
    const to = [client.userId];
    const draft = { type: "private", to, topic: "", content: "half of it", timestamp: 1_700_000_000 };
    const later = { scheduled_delivery_timestamp: farAhead };
    const sent = await client.post("/messages", { type: "direct", to, content: "note to self" });
    await client.post(`/messages/${sent.body.id}/reactions`, { emoji_name: "smile" });
    const poll = await client.post("/messages", { type: "direct", to, content: "/poll\na\nb" });
    const group = { name: `group of ${client.userId}`, description: "", members: to };
    await client.post("/users/me/presence", { status: "active", ping_only: false });
    const made: readonly (readonly [Thing, unknown])[] = [
      ["message", sent.body.id],
      ["reacted message", sent.body.id],
      ["poll", poll.body.id],
      ["group", (await client.post("/user_groups/create", group)).body.group_id],
      ["draft", (await client.post("/drafts", { drafts: [draft] })).body.ids?.[0]],
      ["snippet", (await client.post("/saved_snippets", { title: "t", content: "c" })).body.saved_snippet_id],
      [
        "scheduled message",
        (await client.post("/scheduled_messages", { type: "direct", to, content: "later", ...later })).body
          .scheduled_message_id,
      ],
      ["reminder", (await client.post("/reminders", { message_id: sent.body.id, ...later })).body.reminder_id],
    ];
    for (const [thing, id] of made) if (id !== undefined) this.things.set(client.userId, thing, String(id));
  }

  /** After an answer: whoever is not what they were is let go. */
  review(role: CrewRole, client: Client): void {
    if (role === "nobody" || role === "deactivated") return;
    const { view } = realmOf(this.#server);
    const user = view.users.get(client.userId);
    const isSame = user?.isActive === true && user.role === accountRoles[role] && user.email === client.account?.email;
    if (!isSame) this.#members.delete(role);
  }

  /** The key is good no more. */
  dismiss(role: CrewRole): void {
    this.#members.delete(role);
  }
}

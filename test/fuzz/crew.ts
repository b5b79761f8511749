/**
 * Who sends: somebody of every role. The fuzz deactivates people, takes their keys and changes their roles as readily as it does
 * anything else; who is found to be gone is replaced by somebody new.
 */
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import { changeUser, createChannel, personOf, realmOf } from "../support/conversation.ts";
import type { TestServer } from "../support/server.ts";

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

interface Member {
  readonly client: Client;
  readonly queueId: string;
}

export class Crew {
  readonly #server: TestServer;
  readonly #members = new Map<CrewRole, Promise<Member>>();
  #hired = 0;

  constructor(server: TestServer) {
    this.#server = server;
  }

  /** Places, people and messages under small ids. */
  async settle(): Promise<void> {
    const { owner } = this.#server;
    const people: Client[] = [];
    for (const role of crewRoles) if (role !== "nobody") people.push((await this.of(role)).client);
    const active = people.filter((_client, index) => crewRoles[index + 1] !== "deactivated");
    await owner.patch("/realm", { enable_spectator_access: true });
    await createChannel(owner, "hidden", [owner], { invite_only: true });
    await createChannel(owner, "web", active, { is_web_public: true });
    await createChannel(owner, "common", active);
    for (let count = 0; count < 6; count++) {
      await owner.say("common", "a topic", `*hello* ${count}`);
      await owner.say("hidden", "a topic", "secret");
      await owner.say("web", "a topic", "seen by all");
    }
    await owner.post("/messages", { type: "direct", to: [people[1]?.userId ?? 0], content: "psst" });
  }

  of(role: CrewRole): Promise<Member> {
    const known = this.#members.get(role);
    if (known !== undefined) return known;
    const hired = this.#hire(role);
    this.#members.set(role, hired);
    return hired;
  }

  async #hire(role: CrewRole): Promise<Member> {
    if (role === "nobody") return { client: this.#server.owner.anonymous(), queueId: "" };
    const client = await personOf(this.#server, `${role.replace(" ", "")}${this.#hired++}x`, accountRoles[role]);
    if (role.endsWith("bot")) {
      const botType = role === "bot" ? 1 : 2;
      changeUser(this.#server, client.userId, (user) => ({ ...user, botType, botOwnerId: 2 }));
    }
    const answer = await client.post("/register", {});
    if (role === "deactivated") changeUser(this.#server, client.userId, (user) => ({ ...user, isActive: false }));
    return { client, queueId: String(answer.body.queue_id ?? "") };
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

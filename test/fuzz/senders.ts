/**
 * The senders: one user of every role. The fuzz may deactivate these users, revoke their keys and change their roles. A
 * user who can no longer send is replaced by a new one.
 */
import { refuse } from "../../schemas/errors.ts";
import { roles } from "../../schemas/types.ts";
import type { Make } from "../areas/area.ts";
import { merged } from "../areas/index.ts";
import type { Client } from "../support/client.ts";
import type { TestServer } from "../support/server.ts";
import { Things, thingOf } from "./things.ts";

export const senderRoles = [
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
export type SenderRole = (typeof senderRoles)[number];

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

/** Only this many users create records; later ones find enough of them. */
const recordsMax = 30;

/** Rejections that depend on the kind of user alone. */
const ofKinds = [refuse.guestsNotAllowed(), refuse.botsNotAllowed(), refuse.notForIncomingWebhooks()];

function isOfKind(error: unknown): boolean {
  return error instanceof Error && ofKinds.some(({ msg }) => error.message.includes(msg));
}

/** By kind of record. */
const makers: readonly (readonly [thing: string, make: Make])[] = [
  ...Object.entries(merged(({ fuzz }) => fuzz?.makes)),
  ...Object.entries(merged(({ owned }) => owned)).map(([variable, make]) => {
    const thing = thingOf("", variable);
    if (thing === null) throw new Error(`${variable} has no meaning in the fuzz`);
    return [thing, make] as const;
  }),
];

export class Senders {
  readonly #server: TestServer;
  readonly #members = new Map<SenderRole, Promise<Client>>();
  readonly things = new Things();
  #created = 0;
  #isSettled = false;

  constructor(server: TestServer) {
    this.#server = server;
  }

  /**
   * Creates channels, users and messages under small ids.
   * @throws Error if a maker of records fails for a user who may make them
   */
  async settle(): Promise<void> {
    const { owner } = this.#server;
    const people: Client[] = [];
    for (const role of senderRoles) if (role !== "nobody") people.push(await this.of(role));
    const active = people.filter((_client, index) => senderRoles[index + 1] !== "deactivated");
    const hidden = await owner.createChannel("hidden", [owner], { invite_only: true });
    await owner.patch("/realm", { enable_spectator_access: true, moderation_request_channel_id: hidden });
    await owner.createChannel("web", active, { is_web_public: true });
    await owner.createChannel("common", active);
    for (let count = 0; count < 6; count++) {
      await owner.say("common", "a topic", `*hello* ${count}`);
      await owner.say("hidden", "a topic", "secret");
      await owner.say("web", "a topic", "seen by all");
    }
    await owner.post("/users/me/presence", { status: "active", ping_only: false });
    await owner.post("/messages", { type: "direct", to: [people[1]?.userId ?? 0], content: "psst" });
    this.#isSettled = true;
  }

  of(role: SenderRole): Promise<Client> {
    const known = this.#members.get(role);
    if (known !== undefined) return known;
    const created = this.#create(role);
    this.#members.set(role, created);
    return created;
  }

  async #create(role: SenderRole): Promise<Client> {
    if (role === "nobody") return this.#server.owner.anonymous();
    const client = await this.#server.user(`${role.replace(" ", "")}${this.#created++}x`, accountRoles[role]);
    if (role.endsWith("bot")) {
      const botType = role === "bot" ? 1 : 2;
      this.#server.changeUser(client.userId, (user) => ({ ...user, botType, botOwnerId: 2 }));
    }
    const answer = await client.post("/register", {});
    this.things.set(client.userId, "queue", String(answer.body.queue_id ?? ""));
    if (this.#created <= recordsMax) await this.#createRecords(role, client);
    if (role === "deactivated") this.#server.changeUser(client.userId, (user) => ({ ...user, isActive: false }));
    return client;
  }

  /** Creates what must exist before it can be changed: a few of each kind, owned by each role. */
  async #createRecords(role: SenderRole, client: Client): Promise<void> {
    const id = client.userId;
    await client.post("/users/me/presence", { status: "active", ping_only: false });
    for (const [thing, make] of makers) {
      try {
        this.things.set(id, thing, String(await make(client)));
      } catch (error) {
        // Later, the fuzz may have changed permissions.
        if (!this.#isSettled && !isOfKind(error)) throw new Error(`${role} cannot make: ${thing}`, { cause: error });
      }
    }
  }

  /** After a response: replaces a user whose account has changed. */
  checkSender(role: SenderRole, client: Client): void {
    if (role === "nobody" || role === "deactivated") return;
    const { view } = this.#server.realm;
    const user = view.users.get(client.userId);
    const isSame = user?.isActive === true && user.role === accountRoles[role] && user.email === client.account?.email;
    if (!isSame) this.#members.delete(role);
  }

  /** The user's key is no longer valid. */
  replace(role: SenderRole): void {
    this.#members.delete(role);
  }
}

/**
 * What the world outside saw of mails and webhooks, and what rows say of it: at least once, then marked; given up only when it was
 * refused for good or too often; never again after it was marked.
 */
import type { Command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { Replica, Write } from "./replica.ts";

/** A mail, or a message for a bot's receiver. */
export type Delivery = {
  readonly table: "mails" | "webhookDeliveries";
  readonly key: number | readonly [number, number];
};

/** Whose end takes back what is on its way to them. */
const departures: ReadonlySet<string> = new Set(["user.deactivate", "user.deactivate-self", "bot.deactivate"]);

/** Words of a failure; the last two: told when another word about it has died (M6). */
const failures: ReadonlySet<string> = new Set(["mail.failed", "webhook.failed", "mail.abandon", "webhook.abandon"]);

export class Deliveries {
  readonly #replica: Replica;
  readonly #report: (problem: string) => void;
  /** Who has it, by name; with how it was recognized. */
  readonly #taken = new Map<string, string>();
  readonly #refused = new Set<string>();
  /** Rows that are gone. */
  readonly #over = new Set<string>();

  constructor(replica: Replica, report: (problem: string) => void) {
    this.#replica = replica;
    this.#report = report;
  }

  /** It is being carried. @param mark the same for every repetition */
  carried(delivery: Delivery, mark: string): void {
    const name = nameOf(delivery);
    if (this.#over.has(name)) this.#report(`[D31] ${name} is carried again after its row was gone`);
    if (!this.#replica.has(delivery.table, delivery.key)) this.#report(`[M1] ${name} is carried, and is not on disk`);
    const before = this.#taken.get(name);
    if (before !== undefined && before !== mark) this.#report(`[D31] ${name} is repeated as ${mark}, it was ${before}`);
  }

  taken(delivery: Delivery, mark: string): void {
    this.#taken.set(nameOf(delivery), mark);
  }

  refused(delivery: Delivery): void {
    this.#refused.add(nameOf(delivery));
  }

  /** A transaction is on disk; its rows are not in the replica yet. @param driven commands that ran since the last one */
  committed(writes: readonly Write[], driven: readonly Command[]): void {
    for (const { table, key, bytes } of writes) {
      if (table !== "mails" && table !== "webhookDeliveries") continue;
      const delivery = { table, key } as Delivery;
      const name = nameOf(delivery);
      if (bytes !== null) continue;
      this.#over.add(name);
      if (!this.#taken.has(name) && !this.#isGivenUp(delivery, driven)) {
        this.#report(`[D31] ${name} is gone, and nobody ever got it`);
      }
    }
  }

  #isGivenUp({ table, key }: Delivery, driven: readonly Command[]): boolean {
    if (driven.some(({ type }) => departures.has(type))) return true;
    const isOfIt = ({ to }: Command) =>
      to.actor === "mail"
        ? to.id === key
        : to.actor === "webhook" && JSON.stringify([to.botId, to.id]) === JSON.stringify(key);
    const own = driven.filter(isOfIt).map(({ type }) => type);
    // What it would tell of is not to be told any more (actors/mail/withdrawn.ts).
    const isOfMessages = table === "mails" && this.#replica.get("mails", key)?.template.startsWith("missed-messages");
    if (isOfMessages === true && own.includes("mail.due")) return true;
    const row = table === "mails" ? this.#replica.get("mails", key) : this.#replica.get("webhookDeliveries", key);
    const attempts_max = table === "mails" ? limits.mail_attempts_max : limits.webhook_attempts_max;
    const isLast = this.#refused.has(nameOf({ table, key } as Delivery)) || (row?.attempts ?? 0) + 1 >= attempts_max;
    return isLast && own.some((type) => failures.has(type));
  }

  /** Long after everything was due, and with everybody outside at hand. */
  overdue(now: number): void {
    for (const table of ["mails", "webhookDeliveries"] as const) {
      for (const row of this.#replica.rows(table)) {
        if (row.dueAt <= now) this.#report(`[D31] ${table} ${row.id} was due at ${row.dueAt}, and is still there`);
      }
    }
  }
}

function nameOf({ table, key }: Delivery): string {
  return `${table} ${JSON.stringify(key)}`;
}

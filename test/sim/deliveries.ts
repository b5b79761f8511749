/**
 * Compares the emails and webhooks that the outside world received with the rows: delivered at least once, then marked;
 * abandoned only after a permanent rejection or too many failures; never sent again after being marked.
 */
import type { Command } from "../../actors/protocol/decision.ts";
import { unsubscribeKindOf } from "../../domain/unsubscribe-links.ts";
import { limits } from "../../schemas/limits.ts";
import type { Replica, Write } from "./replica.ts";

/** An email, or a message for a bot's receiver. */
export type Delivery = {
  readonly table: "mails" | "webhookDeliveries";
  readonly key: number | readonly [number, number];
};

/** Commands that cancel the deliveries to their subject. */
const departures: ReadonlySet<string> = new Set(["user.deactivate", "user.deactivate-self", "bot.deactivate"]);

/** Failure reports; the last two are sent when another report about the delivery became a dead letter (M6). */
const failures: ReadonlySet<string> = new Set(["mail.failed", "webhook.failed", "mail.abandon", "webhook.abandon"]);

export class Deliveries {
  readonly #replica: Replica;
  readonly #report: (problem: string) => void;
  /** Deliveries by name, with the mark that identified them. */
  readonly #taken = new Map<string, string>();
  readonly #refused = new Set<string>();
  /** Removed rows. */
  readonly #over = new Set<string>();

  constructor(replica: Replica, report: (problem: string) => void) {
    this.#replica = replica;
    this.#report = report;
  }

  /** A delivery arrived. @param mark the same for every repetition */
  carried(delivery: Delivery, mark: string): void {
    const name = nameOf(delivery);
    if (this.#over.has(name)) this.#report(`[D31] ${name} is delivered again after its row was removed`);
    if (!this.#replica.has(delivery.table, delivery.key)) this.#report(`[M1] ${name} is delivered, but is not on disk`);
    const before = this.#taken.get(name);
    if (before !== undefined && before !== mark) this.#report(`[D31] ${name} is repeated as ${mark}, it was ${before}`);
  }

  taken(delivery: Delivery, mark: string): void {
    this.#taken.set(nameOf(delivery), mark);
  }

  refused(delivery: Delivery): void {
    this.#refused.add(nameOf(delivery));
  }

  /**
   * A transaction was committed; its rows are not in the replica yet. @param driven commands that ran since the last
   * one
   */
  committed(writes: readonly Write[], executed: readonly Command[]): void {
    for (const { table, key, bytes } of writes) {
      if (table !== "mails" && table !== "webhookDeliveries") continue;
      const delivery = { table, key } as Delivery;
      const name = nameOf(delivery);
      if (bytes !== null) continue;
      this.#over.add(name);
      if (!this.#taken.has(name) && !this.#isGivenUp(delivery, executed)) {
        this.#report(`[D31] ${name} was removed, and was never delivered`);
      }
    }
  }

  #isGivenUp({ table, key }: Delivery, executed: readonly Command[]): boolean {
    if (executed.some(({ type }) => departures.has(type))) return true;
    const isOfIt = ({ to }: Command) =>
      to.actor === "mail"
        ? to.id === key
        : to.actor === "webhook" && JSON.stringify([to.botId, to.id]) === JSON.stringify(key);
    const own = executed.filter(isOfIt).map(({ type }) => type);
    // It must not be sent any more, or is not wanted any more (actors/mail/withdrawn.ts).
    const template = table === "mails" ? this.#replica.get("mails", key)?.template : undefined;
    if (unsubscribeKindOf(template ?? "") !== undefined && own.includes("mail.due")) return true;
    const row = table === "mails" ? this.#replica.get("mails", key) : this.#replica.get("webhookDeliveries", key);
    const attempts_max = table === "mails" ? limits.mail_attempts_max : limits.webhook_attempts_max;
    const isLast = this.#refused.has(nameOf({ table, key } as Delivery)) || (row?.attempts ?? 0) + 1 >= attempts_max;
    return isLast && own.some((type) => failures.has(type));
  }

  /** Called long after everything was due, with every receiver available. */
  overdue(now: number): void {
    for (const table of ["mails", "webhookDeliveries"] as const) {
      for (const row of this.#replica.rows(table)) {
        if (row.dueAt <= now) this.#report(`[D31] ${table} ${row.id} was due at ${row.dueAt}, and still exists`);
      }
    }
  }
}

function nameOf({ table, key }: Delivery): string {
  return `${table} ${JSON.stringify(key)}`;
}

/**
 * What the world outside saw of mails and webhooks, and what rows say of it: at least once, then marked; given up only when it was
 * refused for good or too often, or when the word of how it went died (M6); never again after it was marked.
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

/** Told when a word about it has died. */
const abandons: ReadonlySet<string> = new Set(["mail.abandon", "webhook.abandon"]);

export class Deliveries {
  readonly #replica: Replica;
  readonly #report: (problem: string) => void;
  /** Who has it, by name; with how it was recognized. */
  readonly #taken = new Map<string, string>();
  readonly #refused = new Set<string>();
  /** Rows that are gone. */
  readonly #over = new Set<string>();
  /** The last word about it, by name, and how often it ran since the row was written: more than once only when it threw. */
  readonly #words = new Map<string, { readonly word: string; readonly runs: number }>();

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
    for (const asked of driven) this.#heard(asked);
    for (const { table, key, bytes } of writes) {
      if (table !== "mails" && table !== "webhookDeliveries") continue;
      const delivery = { table, key } as Delivery;
      const name = nameOf(delivery);
      if (bytes === null) {
        this.#over.add(name);
        if (!this.#taken.has(name) && !this.#isGivenUp(delivery, driven)) {
          this.#report(`[D31] ${name} is gone, and nobody ever got it`);
        }
      }
      this.#words.delete(name);
    }
  }

  #heard({ to, type, params }: Command): void {
    if ((to.actor !== "mail" && to.actor !== "webhook") || abandons.has(type)) return;
    const name = nameOf(
      to.actor === "mail" ? { table: "mails", key: to.id } : { table: "webhookDeliveries", key: [to.botId, to.id] },
    );
    const word = `${type} ${JSON.stringify(params)}`;
    const last = this.#words.get(name);
    this.#words.set(name, { word, runs: last?.word === word ? last.runs + 1 : 1 });
  }

  #isGivenUp({ table, key }: Delivery, driven: readonly Command[]): boolean {
    if (driven.some(({ type }) => departures.has(type))) return true;
    const isOfIt = ({ to }: Command) =>
      to.actor === "mail"
        ? to.id === key
        : to.actor === "webhook" && JSON.stringify([to.botId, to.id]) === JSON.stringify(key);
    const own = driven.filter(isOfIt).map(({ type }) => type);
    const runs = this.#words.get(nameOf({ table, key } as Delivery))?.runs ?? 0;
    if (own.some((type) => abandons.has(type)) && runs >= limits.mailbox_attempts_max) return true;
    // What it would tell of is not to be told any more (actors/mail/withdrawn.ts).
    const isOfMessages = table === "mails" && this.#replica.get("mails", key)?.template.startsWith("missed-messages");
    if (isOfMessages === true && own.includes("mail.due")) return true;
    const row = table === "mails" ? this.#replica.get("mails", key) : this.#replica.get("webhookDeliveries", key);
    const attempts_max = table === "mails" ? limits.mail_attempts_max : limits.webhook_attempts_max;
    const isLast = this.#refused.has(nameOf({ table, key } as Delivery)) || (row?.attempts ?? 0) + 1 >= attempts_max;
    return isLast && own.some((type) => type === "mail.failed" || type === "webhook.failed");
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

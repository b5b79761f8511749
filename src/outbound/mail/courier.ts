/**
 * Carries one realm's mails out (D31): sees the rows that a turn wrote after its flush, hands what is due to the post office, and
 * tells the mail's actor how it went. No request waits for it. After a start it looks at what is there: a crash loses no mail,
 * at most it repeats one, under the same Message-ID.
 */
import { command } from "../../../actors/commands.ts";
import { limits } from "../../../schemas/limits.ts";
import type { MailRecord } from "../../../schemas/records.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Delivery, Origin, PostOffice } from "./post-office.ts";

export class Courier {
  readonly #realm: Realm;
  readonly #office: PostOffice;
  readonly #origin: Origin;
  /** Due and not yet handed over. */
  readonly #waiting = new Set<number>();
  /** Handed over, until the row says what became of it. */
  readonly #busy = new Set<number>();
  /** Where to go on reading rows when nothing waits; null: all that is due is known. */
  #unreadFrom: number | null = 0;

  constructor(realm: Realm, id: number, office: PostOffice) {
    this.#realm = realm;
    this.#office = office;
    const { label, createdAt } = realm.view.realm;
    this.#origin = { id, name: `${id}:${label}:${createdAt}` };
    realm.dispatcher.observers.observe("mails", (deltas) => {
      for (const { key, row } of deltas) this.#noticed(key as number, row as MailRecord | null);
      this.#handOver();
    });
    this.#handOver();
  }

  #noticed(id: number, row: MailRecord | null): void {
    const isDue = row !== null && this.#isDue(row);
    if (!isDue) {
      this.#busy.delete(id);
      this.#waiting.delete(id);
    } else if (!this.#busy.has(id)) this.#wait(id);
  }

  #isDue({ dueAt }: MailRecord): boolean {
    return dueAt <= this.#realm.view.now;
  }

  /** Memory is bounded: rows that do not fit are read again when there is room. */
  #wait(id: number): void {
    if (this.#waiting.size < limits.mails_waiting_in_memory_max) this.#waiting.add(id);
    else this.#unreadFrom = Math.min(this.#unreadFrom ?? id, id);
  }

  #handOver(): void {
    while (this.#busy.size < limits.mail_deliveries_concurrent_max) {
      const id = this.#next();
      if (id === undefined) return;
      this.#busy.add(id);
      void this.#carry(id);
    }
  }

  #next(): number | undefined {
    while (this.#waiting.size === 0 && this.#unreadFrom !== null) this.#read(this.#unreadFrom);
    const [id] = this.#waiting;
    if (id !== undefined) this.#waiting.delete(id);
    return id;
  }

  #read(start: number): void {
    const limit = limits.mails_waiting_in_memory_max;
    const rows = this.#realm.view.rows("mails", { start, limit });
    const last = rows.at(-1);
    this.#unreadFrom = rows.length < limit || last === undefined ? null : last.key + 1;
    for (const { key, row } of rows) if (this.#isDue(row) && !this.#busy.has(key)) this.#waiting.add(key);
  }

  async #carry(id: number): Promise<void> {
    const mail = this.#realm.view.row("mails", id);
    if (mail === undefined) this.#busy.delete(id);
    else this.#report(mail, await this.#office.deliver(mail, this.#origin));
  }

  /** The row's change or end, seen after its turn, makes room for the next. */
  #report(mail: MailRecord, delivery: Delivery): void {
    const to = { actor: "mail", id: mail.id } as const;
    const { dispatcher } = this.#realm;
    if (delivery.kind === "interrupted") return;
    if (delivery.kind === "taken") {
      dispatcher.tell(command(to, "mail.sent", {}, null));
      return;
    }
    const { isPermanent, reason } = delivery;
    const attempts = mail.attempts + 1;
    const isLast = isPermanent || attempts >= limits.mail_attempts_max;
    const fields = { realm: this.#origin.id, mail: mail.id, template: mail.template, attempts, reason };
    if (isLast) this.#office.log.error(fields, "a mail could not be delivered: it is a dead letter now");
    else this.#office.log.warn(fields, "a mail was not taken: it is tried again");
    dispatcher.tell(command(to, "mail.failed", { isPermanent, reason }, null));
  }
}

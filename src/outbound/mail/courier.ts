/**
 * Carries one realm's mails out (D31): sees the rows that a turn wrote after its flush, hands what is due to the post office, and
 * tells the mail's actor how it went. No request waits for it. After a start it looks at what is there: a crash loses no mail,
 * at most it repeats one, under the same Message-ID.
 */
import { command } from "../../../actors/commands.ts";
import { limits } from "../../../schemas/limits.ts";
import type { MailRecord } from "../../../schemas/records.ts";
import type { Realm } from "../../runtime/realm.ts";
import { Lane } from "../lane.ts";
import type { Delivery, Origin, PostOffice } from "./post-office.ts";

export class Courier {
  readonly #realm: Realm;
  readonly #office: PostOffice;
  readonly #origin: Origin;
  readonly #lane: Lane<MailRecord>;

  /** @param site the organization's address, asked for when a mail is written */
  constructor(realm: Realm, id: number, office: PostOffice, site: () => string) {
    this.#realm = realm;
    this.#office = office;
    const { label, createdAt } = realm.view.realm;
    this.#origin = { id, name: `${id}:${label}:${createdAt}`, site };
    this.#lane = new Lane({
      now: () => realm.view.now,
      read: (start, limit) => realm.view.rows("mails", { start, limit }).map(({ key, row }) => ({ id: key, row })),
      waitingMax: limits.mails_waiting_in_memory_max,
      concurrentMax: limits.mail_deliveries_concurrent_max,
      carry: (mailId) => void this.#carry(mailId),
    });
    realm.dispatcher.observers.observe("mails", (deltas) => {
      for (const { key, row } of deltas) this.#lane.noticed(key as number, row as MailRecord | null);
      this.#lane.handOver();
    });
    this.#lane.handOver();
  }

  async #carry(id: number): Promise<void> {
    const mail = this.#realm.view.row("mails", id);
    if (mail === undefined) this.#lane.noticed(id, null);
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
    if (isLast)
      this.#office.log.error(
        fields,
        'a mail could not be delivered: it is a dead letter now, see "cli dead-letters list"',
      );
    else this.#office.log.warn(fields, "a mail was not taken: it is tried again");
    dispatcher.tell(command(to, "mail.failed", { isPermanent, reason }, null));
  }
}

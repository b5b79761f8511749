/**
 * Delivers one realm's emails (D31): receives the rows that a turn wrote, after its flush, passes due ones to the mail
 * sender, and reports the outcome to the email's actor. After a start it reads the existing rows: a crash loses no
 * email and at most repeats one, with the same Message-ID.
 */
import { command } from "../../../actors/protocol/decision.ts";
import { limits } from "../../../schemas/limits.ts";
import type { MailRecord } from "../../../schemas/mails.ts";
import { onceDurable } from "../../durability/journal/durability-gate.ts";
import type { Realm } from "../../runtime/realm.ts";
import { DeliveryQueue } from "../delivery-queue.ts";
import type { Delivery, MailSender, Origin } from "./mail-sender.ts";

/** The addresses in an organization's emails; called when an email is rendered. */
export interface MailLinks {
  /** The organization's address, without a trailing slash. */
  readonly site: () => string;
  /** Where such emails can be switched off; null if they cannot. It rejects if that cannot be known now. */
  readonly unsubscribeUrl: (mail: MailRecord) => Promise<string | null>;
}

export class MailRelay {
  readonly #realm: Realm;
  readonly #mailSender: MailSender;
  readonly #origin: Origin;
  readonly #links: MailLinks;
  readonly #queue: DeliveryQueue<MailRecord>;

  constructor(realm: Realm, id: number, mailSender: MailSender, links: MailLinks) {
    this.#realm = realm;
    this.#mailSender = mailSender;
    const { label, createdAt } = realm.view.realm;
    this.#origin = { id, name: `${id}:${label}:${createdAt}`, site: links.site };
    this.#links = links;
    this.#queue = new DeliveryQueue({
      now: () => realm.view.now,
      read: (start, limit) => realm.view.rows("mails", { start, limit }).map(({ key, row }) => ({ id: key, row })),
      waitingMax: limits.mails_waiting_in_memory_max,
      concurrentMax: limits.mail_deliveries_concurrent_max,
      deliver: (mailId) => void this.#begin(mailId),
    });
    realm.dispatcher.observers.observe("mails", (deltas) => {
      for (const { key, row } of deltas) this.#queue.noticed(key as number, row as MailRecord | null);
      this.#queue.handOver();
    });
    this.#queue.handOver();
  }

  /** The realm stays open until the delivery has ended. */
  async #begin(id: number): Promise<void> {
    if (!this.#realm.isClosed) await this.#realm.use.during(this.#deliver(id));
  }

  async #deliver(id: number): Promise<void> {
    const mail = this.#realm.view.row("mails", id);
    if (mail === undefined) {
      this.#queue.noticed(id, null);
      return;
    }
    const unsubscribeUrl = await this.#links.unsubscribeUrl(mail).catch(() => undefined);
    await onceDurable(this.#realm.gate);
    // A turn changed or removed the row meanwhile; the queue is notified of that.
    if (this.#realm.view.row("mails", id)?.attempts !== mail.attempts) return;
    const delivery =
      unsubscribeUrl === undefined ? unlinked : await this.#mailSender.deliver(mail, this.#origin, unsubscribeUrl);
    this.#report(mail, delivery);
  }

  /** The change of the row, seen after its turn, makes room for the next email. */
  #report(mail: MailRecord, delivery: Delivery): void {
    const to = { actor: "mail", id: mail.id } as const;
    const { dispatcher } = this.#realm;
    if (delivery.kind === "interrupted") return;
    if (delivery.kind === "taken") {
      this.#mailSender.outcomes?.add("delivered");
      dispatcher.send(command(to, "mail.sent", {}, null));
      return;
    }
    const { isPermanent, reason } = delivery;
    const attempts = mail.attempts + 1;
    const isLast = isPermanent || attempts >= limits.mail_attempts_max;
    this.#mailSender.outcomes?.add(isLast ? "dead" : "retried");
    const fields = { realm: this.#origin.id, mail: mail.id, template: mail.template, attempts, reason };
    if (isLast)
      this.#mailSender.log.error(
        fields,
        'An email could not be delivered and is a dead letter now: see "cli dead-letters list"',
      );
    else this.#mailSender.log.warn(fields, "An email was not accepted; it will be retried");
    dispatcher.send(command(to, "mail.failed", { isPermanent, reason }, null));
  }
}

const unlinked = { kind: "failed", isPermanent: false, reason: "link" } as const;

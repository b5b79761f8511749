/**
 * What all couriers of the server share: one transport, a few deliveries at a time, an end to each, and the log. A delivery never
 * throws, and says what became of the mail in codes only: no address, no text, no password reaches the log (S2).
 */
import { limits } from "../../../schemas/limits.ts";
import type { MailRecord } from "../../../schemas/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type Sender, Unwritable, writeLetter } from "./letter.ts";
import type { MailTransport } from "./transport.ts";

/** What the post office wants of a logger. */
export interface MailLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface PostOfficeOptions {
  readonly transport: MailTransport;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly log: MailLog;
}

/** An organization, to the post office. */
export interface Origin {
  /** In names of files. */
  readonly id: number;
  /** Like no other's, in Message-IDs. */
  readonly name: string;
}

export type Delivery =
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly isPermanent: boolean; readonly reason: string }
  /** The server stops: the mail is as pending as before. */
  | { readonly kind: "interrupted" };

export class PostOffice {
  readonly log: MailLog;
  readonly #transport: MailTransport;
  readonly #sender: Sender;
  readonly #clock: Clock;
  readonly #running = new Set<AbortController>();
  #waiting: (() => void)[] = [];
  #quietWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(options: PostOfficeOptions) {
    this.log = options.log;
    this.#transport = options.transport;
    this.#sender = options.sender;
    this.#clock = options.clock;
  }

  /** Waits for its turn: each courier has a few mails here at most, so the queue is bounded by the number of open realms. */
  async deliver(mail: MailRecord, origin: Origin): Promise<Delivery> {
    while (!this.#isClosed && this.#running.size >= limits.mail_deliveries_concurrent_max) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#isClosed) return { kind: "interrupted" };
    const deadline = new AbortController();
    this.#running.add(deadline);
    const cancel = this.#clock.after(limits.mail_delivery_ms_max, () => deadline.abort());
    try {
      await this.#send(mail, origin, deadline.signal);
      return { kind: "taken" };
    } catch (error) {
      return this.#isClosed ? { kind: "interrupted" } : failure(error, deadline.signal.aborted);
    } finally {
      cancel();
      this.#finished(deadline);
    }
  }

  /** Ends with the deadline, whatever the transport does. */
  #send(mail: MailRecord, origin: Origin, signal: AbortSignal): Promise<void> {
    const letter = writeLetter(mail, origin.name, this.#sender);
    const sent = this.#transport.send({ name: `${origin.id}-${mail.id}`, letter, signal });
    const ended = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("took too long")), { once: true });
    });
    return Promise.race([sent, ended]);
  }

  #finished(deadline: AbortController): void {
    this.#running.delete(deadline);
    this.#waiting.shift()?.();
    if (this.#running.size === 0) for (const waiter of this.#quietWaiters.splice(0)) waiter();
  }

  /** Takes no more, gives what is on its way a moment, and drops it then: what was not taken goes out after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiting.splice(0)) waiter();
    if (this.#running.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(limits.mail_drain_ms_max, resolve);
        this.#quietWaiters.push(() => {
          cancel();
          resolve();
        });
      });
    }
    for (const deadline of this.#running) deadline.abort();
    this.#transport.close();
  }
}

/** What a mail server's "no" was about (nodemailer): only a no to this recipient or this text is final. */
const finalCodes: ReadonlySet<string> = new Set(["EENVELOPE", "EMESSAGE"]);

/**
 * 5xx is permanent where it answers the recipient or the text. A wrong password or a sender that the server does not like are
 * the configuration's fault, which somebody will mend: the mail waits.
 */
function failure(error: unknown, isLate: boolean): Delivery {
  if (isLate) return { kind: "failed", isPermanent: false, reason: "timeout" };
  if (error instanceof Unwritable) return { kind: "failed", isPermanent: true, reason: error.message };
  const { code, responseCode, command } = (error ?? {}) as {
    code?: unknown;
    responseCode?: unknown;
    command?: unknown;
  };
  const status = typeof responseCode === "number" ? responseCode : 0;
  const name = typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "error";
  const isPermanent = status >= 500 && finalCodes.has(name) && command !== "MAIL FROM";
  return { kind: "failed", isPermanent, reason: status === 0 ? name : `${name} ${status}` };
}

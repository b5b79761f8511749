/**
 * What all couriers of the server share: one transport, a few deliveries at a time, an end to each, and the log. A delivery never
 * throws, and says what became of the mail in codes only: no address, no text, no password reaches the log (S2).
 */
import { limits } from "../../../schemas/limits.ts";
import type { MailRecord } from "../../../schemas/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Gate } from "../gate.ts";
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
  /** Its address on the web, without a slash at the end. */
  site(): string;
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
  readonly #gate: Gate;

  constructor(options: PostOfficeOptions) {
    this.log = options.log;
    this.#transport = options.transport;
    this.#sender = options.sender;
    this.#gate = new Gate({
      clock: options.clock,
      concurrentMax: limits.mail_deliveries_concurrent_max,
      msMax: limits.mail_delivery_ms_max,
      drainMsMax: limits.mail_drain_ms_max,
    });
  }

  async deliver(mail: MailRecord, origin: Origin): Promise<Delivery> {
    const passed = await this.#gate.pass(async (signal) => {
      const letter = writeLetter(mail, origin.name, this.#sender, origin.site());
      await this.#transport.send({ name: `${origin.id}-${mail.id}`, letter, signal });
    });
    if (passed.kind === "done") return { kind: "taken" };
    return passed.kind === "interrupted" ? passed : failure(passed.error, passed.isLate);
  }

  async close(): Promise<void> {
    await this.#gate.close();
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

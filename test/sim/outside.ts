/**
 * The outside world: a mail server and the receivers of outgoing webhooks, which accept, reject, never answer, or
 * accept and lose the response. The relays and the mail sender are the server's own; only a webhook's HTTP request is
 * replaced.
 */

import { unsubscribeUrl } from "../../src/app/open-realms.ts";
import { MailRelay } from "../../src/outbound/mail/mail-relay.ts";
import { MailSender } from "../../src/outbound/mail/mail-sender.ts";
import type { WebhookOutcome } from "../../src/outbound/webhooks/dispatch.ts";
import { WebhookRelay } from "../../src/outbound/webhooks/webhook-relay.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { Deliveries, Delivery } from "./deliveries.ts";
import type { Random } from "./random.ts";
import type { SimClock } from "./sim-clock.ts";
import { parsed } from "./world.ts";

export const outsideFaults = ["delivery refused", "delivery unanswered", "delivery unconfirmed"] as const;
export type OutsideFault = (typeof outsideFaults)[number];

type Outcome = "taken" | "busy" | OutsideFault;

export interface OutsideTools {
  readonly random: Random;
  readonly deliveries: Deliveries;
  readonly met: (fault: OutsideFault) => void;
  readonly trace: (text: string) => void;
}

/** A request that never gets a response. */
const never = () => new Promise<never>(() => undefined);

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const linkSecret = "secret of links";

/** Starts with a word that starts no other message (auditor, D25). */
const firstReply = 1_000_000;

export class Outside {
  readonly #tools: OutsideTools;
  /** Every receiver accepts everything. */
  isKind = false;

  constructor(tools: OutsideTools) {
    this.#tools = tools;
  }

  /** The machine is up. @param isUp whether it is still the same one */
  connect(realm: Realm, clock: SimClock, isUp: () => boolean): void {
    const sender = { name: null, address: "chat@example.org" };
    const transport = {
      send: async ({
        name,
        renderedMail,
      }: {
        readonly name: string;
        readonly renderedMail: { readonly messageId: string };
      }) => {
        if (!isUp()) return never();
        const id = Number(name.split("-").at(-1));
        const fate = this.#outcome({ table: "mails", key: id }, renderedMail.messageId);
        if (fate === "taken") return;
        if (fate === "delivery unanswered") return never();
        const isFinal = fate === "delivery refused";
        throw Object.assign(
          new Error(fate),
          isFinal ? { code: "EENVELOPE", responseCode: 550 } : { code: "ECONNECTION" },
        );
      },
      close: async () => undefined,
    };
    const site = "http://localhost";
    new MailRelay(realm, 1, new MailSender({ transport, sender, clock, log }), {
      site: () => site,
      unsubscribeUrl: (mail) => unsubscribeUrl(realm, mail, site, () => linkSecret),
    });
    new WebhookRelay(realm, 1, {
      log,
      outcomes: null,
      deliver: async (_view, { botId, id }, mayLeave = () => Promise.resolve(true)): Promise<WebhookOutcome> => {
        if (!(await mayLeave())) return { kind: "interrupted" };
        if (!isUp()) return never();
        const fate = this.#outcome({ table: "webhookDeliveries", key: [botId, id] }, "");
        if (fate === "taken") {
          const content = `t${firstReply + id}`;
          return { kind: "answered", reply: { content, parsed: parsed(content) } };
        }
        if (fate === "delivery refused") return { kind: "failed", failure: "refused", status: 400 };
        if (fate !== "delivery unanswered") return { kind: "failed", failure: "unreachable", status: 0 };
        await new Promise<void>((resolve) => clock.after(10_000, resolve));
        return isUp() ? { kind: "failed", failure: "timed-out", status: 0 } : never();
      },
    });
  }

  #outcome(delivery: Delivery, mark: string): Outcome {
    const { random, deliveries, met, trace } = this.#tools;
    deliveries.carried(delivery, mark);
    const fate = this.isKind ? "taken" : draw(random);
    trace(`carried ${JSON.stringify(delivery)} ${fate}`);
    if (fate === "taken" || fate === "delivery unconfirmed") deliveries.taken(delivery, mark);
    if (fate === "delivery refused") deliveries.refused(delivery);
    if (fate !== "taken" && fate !== "busy") met(fate);
    return fate;
  }
}

function draw(random: Random): Outcome {
  const drawn = random.next();
  if (drawn < 0.5) return "taken";
  if (drawn < 0.7) return "busy";
  return random.pick(outsideFaults);
}

/** The counters of a working server. There is one for a process; /metrics shows it (docs/metrics.md). */
import { Counter, Histogram } from "./instruments.ts";

export const deliveryOutcomes = ["delivered", "retried", "dead"] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

export class Meters {
  /** How long turns took on the event loop. */
  readonly turns = new Histogram();
  /** How long the oldest record of a flush had waited when it was durable. */
  readonly flushes = new Histogram();
  /** Copies of events that were handed to readers. */
  readonly events = new Counter("reader", ["poll", "socket"]);
  readonly mails = new Counter("outcome", deliveryOutcomes);
  readonly webhooks = new Counter("outcome", deliveryOutcomes);
  readonly failedLogins = new Counter("by", ["key", "password"]);
}

/**
 * Delivers one realm's messages to the receivers of its outgoing webhook bots (spec 6): one queue per bot, so that a
 * slow receiver delays only its own bot. After a start it reads the existing rows: a crash loses no message and at most
 * repeats one.
 */
import { command } from "../../../actors/protocol/decision.ts";
import { limits } from "../../../schemas/limits.ts";
import { type WebhookDeliveryRecord, webhookFailures } from "../../../schemas/webhooks.ts";
import { onceDurable } from "../../durability/journal/durability-gate.ts";
import type { Realm } from "../../runtime/realm.ts";
import { DeliveryQueue } from "../delivery-queue.ts";
import type { WebhookDispatch, WebhookOutcome } from "./dispatch.ts";

/** The services that all realms share: a request with its outcome, and the log. */
type Dispatch = Pick<WebhookDispatch, "deliver" | "log" | "outcomes">;

const deadLine = 'An outgoing webhook could not be delivered and is a dead letter now: see "cli dead-letters list"';

export class WebhookRelay {
  readonly #realm: Realm;
  readonly #realmId: number;
  readonly #dispatch: Dispatch;
  /** By bot; idle queues are dropped. */
  readonly #queues = new Map<number, DeliveryQueue<WebhookDeliveryRecord>>();

  constructor(realm: Realm, realmId: number, dispatch: Dispatch) {
    this.#realm = realm;
    this.#realmId = realmId;
    this.#dispatch = dispatch;
    realm.dispatcher.observers.observe("webhookDeliveries", (deltas) => {
      const touched = new Set<number>();
      for (const { key, row } of deltas) {
        const [botId, id] = key as readonly [number, number];
        this.#queueOf(botId).noticed(id, row as WebhookDeliveryRecord | null);
        touched.add(botId);
      }
      for (const botId of touched) this.#handOver(botId);
    });
    for (let botId = this.#nextBot(0); botId !== null; botId = this.#nextBot(botId + 1)) this.#handOver(botId);
  }

  /** The first bot from an id on that has waiting deliveries. */
  #nextBot(start: number): number | null {
    const [key] = this.#realm.view.keys("webhookDeliveries", { start: [start], limit: 1 });
    return key?.[0] ?? null;
  }

  #queueOf(botId: number): DeliveryQueue<WebhookDeliveryRecord> {
    const { view } = this.#realm;
    let queue = this.#queues.get(botId);
    if (queue === undefined) {
      queue = new DeliveryQueue({
        now: () => view.now,
        read: (start, limit) =>
          view
            .rows("webhookDeliveries", { start: [botId, start], end: [botId + 1], limit })
            .map(({ row }) => ({ id: row.id, row })),
        waitingMax: limits.webhooks_per_bot_in_memory_max,
        concurrentMax: limits.webhook_deliveries_per_bot_concurrent_max,
        deliver: (id) => void this.#begin(botId, id),
      });
      this.#queues.set(botId, queue);
    }
    return queue;
  }

  #handOver(botId: number): void {
    const queue = this.#queueOf(botId);
    queue.handOver();
    if (queue.isIdle) this.#queues.delete(botId);
  }

  /** The realm stays open until the delivery has ended. */
  async #begin(botId: number, id: number): Promise<void> {
    if (!this.#realm.isClosed) await this.#realm.use.during(this.#deliver(botId, id));
  }

  async #deliver(botId: number, id: number): Promise<void> {
    const { view } = this.#realm;
    const row = view.row("webhookDeliveries", [botId, id]);
    if (row === undefined) {
      this.#queueOf(botId).noticed(id, null);
      return;
    }
    // If a turn changes or removes the row meanwhile, the queue is notified of that.
    const mayLeave = async () => {
      await onceDurable(this.#realm.gate);
      return view.row("webhookDeliveries", [botId, id])?.attempts === row.attempts;
    };
    this.#report(row, await this.#dispatch.deliver(view, row, mayLeave));
  }

  /** The change of the row, seen after its turn, makes room for the next delivery. */
  #report(row: WebhookDeliveryRecord, outcome: WebhookOutcome): void {
    if (outcome.kind === "interrupted") return;
    const { botId, id } = row;
    const to = { actor: "webhook", botId, id } as const;
    const { dispatcher } = this.#realm;
    if (outcome.kind === "answered") {
      this.#dispatch.outcomes?.add("delivered");
      dispatcher.send(command(to, "webhook.answered", { reply: outcome.reply }, null));
      return;
    }
    const { failure, status } = outcome;
    const attempts = row.attempts + 1;
    const fields = { realm: this.#realmId, bot: botId, message: row.messageId, attempts, failure, status };
    const isLast = attempts >= limits.webhook_attempts_max || webhookFailures[failure]?.isRetried === false;
    this.#dispatch.outcomes?.add(isLast ? "dead" : "retried");
    if (isLast) this.#dispatch.log.warn(fields, deadLine);
    else this.#dispatch.log.info(fields, "An outgoing webhook failed; it will be retried");
    dispatcher.send(command(to, "webhook.failed", { failure, status }, null));
  }
}

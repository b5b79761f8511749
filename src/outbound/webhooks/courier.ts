/**
 * Carries one realm's messages to the receivers of its outgoing webhook bots (spec 6): a lane for each bot, so that a slow receiver
 * delays its own bot alone. After a start it looks at what is there: a crash loses no message, at most it repeats one.
 */
import { command } from "../../../actors/commands.ts";
import { limits } from "../../../schemas/limits.ts";
import type { WebhookDeliveryRecord } from "../../../schemas/records.ts";
import { webhookFailures } from "../../../schemas/webhooks.ts";
import type { Realm } from "../../runtime/realm.ts";
import { Lane } from "../lane.ts";
import type { WebhookDispatch, WebhookOutcome } from "./dispatch.ts";

/** What it wants of what all couriers share: a request and its outcome, and the log. */
type Dispatch = Pick<WebhookDispatch, "deliver" | "log">;

const deadLine = 'an outgoing webhook could not be delivered: it is a dead letter now, see "cli dead-letters list"';

export class WebhookCourier {
  readonly #realm: Realm;
  readonly #realmId: number;
  readonly #dispatch: Dispatch;
  /** By bot; one that has nothing to do is forgotten. */
  readonly #lanes = new Map<number, Lane<WebhookDeliveryRecord>>();

  constructor(realm: Realm, realmId: number, dispatch: Dispatch) {
    this.#realm = realm;
    this.#realmId = realmId;
    this.#dispatch = dispatch;
    realm.dispatcher.observers.observe("webhookDeliveries", (deltas) => {
      const touched = new Set<number>();
      for (const { key, row } of deltas) {
        const [botId, id] = key as readonly [number, number];
        this.#laneOf(botId).noticed(id, row as WebhookDeliveryRecord | null);
        touched.add(botId);
      }
      for (const botId of touched) this.#handOver(botId);
    });
    for (let botId = this.#nextBot(0); botId !== null; botId = this.#nextBot(botId + 1)) this.#handOver(botId);
  }

  /** The first bot from an id on for which something waits. */
  #nextBot(start: number): number | null {
    const [key] = this.#realm.view.keys("webhookDeliveries", { start: [start], limit: 1 });
    return key?.[0] ?? null;
  }

  #laneOf(botId: number): Lane<WebhookDeliveryRecord> {
    const { view } = this.#realm;
    let lane = this.#lanes.get(botId);
    if (lane === undefined) {
      lane = new Lane({
        now: () => view.now,
        read: (start, limit) =>
          view
            .rows("webhookDeliveries", { start: [botId, start], end: [botId + 1], limit })
            .map(({ row }) => ({ id: row.id, row })),
        waitingMax: limits.webhooks_per_bot_in_memory_max,
        concurrentMax: limits.webhook_deliveries_per_bot_concurrent_max,
        carry: (id) => void this.#carry(botId, id),
      });
      this.#lanes.set(botId, lane);
    }
    return lane;
  }

  #handOver(botId: number): void {
    const lane = this.#laneOf(botId);
    lane.handOver();
    if (lane.isIdle) this.#lanes.delete(botId);
  }

  async #carry(botId: number, id: number): Promise<void> {
    const { view } = this.#realm;
    const row = view.row("webhookDeliveries", [botId, id]);
    if (row === undefined) this.#laneOf(botId).noticed(id, null);
    else this.#report(row, await this.#dispatch.deliver(view, row));
  }

  /** The row's change or end, seen after its turn, makes room for the next. */
  #report(row: WebhookDeliveryRecord, outcome: WebhookOutcome): void {
    if (outcome.kind === "interrupted") return;
    const { botId, id } = row;
    const to = { actor: "webhook", botId, id } as const;
    const { dispatcher } = this.#realm;
    if (outcome.kind === "answered") {
      dispatcher.tell(command(to, "webhook.answered", { reply: outcome.reply }, null));
      return;
    }
    const { failure, status } = outcome;
    const attempts = row.attempts + 1;
    const fields = { realm: this.#realmId, bot: botId, message: row.messageId, attempts, failure, status };
    const isLast = attempts >= limits.webhook_attempts_max || webhookFailures[failure]?.isRetried === false;
    if (isLast) this.#dispatch.log.warn(fields, deadLine);
    else this.#dispatch.log.info(fields, "an outgoing webhook failed: it is tried again");
    dispatcher.tell(command(to, "webhook.failed", { failure, status }, null));
  }
}

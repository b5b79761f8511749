/** Durable shapes of outgoing webhooks. The rules of `schemas/records.ts` hold. */

/** A message that an outgoing webhook bot is to be told of; what is sent is made when it is sent. */
export interface WebhookDeliveryRecord {
  readonly id: number;
  readonly botId: number;
  readonly messageId: number;
  /** What called the bot: one of `webhookTriggers`. */
  readonly trigger: string;
  readonly createdAt: number;
  /** Requests that failed. */
  readonly attempts: number;
  /** Not before this time. */
  readonly dueAt: number;
}

/** What the owner of a bot knows of its failures. */
export interface WebhookReportRecord {
  /** When the owner was told last. */
  readonly reportedAt: number;
  /** Failures since then. */
  readonly untold: number;
}

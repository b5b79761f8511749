/**
 * Redacts events for restricted guests: names and addresses of users that they may not know are replaced (S1). All
 * other users still share encodings. A guest's message event is shared with guests to whom the same users are unknown.
 */

import { canAccessAllUsers } from "../../../domain/permissions.ts";
import { redactor, renderedMentions } from "../../../domain/redaction.ts";
import { merged, type Plan, planFor } from "../../../domain/redaction-plan.ts";
import type { View } from "../../../domain/view.ts";
import { type WireEvent, wireSchemas } from "../../../schemas/events.ts";
import { hasTrait } from "../../../schemas/message-traits.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { eventKind } from "./event-bodies.ts";
import type { RecipientQueue } from "./recipient-queue.ts";

/** By type and op; null: the event shows no person. */
const plans = new Map(
  Object.entries(wireSchemas).flatMap(([type, schemas]) =>
    Object.entries(schemas).map(([op, forms]) => [`${type} ${op}`, merged(forms.map(planFor))] as const),
  ),
);

function planOf(event: WireEvent): Plan | null {
  const plan = plans.get(`${event.type} ${"op" in event ? event.op : ""}`);
  // An event that is in no catalogue is not sent unredacted.
  if (plan === undefined) throw new Error(`${event.type}: no such event is declared`);
  return plan;
}

/** The key of EventKind, for a viewer who may be a restricted guest. */
export function eventKey(view: View, record: EventRecord, viewer: UserRecord, queue: RecipientQueue): string | null {
  const key = eventKind(record.type).key(view, record, viewer, queue);
  if (key === null || canAccessAllUsers(view, viewer)) return key;
  return `${key}?${sharedWith(view, record, viewer, queue)}`;
}

export function buildEvents(
  view: View,
  record: EventRecord,
  viewer: UserRecord,
  queue: RecipientQueue,
): readonly WireEvent[] {
  const events = eventKind(record.type).build(view, record, viewer, queue);
  const hidden = redactor(view, viewer);
  return hidden === null ? events : events.map((event) => hidden.follow(event, planOf(event)));
}

/** Guests with the same key get the same bytes. Most kinds are rare or small, so the key is the guest's own. */
function sharedWith(view: View, record: EventRecord, viewer: UserRecord, queue: RecipientQueue): string {
  const row = record.type === "message" ? view.row("messages", record.body.message_id) : undefined;
  const isDirect = row === undefined || view.row("conversations", row.conversationId)?.channelId === null;
  if (row === undefined || isDirect || !queue.options.applyMarkdown) return `guest ${viewer.id}`;
  // Options of a poll may mention more users than its message.
  if (hasTrait(row.traits, "hasSubmessages")) return `guest ${viewer.id}`;
  const hidden = redactor(view, viewer);
  const people = new Set([row.senderId, ...renderedMentions(row.rendered)]);
  return [...people].filter((id) => hidden?.isHidden(id)).join(",");
}

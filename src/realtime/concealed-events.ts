/**
 * Events as restricted guests get them: without names and addresses of people whom they may not know (S1). Everybody else's
 * encodings are shared as before; a guest's message is shared with guests to whom the same people in it are strangers.
 */
import { hasTrait } from "../../schemas/message-traits.ts";
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { canAccessAllUsers } from "../domain/permissions.ts";
import { concealer, renderedMentions } from "../domain/unknown-people.ts";
import type { View } from "../domain/view.ts";
import type { EventKind } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

export function concealing(kind: EventKind): EventKind {
  return {
    key(view, record, viewer, queue) {
      const key = kind.key(view, record, viewer, queue);
      if (key === null || canAccessAllUsers(view, viewer)) return key;
      return `${key}?${sharedWith(view, record, viewer, queue)}`;
    },
    build(view, record, viewer, queue) {
      const bodies = kind.build(view, record, viewer, queue);
      return concealer(view, viewer)?.conceal(bodies) ?? bodies;
    },
  };
}

/** Guests with the same text may be shown the same bytes. Most kinds are rare or small: a text of one's own will do. */
function sharedWith(view: View, record: EventRecord, viewer: UserRecord, queue: LiveQueue): string {
  const row = record.type === "message" ? view.row("messages", record.body["message_id"] as number) : undefined;
  const isDirect = row === undefined || view.row("conversations", row.conversationId)?.channelId === null;
  if (row === undefined || isDirect || !queue.options.applyMarkdown) return `guest ${viewer.id}`;
  // Options of a poll may name more people than its message.
  if (hasTrait(row.traits, "hasSubmessages")) return `guest ${viewer.id}`;
  const hidden = concealer(view, viewer);
  const people = new Set([row.senderId, ...renderedMentions(row.rendered)]);
  return [...people].filter((id) => hidden?.isStranger(id)).join(",");
}

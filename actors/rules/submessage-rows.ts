/** Rows of submessages and of the widget that they form (public API: /submessage). */

import type { View } from "../../domain/view.ts";
import { widgetOf } from "../../domain/widgets.ts";
import type { MessageId, UserId } from "../../schemas/ids.ts";
import { parseJson } from "../../schemas/json.ts";
import { limits } from "../../schemas/limits.ts";
import type { SubmessageRecord, WidgetRecord } from "../../schemas/submessages.ts";
import { type Effect, effects } from "../protocol/effects.ts";

/** Adds a submessage and updates the widget's row. */
export function submessageRows(
  view: View,
  messageId: MessageId,
  widget: WidgetRecord | undefined,
  row: SubmessageRecord,
): readonly Effect[] {
  const before = widget ?? { widgetType: null, count: 0, characters: 0 };
  const id = view.counter("submessage") + 1;
  return [
    effects.setCounter("submessage", id),
    effects.put("submessages", [messageId, id], row),
    effects.put("widgets", messageId, {
      widgetType: before.widgetType ?? widgetTypeOf(row),
      count: before.count + 1,
      characters: before.characters + row.content.length,
    }),
  ];
}

function widgetTypeOf({ msgType, content }: SubmessageRecord): string | null {
  if (msgType !== "widget") return null;
  const type = (parseJson(content) as { readonly widget_type?: unknown } | null)?.widget_type;
  return typeof type === "string" ? type : "";
}

/** The rows of the widget that a new message creates; none if it is not a widget. */
export function widgetRows(
  view: View,
  message: { readonly id: number; readonly senderId: UserId; readonly content: string },
  given?: string,
) {
  const widget = given === undefined ? widgetOf(message.content) : null;
  if (given === undefined && widget === null) return [];
  const row = { senderId: message.senderId, msgType: "widget", content: given ?? JSON.stringify(widget) };
  return submessageRows(view, message.id, undefined, row);
}

/** Removes a deleted message's submessages and widget. */
export function submessagesOfDeleted(view: View, messageId: MessageId): Effect[] {
  const range = { start: [messageId], end: [messageId + 1], limit: limits.submessages_per_message_max };
  return [
    effects.remove("widgets", messageId),
    ...view.keys("submessages", range).map((key) => effects.remove("submessages", key)),
  ];
}

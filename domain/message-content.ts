/** Normalizes the text of a message or a draft (behaviour 5.1). */

import { type Refusal, refuse } from "../schemas/errors.ts";
import { limits } from "../schemas/limits.ts";
import type { ParsedContent } from "../schemas/parsed-content.ts";
import { userSetting } from "../schemas/user-settings.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { WebhookReply } from "../schemas/webhooks.ts";
import { parseContent } from "./markdown/render.ts";
import { codePoints, truncate } from "./text.ts";
import type { View } from "./view.ts";
import { choicesIn } from "./widgets.ts";

const truncationMark = "\n[message truncated]";

/** Removes trailing white space and truncates text that is too long. */
export function cutContent(raw: string): string {
  const content = raw.trimEnd();
  const isShort = content.length <= limits.message_code_points_max;
  if (isShort || codePoints(content) <= limits.message_code_points_max) return content;
  return truncate(content, limits.message_code_points_max - truncationMark.length) + truncationMark;
}

/** The content to store, or why it is rejected (behaviour 5.1). */
export function readContent(raw: string): string | Refusal {
  if (raw.includes("\0")) return refuse.badRequest("Message must not contain null bytes");
  return raw.trim() === "" ? refuse.badRequest("Message must not be empty") : cutContent(raw);
}

/**
 * Parses a message for its author: with the organization's linkifiers and the author's emoticon setting.
 * @param siteUrl the server's address as the author uses it: links into it become relative (behaviour 5.8); null if
 *   there is no request
 */
export function parseMessage(view: View, writer: UserRecord, content: string, siteUrl: string | null): ParsedContent {
  return parseContent(content, {
    linkifiers: view.linkifiers,
    translateEmoticons: userSetting(writer, "translate_emoticons"),
    ...(siteUrl === null ? {} : { realmUrl: siteUrl }),
  });
}

/** A webhook's reply as a message of its bot, ready to be posted; null if it cannot be a message. */
export function composeReply(
  view: View,
  writerId: number,
  reply: { readonly content: string; readonly widget: unknown },
): WebhookReply | null {
  const writer = view.users.get(writerId);
  const content = readContent(reply.content);
  const widget = reply.widget === null ? null : choicesIn(reply.widget);
  if (writer === undefined || typeof content !== "string" || (reply.widget !== null && widget === null)) return null;
  const parsed = parseMessage(view, writer, content, null);
  return widget === null ? { content, parsed } : { content, parsed, widget };
}

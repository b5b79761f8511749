/** What a text becomes when it is written as a message, or kept as one that is not sent yet (behaviour 5.1). */

import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { type ParsedContent, parseContent } from "./markdown/render.ts";
import { codePoints, truncate } from "./text.ts";
import type { View } from "./view.ts";

const truncationMark = "\n[message truncated]";

/** Trailing blanks go, what is too long is cut. */
export function cutContent(raw: string): string {
  const content = raw.trimEnd();
  const isShort = content.length <= limits.message_code_points_max;
  if (isShort || codePoints(content) <= limits.message_code_points_max) return content;
  return truncate(content, limits.message_code_points_max - truncationMark.length) + truncationMark;
}

/** What a message may be made of: the content as it is kept, or why it is none (behaviour 5.1). */
export function readContent(raw: string): string | Refusal {
  if (raw.includes("\0")) return refuse.badRequest("Message must not contain null bytes");
  return raw.trim() === "" ? refuse.badRequest("Message must not be empty") : cutContent(raw);
}

/**
 * Parses a message as its writer means it: with the organization's linkifiers and the writer's emoticons.
 * @param siteUrl how the writer calls this server: links into it become relative (behaviour 5.8); null: it was not called
 */
export function parseMessage(view: View, writer: UserRecord, content: string, siteUrl: string | null): ParsedContent {
  return parseContent(content, {
    linkifiers: view.linkifiers,
    translateEmoticons: userSetting(writer, "translate_emoticons"),
    ...(siteUrl === null ? {} : { realmUrl: siteUrl }),
  });
}

/** What a program that was asked wants somebody to say, ready to be posted; null: it can be no message. */
export function composeMessage(view: View, writerId: number, raw: string) {
  const writer = view.users.get(writerId);
  const content = readContent(raw);
  if (writer === undefined || typeof content !== "string") return null;
  return { content, parsed: parseMessage(view, writer, content, null) };
}

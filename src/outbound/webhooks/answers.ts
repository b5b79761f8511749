/** Reads a receiver's response (spec 6; behaviour 10): what its bot should post, or nothing. */
import { webhookInterfaces } from "../../../schemas/bots.ts";
import { parseJson } from "../../../schemas/json.ts";
import { Undeliverable } from "./undeliverable.ts";

/** Fields that may hold the reply; the first one present counts. */
const replyFields: Readonly<Record<number, readonly string[]>> = {
  // The first one is the legacy name.
  [webhookInterfaces.generic]: ["response_string", "content"],
  [webhookInterfaces.slack]: ["text"],
};

export interface Reply {
  readonly content: string;
  /** What the receiver wants to be added to the text; null: nothing. */
  readonly widget: unknown;
}

/**
 * Returns null if nothing should be posted.
 * @throws Undeliverable
 */
export function replyIn(text: string, interfaceType: number): Reply | null {
  const answer = parse(text);
  if (answer === "") return null;
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new Undeliverable("invalid-format");
  const fields = answer as Readonly<Record<string, unknown>>;
  if (fields["response_not_required"] === true) return null;
  const name = replyFields[interfaceType]?.find((one) => Object.hasOwn(fields, one));
  const reply = name === undefined ? null : fields[name];
  const content = typeof reply === "string" ? reply : reply === null ? "" : JSON.stringify(reply);
  if (content.trim() === "") return null;
  return { content, widget: interfaceType === webhookInterfaces.generic ? (fields["widget_content"] ?? null) : null };
}

function parse(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new Undeliverable("invalid-json");
  return value;
}

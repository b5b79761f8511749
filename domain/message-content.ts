/**
 * Normalizes the text of a message or a draft (behaviour 5.1).
 *
 * Polls and to-do lists: parses a message that starts with /poll or /todo, and checks what its readers may do with it
 * (public API: /submessage). Error texts are Zulip's.
 */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { parseJson } from "../schemas/json.ts";
import { limits } from "../schemas/limits.ts";
import type { ParsedContent } from "../schemas/parsed-content.ts";
import { userSetting } from "../schemas/user-settings.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { WebhookReply } from "../schemas/webhooks.ts";
import { parseContent } from "./markdown/render.ts";
import { codePoints, truncate } from "./text.ts";
import type { View } from "./view.ts";

/** The content of a widget's first submessage. */
interface WidgetContent {
  readonly widget_type: string;
  readonly extra_data: Readonly<Record<string, unknown>>;
}

const makers: Readonly<Record<string, (text: string) => WidgetContent["extra_data"]>> = {
  "/poll": (text) => {
    const { title, items } = readList(text);
    return { question: title, options: items };
  },
  "/todo": (text) => {
    const { title, items } = readList(text);
    return { task_list_title: title, tasks: items.map(taskOf) };
  },
};

/** Returns null if the message is not a widget. */
export function widgetOf(content: string): WidgetContent | null {
  if (!content.startsWith("/")) return null;
  const [command = ""] = content.split(/\s/, 1);
  const make = Object.hasOwn(makers, command) ? makers[command] : undefined;
  if (make === undefined) return null;
  return { widget_type: command.slice(1), extra_data: make(content.slice(command.length)) };
}

const isText = (value: unknown) => typeof value === "string";
const choiceFields = ["short_name", "long_name", "reply"] as const;

/**
 * The widget that a webhook's answer adds to its text (D281): choices, as JSON text or as an object, as the public server
 * takes them.
 * @returns the submessage's JSON text; null if it is not such a widget, or is too long
 */
function choicesIn(given: unknown): string | null {
  const { widget_type, extra_data } = fieldsIn(typeof given === "string" ? parseJson(given) : given);
  const { type, heading, choices } = fieldsIn(extra_data);
  if (widget_type !== "zform" || type !== "choices" || !isText(heading) || !Array.isArray(choices)) return null;
  const areChoices = choices.every((choice) => choiceFields.every((name) => isText(fieldsIn(choice)[name])));
  const text = JSON.stringify({ widget_type, extra_data });
  return areChoices && codePoints(text) <= limits.submessage_code_points_max ? text : null;
}

function fieldsIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The rest of the first line is the title, and every other non-empty line is an item. List markers are dropped. */
function readList(text: string): { readonly title: string; readonly items: readonly string[] } {
  const [first = "", ...rest] = text.split(/\r\n|[\n\r]/);
  const items = rest.map((line) => line.trim().replace(/^[-*]?\s*/, "")).filter((item) => item !== "");
  return { title: first.trim(), items };
}

/** A description follows the first colon. */
function taskOf(item: string): { readonly task: string; readonly desc: string } {
  const colon = item.indexOf(": ");
  if (colon < 0) return { task: item, desc: "" };
  return { task: item.slice(0, colon).trim(), desc: item.slice(colon + 2).trim() };
}

type Check = (name: string, value: unknown) => string | null;

const text: Check = (name, value) => (typeof value === "string" ? null : `${name} is not a string`);
const flag: Check = (name, value) => (typeof value === "boolean" ? null : `${name} is not a boolean`);

/** The highest number that clients give to options and tasks. */
const indexMax = 1000;

const index: Check = (name, value) => {
  if (!Number.isInteger(value)) return `${name} is not an integer`;
  if ((value as number) < 0) return `${name} is too small`;
  return (value as number) > indexMax ? `${name} is too large` : null;
};

const vote: Check = (name, value) => {
  if (!Number.isInteger(value)) return `${name} is not an integer`;
  return value === 1 || value === -1 ? null : `Invalid ${name}`;
};

interface Step {
  readonly fields: Readonly<Record<string, Check>>;
  /** Only the message's sender may do it; the text is the error for others. */
  readonly authorOnly?: string;
}

/** The allowed steps of each kind of widget. */
const steps: Readonly<Record<string, Readonly<Record<string, Step>>>> = {
  poll: {
    vote: { fields: { key: text, vote } },
    question: { fields: { question: text }, authorOnly: "You can't edit a question unless you are the author." },
    new_option: { fields: { option: text, idx: index } },
  },
  todo: {
    new_task: { fields: { key: index, task: text, desc: text, completed: flag } },
    strike: { fields: { key: text } },
    new_task_list_title: {
      fields: { title: text },
      authorOnly: "You can't edit the task list title unless you are the author.",
    },
  },
};

/** The fault of a user's step; null if there is none, or the kind of widget is unknown. */
export function stepFault(widgetType: string, data: unknown, isAuthor: boolean): string | null {
  const known = Object.hasOwn(steps, widgetType) ? steps[widgetType] : undefined;
  if (known === undefined) return null;
  const name = `${widgetType} data`;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return `${name} is not a dict`;
  const fields = data as Readonly<Record<string, unknown>>;
  if (!Object.hasOwn(fields, "type")) return `type key is missing from ${name}`;
  const { type } = fields;
  if (typeof type !== "string") return `${name}["type"] is not a string`;
  const step = Object.hasOwn(known, type) ? known[type] : undefined;
  if (step === undefined) return `Unknown type for ${name}: ${type}`;
  if (step.authorOnly !== undefined && !isAuthor) return step.authorOnly;
  return fieldsFault(name, fields, step.fields);
}

function fieldsFault(name: string, fields: Readonly<Record<string, unknown>>, checks: Step["fields"]): string | null {
  for (const [key, check] of Object.entries(checks)) {
    if (!Object.hasOwn(fields, key)) return `${key} key is missing from ${name}`;
    const fault = check(`${name}["${key}"]`, fields[key]);
    if (fault !== null) return fault;
  }
  const unexpected = Object.keys(fields).filter((key) => key !== "type" && !Object.hasOwn(checks, key));
  return unexpected.length === 0 ? null : `Unexpected arguments: ${unexpected.join(", ")}`;
}

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

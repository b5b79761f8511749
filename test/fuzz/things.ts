/**
 * What there is to talk about: things whose ids, names and places the answers told. An input says which thing it means (`{own
 * draft}`); the id takes its place when the request is written. Without this, whatever has to be made first is never got to the end of.
 */
import type { Input } from "./inputs.ts";

const things = [
  "queue",
  "draft",
  "snippet",
  "scheduled message",
  "reminder",
  "attachment",
  "file realm",
  "file",
  "emoji",
  "profile field",
  "invitation",
  "linkifier",
  "playground",
  "folders",
  "linkifiers",
  "bot",
  "group",
  "message",
  "poll",
  "reacted message",
  "muted person",
  "view",
] as const;
export type Thing = (typeof things)[number];

/** What stands in an input for the thing. */
export function own(thing: Thing): string {
  return `{own ${thing}}`;
}

/** As it stands in a path, a query or a form, and as it stands in other bodies. */
const encodedThing = /%7Bown%20((?:[a-z]|%20)+)%7D/g;
const plainThing = /\{own ([a-z ]+)\}/g;

/** @returns the input with what things are called now in the place of what it means */
export function filledIn(input: Input, say: (thing: string) => string): Input {
  const fill = (text: string) =>
    text
      .replace(encodedThing, (_all, thing: string) => encodeURIComponent(say(decodeURIComponent(thing))))
      .replace(plainThing, (_all, thing: string) => Buffer.from(say(thing)).toString("latin1"));
  return { ...input, target: fill(input.target), body: input.body === null ? null : fill(input.body) };
}

/** Which thing a parameter means, of one operation or of all. */
const meanings: Readonly<Record<string, Thing>> = {
  queue_id: "queue",
  draft_id: "draft",
  saved_snippet_id: "snippet",
  scheduled_message_id: "scheduled message",
  reminder_id: "reminder",
  attachment_id: "attachment",
  realm_id_str: "file realm",
  filename: "file",
  field_id: "profile field",
  filter_id: "linkifier",
  playground_id: "playground",
  bot_id: "bot",
  "revoke-email-invite invite_id": "invitation",
  "resend-email-invite invite_id": "invitation",
  "edit-invite-link invite_id": "invitation",
  "deactivate-custom-emoji emoji_name": "emoji",
  "patch-channel-folders order": "folders",
  ordered_linkifier_ids: "linkifiers",
  "deactivate-user-group user_group_id": "group",
  "update-user-group user_group_id": "group",
  "update-user-group-members user_group_id": "group",
  "update-user-group-subgroups user_group_id": "group",
  "delete-message message_id": "message",
  "add-submessage message_id": "poll",
  "report-message message_id": "message",
  "set-typing-status-for-message-edit message_id": "message",
  "update-message message_id": "message",
  "remove-reaction message_id": "reacted message",
  "unmute-user muted_user_id": "muted person",
  "remove-navigation-view fragment": "view",
};

/** @returns null: a parameter like any other */
export function thingOf(operationId: string, name: string): Thing | null {
  return meanings[`${operationId} ${name}`] ?? meanings[name] ?? null;
}

// biome-ignore lint/suspicious/noExplicitAny: a success, which was compared with its declaration
type Body = any;

type Told = readonly (readonly [thing: Thing, value: unknown])[];

/** The part of a request's path behind a folder of it, decoded. */
function placeIn(target: string, pattern: RegExp): string | undefined {
  const part = pattern.exec(target)?.[1];
  return part === undefined ? undefined : decodeURIComponent(part);
}

/** Another order of what there is. */
function turned(rows: readonly { readonly id: number }[]): string {
  return JSON.stringify(rows.map(({ id }) => id).reverse());
}

const lessons: Readonly<Record<string, (body: Body, target: string) => Told>> = {
  "create-drafts": ({ ids }) => [["draft", ids.at(-1)]],
  "create-saved-snippet": ({ saved_snippet_id }) => [["snippet", saved_snippet_id]],
  "create-scheduled-message": ({ scheduled_message_id }) => [["scheduled message", scheduled_message_id]],
  "create-message-reminder": ({ reminder_id }) => [["reminder", reminder_id]],
  "get-attachments": ({ attachments }) => [["attachment", attachments[0]?.id]],
  "upload-file": ({ url }) => {
    const [, realm, file] = /^\/user_uploads\/(\d+)\/(.+)$/.exec(url) ?? [];
    return [
      ["file realm", realm],
      ["file", file === undefined ? undefined : decodeURIComponent(file)],
    ];
  },
  "upload-custom-emoji": (_body, target) => [["emoji", placeIn(target, /^\/realm\/emoji\/([^?]+)/)]],
  "create-custom-profile-field": ({ id }) => [["profile field", id]],
  "get-invites": ({ invites }) => [
    ["invitation", invites.find((invite: { is_multiuse: boolean }) => !invite.is_multiuse)?.id],
  ],
  "add-linkifier": ({ id }) => [["linkifier", id]],
  "add-code-playground": ({ id }) => [["playground", id]],
  "get-channel-folders": ({ channel_folders }) => [["folders", turned(channel_folders)]],
  "get-linkifiers": ({ linkifiers }) => [["linkifiers", turned(linkifiers)]],
  "create-bot": ({ user_id }) => [["bot", user_id]],
  "create-user-group": ({ group_id }) => [["group", group_id]],
  "send-message": ({ id }) => [["message", id]],
  "add-reaction": (_body, target) => [["reacted message", placeIn(target, /^\/messages\/(\d+)\//)]],
  "mute-user": (_body, target) => [["muted person", placeIn(target, /\/muted_users\/(\d+)/)]],
  "get-navigation-views": ({ navigation_views }) => [["view", navigation_views.at(-1)?.fragment]],
};

/** The newest of each kind, of everybody and of each person: bounded by the people there are. */
export class Things {
  readonly #known = new Map<string, string>();

  set(userId: number, thing: Thing, value: string): void {
    this.#known.set(`${userId} ${thing}`, value);
    this.#known.set(thing, value);
  }

  /** After a success of somebody's. */
  learn(userId: number, input: Input, body: unknown): void {
    for (const [thing, value] of lessons[input.operationId]?.(body, input.target) ?? []) {
      if (value !== undefined && value !== null) this.set(userId, thing, String(value));
    }
  }

  /** One's own, or else anybody's, or else what may be nothing. */
  say(userId: number, thing: string): string {
    const others = thing === "queue" ? undefined : this.#known.get(thing);
    return this.#known.get(`${userId} ${thing}`) ?? others ?? "1";
  }
}

/**
 * Restricted guests (`can_access_all_users_group`): of people whom they may not know they are told an id, never a name or an
 * address (public API, "Unknown user"; D34). What is shown to them goes through here on its way out, whoever built it (S1).
 */
import type { UserRecord } from "../../schemas/records.ts";
import { canAccessUser, unknownName, unknownUserBody } from "./people.ts";
import { canAccessAllUsers } from "./permissions.ts";
import { isSpectator } from "./spectator.ts";
import type { View } from "./view.ts";

type Fields = Readonly<Record<string, unknown>>;

/** @returns null when the viewer may know everybody, so that nothing needs to be done: what it costs all others */
export function concealer(view: View, viewer: UserRecord): Concealer | null {
  return canAccessAllUsers(view, viewer) ? null : new Concealer(view, viewer);
}

/**
 * Texts of many messages as one reader is shown them, with the rights that they have now. What is searched and marked is what they
 * are shown, else a reader who guesses a name learns that it is right (S1). Who is a stranger is looked up once for as long as
 * nothing happens.
 */
export class ShownTexts {
  readonly #view: View;
  readonly #reader: UserRecord;
  #position = -1;
  #concealer: Concealer | null = null;

  constructor(view: View, reader: UserRecord) {
    this.#view = view;
    this.#reader = reader;
  }

  html({ rendered }: { readonly rendered: string }): string {
    return this.#current()?.rendered(rendered) ?? rendered;
  }

  /** Everything else that is told beside them. */
  conceal<T>(value: T): T {
    return this.#current()?.conceal(value) ?? value;
  }

  #current(): Concealer | null {
    if (isSpectator(this.#reader)) return null;
    if (this.#view.position !== this.#position) {
      this.#position = this.#view.position;
      this.#concealer = concealer(this.#view, this.#view.users.get(this.#reader.id) ?? this.#reader);
    }
    return this.#concealer;
  }
}

/** As the renderer writes it (domain/markdown/resolve.ts). */
const renderedMention = /(<span class="user-mention(?: silent)?" data-user-id="(\d+)">@?)[^<]*(?=<\/span>)/g;
/** As people write it: by name, by id, or by both. */
const typedMention = /(@_?\*\*)([^*|\n]*)(?:\|(\d+))?(?=\*\*)/g;

/** Texts as they were typed: in messages and what became of them, and where the organization describes what it has. */
const typedFields: ReadonlySet<string> = new Set([
  "raw_content",
  "prev_content",
  "orig_content",
  "description",
  "realm_description",
]);

/** Ids of people whom a text of rendered Markdown mentions. */
export function renderedMentions(html: string): number[] {
  return html.includes("data-user-id=") ? [...html.matchAll(renderedMention)].map((match) => Number(match[2])) : [];
}

/** Where a value stands: under which key of which object, and who wrote what is there. */
interface Place {
  readonly key: string;
  readonly owner: Fields;
  readonly authorId: number | null;
}

const nowhere: Place = { key: "", owner: {}, authorId: null };

export class Concealer {
  readonly #view: View;
  readonly #viewer: UserRecord;
  readonly #known = new Map<number, boolean>();

  constructor(view: View, viewer: UserRecord) {
    this.#view = view;
    this.#viewer = viewer;
  }

  /** Ids of nobody are no strangers. */
  isStranger(id: number): boolean {
    let isKnown = this.#known.get(id);
    if (isKnown === undefined) {
      const user = this.#view.users.get(id);
      isKnown = user === undefined || canAccessUser(this.#view, this.#viewer, user);
      this.#known.set(id, isKnown);
    }
    return !isKnown;
  }

  /** The same without names and addresses of strangers; what has none of them is the same object. */
  conceal<T>(value: T): T {
    // Nothing changes its type: texts stay texts, objects keep their keys.
    return this.#value(value, nowhere) as T;
  }

  #value(value: unknown, place: Place): unknown {
    if (typeof value === "string") return this.#text(value, place);
    if (Array.isArray(value)) return this.#list(value, place);
    return typeof value === "object" && value !== null ? this.#fields(value as Fields, place) : value;
  }

  #list(list: readonly unknown[], place: Place): readonly unknown[] {
    const shown = list.map((item) => this.#value(item, { ...place, key: "" }));
    return shown.some((item, index) => item !== list[index]) ? shown : list;
  }

  #fields(fields: Fields, place: Place): Fields {
    const authorId = authorOf(fields) ?? place.authorId;
    const shown: Record<string, unknown> = {};
    let isChanged = false;
    for (const [key, value] of Object.entries(fields)) {
      shown[key] = this.#value(value, { key, owner: fields, authorId });
      isChanged ||= shown[key] !== value;
    }
    const standIn = this.#standIn(fields);
    if (standIn === null) return isChanged ? shown : fields;
    for (const [key, value] of Object.entries(standIn)) if (key in shown) shown[key] = value;
    return shown;
  }

  /** What stands for the person of whom an object tells; null: it tells of nobody, or of somebody known. */
  #standIn(fields: Fields): Fields | null {
    if (typeof fields["sender_id"] === "number" && this.isStranger(fields["sender_id"])) {
      const { full_name, email, avatar_url } = unknownUserBody(fields["sender_id"]);
      return { sender_full_name: full_name, sender_email: email, avatar_url };
    }
    const id = typeof fields["email"] === "string" ? personIdOf(fields) : null;
    if (id === null || !this.isStranger(id)) return null;
    const { full_name, email, avatar_url } = unknownUserBody(id);
    return { full_name, email, avatar_url, delivery_email: null };
  }

  #text(text: string, { key, owner, authorId }: Place): string {
    const isTyped =
      typedFields.has(key) ||
      (key === "content" && isTypedMessage(owner)) ||
      (key === "value" && owner["property"] === "description");
    // What the viewer wrote is theirs: a name that came back as another would say that there is somebody of that name.
    const shown = isTyped && authorId !== this.#viewer.id && text.includes("**") ? this.typed(text) : text;
    return this.rendered(shown);
  }

  /** Rendered Markdown. */
  rendered(html: string): string {
    if (!html.includes("data-user-id=")) return html;
    return html.replace(renderedMention, (whole, start: string, id: string) =>
      this.isStranger(Number(id)) ? `${start}${unknownName}` : whole,
    );
  }

  /** A text as it was written. A name that somebody known has, too, is that person's. */
  typed(text: string): string {
    return text.replace(typedMention, (whole, start: string, name: string, id: string | undefined) => {
      if (id !== undefined) return this.isStranger(Number(id)) ? `${start}${unknownName}|${id}` : whole;
      const namesakes = [...this.#view.users.named(name)];
      const isStranger = namesakes.length > 0 && namesakes.every((namesake) => this.isStranger(namesake));
      return isStranger ? `${start}${unknownName}` : whole;
    });
  }
}

/** Who sent or changed the message that an object tells of, or that stands in it. */
function authorOf(fields: Fields): number | null {
  const message = fields["message"] as Fields | undefined;
  const editor = "content" in fields ? fields["user_id"] : null;
  const id = fields["sender_id"] ?? message?.["sender_id"] ?? editor;
  return typeof id === "number" ? id : null;
}

/** Accounts, recipients of messages and people in events are objects with an address. */
function personIdOf(fields: Fields): number | null {
  const id = fields["user_id"] ?? ("is_mirror_dummy" in fields ? fields["id"] : null);
  return typeof id === "number" ? id : null;
}

/** What is to be sent later is shown to nobody but who wrote it. */
function isKeptForWriter(fields: Fields): boolean {
  return "scheduled_message_id" in fields || "reminder_id" in fields;
}

/** A message as it was typed, a change of one, or a submessage. */
function isTypedMessage(fields: Fields): boolean {
  return (
    "msg_type" in fields ||
    fields["content_type"] === "text/x-markdown" ||
    ("rendered_content" in fields && !isKeptForWriter(fields))
  );
}

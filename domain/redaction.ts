/**
 * Redaction for restricted guests (`can_access_all_users_group`): of users that they may not know they see an id, never
 * a name or an address (public API, "Unknown user"; D34). Everything shown to them passes through here before it is
 * sent, whichever code built it (S1). The marks of the schemas say where users are (schemas/person-marks.ts).
 */
import type { UserRecord } from "../schemas/users.ts";
import { canAccessUser, unknownName, unknownUserBody } from "./people.ts";
import { canAccessAllUsers } from "./permissions.ts";
import type { Plan, RedactedMark } from "./redaction-plan.ts";
import { isSpectator } from "./spectator.ts";
import type { View } from "./view.ts";

type Fields = Readonly<Record<string, unknown>>;

/** @returns null if the viewer may know everyone, so that other viewers pay only for this check */
export function redactor(view: View, viewer: UserRecord): Redactor | null {
  return canAccessAllUsers(view, viewer) ? null : new Redactor(view, viewer);
}

/**
 * Texts of many messages as one reader sees them now. Searching and marking use the redacted text, or a reader could
 * confirm a guessed name (S1). The hidden users are looked up again only after an event.
 */
export class VisibleTexts {
  readonly #view: View;
  readonly #reader: UserRecord;
  #position = -1;
  #redactor: Redactor | null = null;

  constructor(view: View, reader: UserRecord) {
    this.#view = view;
    this.#reader = reader;
  }

  html({ rendered }: { readonly rendered: string }): string {
    return this.#current()?.rendered(rendered) ?? rendered;
  }

  /** Redacts a value that is shown with them, as its schema says (redaction-plan.ts). */
  follow<T>(value: T, plan: Plan | null): T {
    return this.#current()?.follow(value, plan) ?? value;
  }

  #current(): Redactor | null {
    if (isSpectator(this.#reader)) return null;
    const { position } = this.#view.untracked;
    if (position !== this.#position) {
      this.#position = position;
      this.#redactor = redactor(this.#view, this.#view.users.get(this.#reader.id) ?? this.#reader);
    }
    return this.#redactor;
  }
}

/** The renderer's markup (domain/markdown/resolve.ts). */
const renderedMention = /(<span class="user-mention(?: silent)?" data-user-id="(\d+)">@?)[^<]*(?=<\/span>)/g;
/** The source syntax: by name, by id, or by both. */
const typedMention = /(@_?\*\*)([^*|\n]*)(?:\|(\d+))?(?=\*\*)/g;

/** Ids of the users that rendered Markdown mentions. */
export function renderedMentions(html: string): number[] {
  return html.includes("data-user-id=") ? [...html.matchAll(renderedMention)].map((match) => Number(match[2])) : [];
}

/** The position of a planned value: its key, the object that contains it, and the objects around that. */
interface Frame {
  readonly owner: Fields;
  readonly outer: Frame | null;
}

export class Redactor {
  readonly #view: View;
  readonly #viewer: UserRecord;
  readonly #known = new Map<number, boolean>();

  constructor(view: View, viewer: UserRecord) {
    this.#view = view;
    this.#viewer = viewer;
  }

  /** An id without a user counts as known. */
  isHidden(id: number): boolean {
    let isKnown = this.#known.get(id);
    if (isKnown === undefined) {
      const user = this.#view.users.get(id);
      isKnown = user === undefined || canAccessUser(this.#view, this.#viewer, user);
      this.#known.set(id, isKnown);
    }
    return !isKnown;
  }

  /** The value without names and addresses of unknown users, whose places its schema says (redaction-plan.ts). */
  follow<T>(value: T, plan: Plan | null): T {
    // Types do not change: the plan replaces texts by texts.
    return (plan === null ? value : this.#planned(value, plan, null)) as T;
  }

  #planned(value: unknown, plan: Plan, frame: Frame | null): unknown {
    if (typeof value === "string" || value === null) {
      return plan.mark === null || frame === null ? value : this.#marked(value, plan.mark, frame);
    }
    if (Array.isArray(value)) return plan.items === null ? value : this.#plannedList(value, plan.items, frame);
    if (typeof value !== "object") return value;
    return this.#plannedFields(value as Fields, plan, frame);
  }

  #plannedList(list: readonly unknown[], plan: Plan, frame: Frame | null): readonly unknown[] {
    const shown = list.map((item) => this.#planned(item, plan, frame));
    return shown.some((item, index) => item !== list[index]) ? shown : list;
  }

  #plannedFields(fields: Fields, { fields: planned, values }: Plan, outer: Frame | null): Fields {
    const frame = { owner: fields, outer };
    const shown: Record<string, unknown> = {};
    for (const [key, plan] of planned) {
      if (!Object.hasOwn(fields, key)) continue;
      const value = this.#planned(fields[key], plan, frame);
      if (value !== fields[key]) shown[key] = value;
    }
    if (values !== null) {
      for (const [key, before] of Object.entries(fields)) {
        const value = this.#planned(before, values, frame);
        if (value !== before) shown[key] = value;
      }
    }
    return Object.keys(shown).length === 0 ? fields : { ...fields, ...shown };
  }

  #marked(value: string | null, mark: RedactedMark, frame: Frame): string | null {
    switch (mark.is) {
      case "typed": {
        if (value === null) return null;
        const isSource = mark.when === undefined || frame.owner[mark.when.field] === mark.when.equals;
        const authorId = mark.by === null ? null : valueAt(mark.by, frame);
        return isSource ? this.source(value, authorId) : this.rendered(value);
      }
      case "rendered":
        return value === null ? null : this.rendered(value);
      default: {
        const id = valueAt(mark.of, frame);
        return typeof id === "number" && this.isHidden(id) ? unknownUserBody(id)[mark.is] : value;
      }
    }
  }

  /**
   * Redacts Markdown source that somebody wrote. The viewer's own text is kept: a replaced name would reveal that a
   * user of that name exists.
   */
  source(text: string, authorId: unknown): string {
    return this.rendered(authorId !== this.#viewer.id && text.includes("**") ? this.typed(text) : text);
  }

  /** Redacts rendered Markdown. */
  rendered(html: string): string {
    if (!html.includes("data-user-id=")) return html;
    return html.replace(renderedMention, (whole, start: string, id: string) =>
      this.isHidden(Number(id)) ? `${start}${unknownName}` : whole,
    );
  }

  /** Redacts Markdown source. A name that a known user also has is left unchanged. */
  typed(text: string): string {
    return text.replace(typedMention, (whole, start: string, name: string, id: string | undefined) => {
      if (id !== undefined) return this.isHidden(Number(id)) ? `${start}${unknownName}|${id}` : whole;
      const namesakes = [...this.#view.users.named(name)];
      const isHidden = namesakes.length > 0 && namesakes.every((namesake) => this.isHidden(namesake));
      return isHidden ? `${start}${unknownName}` : whole;
    });
  }
}

/** The value at a path of schemas/person-marks.ts. */
function valueAt(path: string, frame: Frame): unknown {
  let from: Frame | null = frame;
  let name = path;
  while (name.startsWith("../")) {
    from = from?.outer ?? null;
    name = name.slice("../".length);
  }
  let value: unknown = from?.owner;
  for (const step of name.split("/")) {
    value = typeof value === "object" && value !== null ? (value as Fields)[step] : undefined;
  }
  return value;
}

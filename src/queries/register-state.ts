/**
 * The state returned by POST /register (behaviour 4.1): one section per event type, each a function of the view. A
 * client selects sections by `fetch_event_types`, else by `event_types`; by default it gets all.
 */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { MissingFeature, RegisterState, SectionName } from "../../schemas/register.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { longAnswers, passes } from "./passes.ts";
import type { JsonWriter, LongSection, LongSections, Sections, StateRequest } from "./state-section.ts";
import { unreadMessages } from "./unread.ts";

/** @param types null: all */
export function registerState(
  sections: Sections,
  view: View,
  user: UserRecord,
  types: readonly string[] | null,
  request: StateRequest,
): RegisterState {
  const state: RegisterState = {};
  for (const type of wantedSections(sections, types)) Object.assign(state, sections[type](view, user, request));
  return hasUnread(types) ? { ...state, unread_msgs: unreadMessages(view, user, request.allowsEmptyTopicName) } : state;
}

function wantedSections(sections: Sections, types: readonly string[] | null): SectionName[] {
  const wanted = types === null ? Object.keys(sections) : types;
  // A client that requests both uses the newer one (behaviour 4.3).
  const isOlder = (type: string) => type === "muted_topics" && types?.includes("user_topic") === true;
  return wanted.filter((type): type is SectionName => isSection(sections, type) && !isOlder(type));
}

function hasUnread(types: readonly string[] | null): boolean {
  return types === null || (types.includes("message") && types.includes("update_message_flags"));
}

function isSection(sections: Sections, type: string): type is SectionName {
  return Object.hasOwn(sections, type);
}

/** The parts of a state that a request wants. */
export interface StateChoice {
  readonly sections: Sections;
  readonly longSections: LongSections;
  /** null: all */
  readonly types: readonly string[] | null;
  readonly request: StateRequest;
}

/**
 * The state for a viewer who may see all users, in three steps: `prepare` encodes what readers share, in passes of the
 * event loop; `collect` fixes the content in one instant; `encode` makes it JSON, again in passes (S3). A turn between
 * two passes changes nothing of what was collected, because records are replaced and not modified. Between `enter` and
 * `leave` no other long answer is built.
 */
export class StateInPasses {
  readonly #view: View;
  readonly #choice: StateChoice;
  readonly #reader: string;
  readonly #long = new Map<SectionName, LongSection<SectionName>>();
  readonly #wanted: readonly SectionName[];
  #fields: Record<string, unknown> = {};

  constructor(view: View, user: UserRecord, choice: StateChoice) {
    this.#view = view;
    this.#choice = choice;
    this.#reader = `${view.realm.label}:${user.id}`;
    this.#wanted = [...new Set(wantedSections(choice.sections, choice.types))];
    for (const name of this.#wanted) {
      const begun = choice.longSections[name]?.(view, user, choice.request);
      // Each section collects its own fields.
      if (begun !== undefined) this.#long.set(name, begun as LongSection<SectionName>);
    }
  }

  async prepare(): Promise<void> {
    const turn = passes.enter(this.#reader);
    if (turn !== null) await turn;
    await this.#inPasses(this.#prepareAll());
  }

  *#prepareAll(): Iterable<number> {
    for (const section of this.#long.values()) yield* section.prepare?.() ?? [];
  }

  /** Resolves when no other long answer is being built. Call `leave` when this one is. */
  async enter(): Promise<void> {
    const admission = longAnswers.enter(this.#reader);
    if (admission !== null) await admission;
  }

  leave(): void {
    longAnswers.leave();
  }

  /** @param user the current record */
  collect(user: UserRecord): void {
    const { sections, types, request } = this.#choice;
    for (const name of this.#wanted) {
      const fields = this.#long.get(name)?.collect(user) ?? sections[name](this.#view, user, request);
      Object.assign(this.#fields, fields);
    }
    if (!hasUnread(types)) return;
    this.#fields["unread_msgs"] = unreadMessages(this.#view, user, request.allowsEmptyTopicName);
  }

  /** @param head further fields */
  async encode(head: object): Promise<readonly (string | Buffer)[]> {
    const parts: (string | Buffer)[] = [JSON.stringify(head).slice(1, -1)];
    // This pass has collected the state, which takes as long as encoding a part of it.
    await passes.next(this.#reader);
    await this.#inPasses(this.#encodeAll(parts));
    this.#fields = {};
    return parts;
  }

  *#encodeAll(parts: (string | Buffer)[]): Iterable<number> {
    for (const [name, value] of Object.entries(this.#fields)) {
      parts.push(`,"${name}":`);
      if (typeof value === "function") yield* (value as JsonWriter)(parts);
      else yield* write(value, parts);
    }
  }

  /** Does the steps in as many passes as they need. */
  async #inPasses(steps: Iterable<number>): Promise<void> {
    let characters = 0;
    for (const made of steps) {
      characters += made;
      if (characters < limits.state_characters_per_pass_max) continue;
      passes.leave(characters / limits.state_characters_per_pass_max);
      characters = 0;
      await passes.next(this.#reader);
    }
    passes.leave(characters / limits.state_characters_per_pass_max);
  }
}

/** A long list is written in steps. */
function* write(value: unknown, parts: (string | Buffer)[]): Iterable<number> {
  if (!Array.isArray(value) || value.length <= limits.state_items_per_step_max) {
    const json = JSON.stringify(value);
    parts.push(json);
    yield json.length;
    return;
  }
  for (let start = 0; start < value.length; start += limits.state_items_per_step_max) {
    const json = JSON.stringify(value.slice(start, start + limits.state_items_per_step_max)).slice(1, -1);
    parts.push(start === 0 ? `[${json}` : `,${json}`);
    yield json.length;
  }
  parts.push("]");
}

/** Features that the server does not have: clients that ask for them learn that they are empty. */
export const emptySections: Pick<Sections, MissingFeature> = {
  realm_billing: () => ({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_embedded_bots: () => ({ realm_embedded_bots: [] }),
  realm_incoming_webhook_bots: () => ({ realm_incoming_webhook_bots: [] }),
  default_stream_groups: () => ({ realm_default_stream_groups: [] }),
  giphy: () => ({ giphy_api_key: "" }),
  onboarding_steps: () => ({ onboarding_steps: [], navigation_tour_video_url: null }),
  push_device: () => ({ push_devices: {} }),
  realm_filters: () => ({ realm_filters: [] }),
  stop_words: () => ({ stop_words: [] }),
  video_calls: () => ({ has_zoom_token: false }),
};

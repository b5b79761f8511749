/**
 * Marks the fields of answers and events that say something about a person. Redaction for restricted guests (D34)
 * follows these marks and nothing else, so a text, an address or an id without one fails a test (test/tidy).
 *
 * Paths name the field with the user's id: `user_id` is in the same object, `../sender_id` in the object around it,
 * `message/sender_id` in an object or a list inside it.
 */

import { type TSchema, Type } from "typebox";
import type { UserId as PlainUserId } from "./ids.ts";

/** A field that shows one attribute of the user whose id is at the path. */
export interface AttributeMark {
  readonly is: "email" | "delivery_email" | "full_name" | "avatar_url";
  readonly of: string;
}

/** Condition on a field of the same object: the mark applies only if that field has this value. */
interface Condition {
  readonly field: string;
  readonly equals: string;
}

/** Markdown source, which can mention users by name. Its author sees it unchanged. */
export interface TypedMark {
  readonly is: "typed";
  /** Path of the author's id; null: the text has no author. */
  readonly by: string | null;
  readonly when?: Condition;
}

/** HTML of the renderer, which mentions users by id and name. */
export interface RenderedMark {
  readonly is: "rendered";
}

/** `id`: a user's id, which everybody may see. `none`: about no person, in spite of the field's name. */
export type PersonMark = AttributeMark | TypedMark | RenderedMark | "id" | "none";

export interface PersonMarked {
  readonly person?: PersonMark;
}

/** The schema with a mark. */
export function marked<T extends TSchema>(schema: T, person: PersonMark): T {
  return { ...schema, person };
}

const Text = Type.String();
const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** A user's id. */
export type UserId = PlainUserId;
export const UserId = marked(Whole, "id");
export const UserIds = Type.Array(UserId);
/** The id of something else than a user. */
export const OtherId = marked(Whole, "none");
export const OtherIds = Type.Array(OtherId);
/** A text that never names a person, or one that only the person sees who wrote it. */
export const OtherText = marked(Text, "none");
/** HTML that the renderer made. */
export const RenderedText = marked(Text, { is: "rendered" });

export const emailOf = (of: string) => marked(Text, { is: "email", of });
export const deliveryEmailOf = (of: string) => marked(TextOrNull, { is: "delivery_email", of });
export const fullNameOf = (of: string) => marked(Text, { is: "full_name", of });
/** null: the client computes a Gravatar address. */
export const avatarOf = (of: string) => marked(TextOrNull, { is: "avatar_url", of });
export const typedBy = (by: string | null, when?: Condition) =>
  marked(Text, { is: "typed", by, ...(when === undefined ? {} : { when }) });

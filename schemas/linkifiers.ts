/**
 * Linkifiers: patterns whose matches become links in messages and topics (public API: /realm/linkifiers,
 * /realm/filters).
 */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  linkifiers_max: 1000,
  linkifier_preview_code_points_max: 1000,
} as const;

/** Clients that cannot expand URL templates receive no linkifiers (capability `linkifier_url_template`). */
export const Linkifier = Type.Object(
  { id: OtherId, pattern: OtherText, url_template: OtherText },
  { title: "Linkifier" },
);

const draft = { pattern: Type.String(), url_template: Type.String() };

export const getLinkifiers = defineEndpoint({
  operationId: "get-linkifiers",
  method: "GET",
  path: "/realm/linkifiers",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the organization's linkifiers in the order in which they are tried.",
  params: {},
  ok: { linkifiers: Type.Array(Linkifier) },
  errors: [],
});

export const addLinkifier = defineEndpoint({
  operationId: "add-linkifier",
  method: "POST",
  path: "/realm/filters",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Adds a linkifier at the end of the order; organization administrators only.",
  params: draft,
  ok: { id: OtherId },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const updateLinkifier = defineEndpoint({
  operationId: "update-linkifier",
  method: "PATCH",
  path: "/realm/filters/{filter_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes a linkifier; existing messages keep their links.",
  params: { filter_id: Id, ...draft },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const removeLinkifier = defineEndpoint({
  operationId: "remove-linkifier",
  method: "DELETE",
  path: "/realm/filters/{filter_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes a linkifier; existing messages keep their links.",
  params: { filter_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const reorderLinkifiers = defineEndpoint({
  operationId: "reorder-linkifiers",
  method: "PATCH",
  path: "/realm/linkifiers",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Reorders the linkifiers; each one must be named once.",
  params: { ordered_linkifier_ids: Type.Array(Id, { maxItems: limits.linkifiers_max }) },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** Not part of the public API (D260). */
export const previewLinkifier = defineEndpoint({
  operationId: "preview-linkifier",
  method: "POST",
  path: "/realm/linkifiers/preview",
  authentication: "user",
  effectiveness: "read",
  role: "administrator",
  summary: "Returns the links that a linkifier would make in a text, without saving it.",
  params: { ...draft, text: Type.String({ maxLength: limits.linkifier_preview_code_points_max }) },
  ok: { links: Type.Array(Type.Object({ text: OtherText, url: OtherText })) },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** A pattern whose matches become links (public API: /realm/linkifiers). */
export interface LinkifierRecord {
  readonly id: number;
  /** Named groups are written `(?P<name>...)`. */
  readonly pattern: string;
  /** RFC 6570. */
  readonly urlTemplate: string;
  /** Ascending: lower values are tried first. */
  readonly order: number;
}

/** A linkifier as given in a request. */
export interface LinkifierInput {
  readonly pattern: string;
  readonly urlTemplate: string;
}

/** Parameters of its commands, by type. */
export interface LinkifiersCommands {
  "linkifier.remove": { readonly id: number };
  "linkifier.reorder": { readonly order: readonly number[] };
  "linkifier.add": LinkifierInput;
  "linkifier.update": LinkifierInput & { readonly id: number };
}

/** Their replies, by type; other commands reply without fields. */
export interface LinkifiersReplies {
  readonly "linkifier.add": ResultOf<typeof addLinkifier>;
}

export const linkifiersArea = defineArea({
  endpoints: [getLinkifiers, addLinkifier, updateLinkifier, removeLinkifier, reorderLinkifiers, previewLinkifier],
  commands: defineCommands<LinkifiersCommands, LinkifiersReplies>(),
  state: { realm_linkifiers: { realm_linkifiers: Type.Array(Linkifier) } },
  tables: {
    linkifiers: defineTable<number, LinkifierRecord>({
      fields: ["id", "pattern", "urlTemplate", "order"],
    }),
  },
  counters: ["linkifier"],
  limits,
});

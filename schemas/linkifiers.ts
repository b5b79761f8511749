/** Linkifiers: patterns that turn what they match into links, in messages and topics (public API: /realm/linkifiers, /realm/filters). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

/** A client that cannot expand URL templates is not shown linkifiers (capability `linkifier_url_template`). */
export const Linkifier = Type.Object({ id: Id, pattern: Type.String(), url_template: Type.String() });

const draft = { pattern: Type.String(), url_template: Type.String() };

export const getLinkifiers = defineEndpoint({
  operationId: "get-linkifiers",
  method: "GET",
  path: "/realm/linkifiers",
  authentication: "user",
  effectiveness: "read",
  summary: "The organization's linkifiers, in the order in which they are tried.",
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
  summary: "Adds a linkifier, the last one to be tried; organization administrators only.",
  params: draft,
  ok: { id: Id },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const updateLinkifier = defineEndpoint({
  operationId: "update-linkifier",
  method: "PATCH",
  path: "/realm/filters/{filter_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes a linkifier; messages that are written keep their links.",
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
  summary: "Removes a linkifier; messages that are written keep their links.",
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
  summary: "Puts the linkifiers into another order; every one must be named once.",
  params: { ordered_linkifier_ids: Type.Array(Id, { maxItems: limits.linkifiers_max }) },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

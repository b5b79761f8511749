/** Pictures of an organization: its icon, and its wide logos for light and dark themes (public API: /realm/icon, /realm/logo). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";

const icon = { path: "/realm/icon", authentication: "user" } as const;
const logo = { path: "/realm/logo", authentication: "user", params: { night: Type.Boolean() } } as const;
const upload = { bytesMax: limits.realm_picture_bytes_max } as const;

export const uploadRealmIcon = defineEndpoint({
  ...icon,
  operationId: "upload-realm-icon",
  method: "POST",
  effectiveness: "durable",
  role: "administrator",
  summary: "Sets the organization's icon: one file in a multipart body, decoded and re-encoded as a square.",
  upload,
  params: {},
  ok: { icon_url: Type.String() },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deleteRealmIcon = defineEndpoint({
  ...icon,
  operationId: "delete-realm-icon",
  method: "DELETE",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes the organization's icon; the one that the server makes is back.",
  params: {},
  ok: { icon_url: Type.String() },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getRealmIcon = defineEndpoint({
  ...icon,
  operationId: "get-realm-icon",
  method: "GET",
  effectiveness: "read",
  summary: "Redirects to the organization's icon.",
  params: {},
  ok: {},
  errors: [],
});

export const uploadRealmLogo = defineEndpoint({
  ...logo,
  operationId: "upload-realm-logo",
  method: "POST",
  effectiveness: "durable",
  role: "administrator",
  summary: "Sets the organization's logo for light themes, or for dark ones (`night`).",
  upload,
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deleteRealmLogo = defineEndpoint({
  ...logo,
  operationId: "delete-realm-logo",
  method: "DELETE",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes the organization's logo for light themes, or for dark ones (`night`).",
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getRealmLogo = defineEndpoint({
  ...logo,
  operationId: "get-realm-logo",
  method: "GET",
  effectiveness: "read",
  summary: "Redirects to the organization's logo for light themes, or for dark ones (`night`).",
  ok: {},
  errors: [],
});

/** Navigation views: what stands in the menu, built in or made by the person (spec 2.10, 4.17; public API). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { nullable } from "./types.ts";

/** Behaviour 2.17: these are there without a row; a row says whether one is pinned. */
export const builtInFragments: ReadonlySet<string> = new Set([
  "inbox",
  "recent",
  "feed",
  "drafts",
  "narrow/has/reaction/sender/me",
  "narrow/is/mentioned",
  "narrow/is/starred",
  "scheduled",
]);

export const NavigationView = Type.Object({
  fragment: Type.String(),
  is_pinned: Type.Boolean(),
  /** null for built-in views. */
  name: nullable(Type.String()),
});

export const getNavigationViews = defineEndpoint({
  operationId: "get-navigation-views",
  method: "GET",
  path: "/navigation_views",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's navigation views, in order of their fragments.",
  params: {},
  ok: { navigation_views: Type.Array(NavigationView) },
  errors: [],
});

export const addNavigationView = defineEndpoint({
  operationId: "add-navigation-view",
  method: "POST",
  path: "/navigation_views",
  authentication: "user",
  effectiveness: "durable",
  summary: "Makes a navigation view, or says whether a built-in one is pinned.",
  params: { fragment: Type.String(), is_pinned: Type.Boolean(), name: Type.Optional(Type.String()) },
  ok: {},
  errors: [],
});

export const editNavigationView = defineEndpoint({
  operationId: "edit-navigation-view",
  method: "PATCH",
  path: "/navigation_views/{fragment*}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes a navigation view (spec 4.17); the fragment may contain slashes.",
  params: {
    fragment: Type.String(),
    is_pinned: Type.Optional(Type.Boolean()),
    name: Type.Optional(Type.String()),
  },
  ok: {},
  errors: ["NOT_FOUND"],
});

export const removeNavigationView = defineEndpoint({
  operationId: "remove-navigation-view",
  method: "DELETE",
  path: "/navigation_views/{fragment*}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes a navigation view; a built-in one is then as it was at first.",
  params: { fragment: Type.String() },
  ok: {},
  errors: ["NOT_FOUND"],
});

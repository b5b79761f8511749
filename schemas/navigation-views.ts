/** Navigation views: entries of the client's menu, built-in or custom (spec 2.10, 4.17; public API). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { UserId } from "./ids.ts";
import { OtherText } from "./person-marks.ts";
import { nullable } from "./types.ts";

const limits = {
  navigation_view_fragment_bytes_max: 1200,
  navigation_view_name_code_points_max: 100,
  navigation_views_per_user_max: 1000,
} as const;

/** Behaviour 2.17: these views exist without a row. A row stores whether one is pinned. */
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

export const NavigationView = Type.Object(
  {
    fragment: OtherText,
    is_pinned: Type.Boolean(),
    /** null for built-in views. */
    name: nullable(OtherText),
  },
  { title: "NavigationView" },
);

export const getNavigationViews = defineEndpoint({
  operationId: "get-navigation-views",
  method: "GET",
  path: "/navigation_views",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's navigation views, ordered by fragment.",
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
  summary: "Creates a navigation view, or pins or unpins a built-in one.",
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
  summary: "Removes a navigation view; a built-in one returns to its default.",
  params: { fragment: Type.String() },
  ok: {},
  errors: ["NOT_FOUND"],
});

export interface NavigationViewRecord {
  readonly userId: UserId;
  readonly fragment: string;
  readonly isPinned: boolean;
  /** null for built-in views. */
  readonly name: string | null;
}

/** Parameters of its commands, by type. */
export interface NavigationViewsCommands {
  "navigation-views.add": {
    readonly fragment: string;
    readonly isPinned: boolean;
    /** null: not passed. */
    readonly name: string | null;
  };
  /** null: not passed, keeps its value. */
  "navigation-views.update": {
    readonly fragment: string;
    readonly isPinned: boolean | null;
    readonly name: string | null;
  };
  "navigation-views.remove": { readonly fragment: string };
}

const fragment = { fragment: OtherText };

export const navigationViewsArea = defineArea({
  endpoints: [getNavigationViews, addNavigationView, editNavigationView, removeNavigationView],
  commands: defineCommands<NavigationViewsCommands>(),
  state: { navigation_views: { navigation_views: Type.Array(NavigationView) } },
  tables: {
    /** By the SHA-256 of the fragment, which may exceed the key length. */
    navigationViews: defineTable<readonly [userId: UserId, fragmentHash: string], NavigationViewRecord>({
      fields: ["userId", "fragment", "isPinned", "name"],
    }),
  },
  events: {
    navigation_view: sentAsStored({
      add: { navigation_view: NavigationView },
      update: {
        ...fragment,
        data: Type.Object({
          is_pinned: Type.Optional(Type.Boolean()),
          name: Type.Optional(Type.Union([OtherText, Type.Null()])),
        }),
      },
      remove: fragment,
    }),
  },
  limits,
});

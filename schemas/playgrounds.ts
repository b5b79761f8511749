/**
 * Code playgrounds: websites that run code in a language (spec 2.10, 4.18; public API: add-code-playground,
 * remove-code-playground).
 */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  playground_name_code_points_max: 200,
  playgrounds_per_realm_max: 1000,
} as const;

export const Playground = Type.Object(
  {
    id: OtherId,
    name: OtherText,
    pygments_language: OtherText,
    url_template: OtherText,
  },
  { title: "Playground" },
);

export const addPlayground = defineEndpoint({
  operationId: "add-code-playground",
  method: "POST",
  path: "/realm/playgrounds",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Adds a code playground (spec 4.18); organization administrators only. `url_template` since level 196.",
  params: {
    name: Type.String({ maxLength: limits.playground_name_code_points_max }),
    /** Stored as given: clients compare it with the language of code blocks. */
    pygments_language: Type.String({ maxLength: commonLimits.code_language_code_points_max }),
    url_template: Type.String({ maxLength: commonLimits.url_code_points_max }),
  },
  ok: { id: OtherId },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const removePlayground = defineEndpoint({
  operationId: "remove-code-playground",
  method: "DELETE",
  path: "/realm/playgrounds/{playground_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes a code playground; organization administrators only.",
  params: { playground_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** A website where clients can open code in a language (spec 2.10, 4.18). */
export interface PlaygroundRecord {
  readonly id: number;
  readonly name: string;
  /** Lexer name, as given. */
  readonly language: string;
  /** RFC 6570, with one variable: `code`. */
  readonly urlTemplate: string;
}

/** A code playground as given in a request. */
export interface PlaygroundInput {
  readonly name: string;
  readonly language: string;
  readonly urlTemplate: string;
}

/** Parameters of its commands, by type. */
export interface PlaygroundsCommands {
  "playground.remove": { readonly id: number };
  "playground.add": PlaygroundInput;
}

/** Their replies, by type; other commands reply without fields. */
export interface PlaygroundsReplies {
  readonly "playground.add": ResultOf<typeof addPlayground>;
}

export const playgroundsArea = defineArea({
  endpoints: [addPlayground, removePlayground],
  commands: defineCommands<PlaygroundsCommands, PlaygroundsReplies>(),
  state: { realm_playgrounds: { realm_playgrounds: Type.Array(Playground) } },
  tables: {
    playgrounds: defineTable<number, PlaygroundRecord>({
      fields: ["id", "name", "language", "urlTemplate"],
    }),
  },
  counters: ["playground"],
  limits,
});

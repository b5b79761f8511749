/** Usage statistics for administrators (spec 4.7, new_user_input; D32); not part of the public API. */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  usage_days_kept: 30,
  usage_users_per_answer_max: 1000,
} as const;

export const getUsage = defineEndpoint({
  operationId: "get-usage",
  method: "GET",
  path: "/realm/usage",
  authentication: "user",
  effectiveness: "read",
  role: "administrator",
  summary: "Returns per user the number of presence reports with `new_user_input` on one day; administrators only.",
  params: {
    /** UTC; default: today. */
    date: Type.Optional(Type.String({ maxLength: 10 })),
    /** The last user id of the previous answer. */
    after_user_id: Type.Optional(Id),
  },
  ok: {
    date: OtherText,
    user_input: Type.Record(Type.String(), Type.Integer()),
    found_newest: Type.Boolean(),
  },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** Number of presence reports with new user input (D32). */
export interface UserInputRecord {
  readonly reports: number;
}

/** Parameters of its commands, by type. */
export interface UsageCommands {
  /** `day`: days since 1970-01-01 UTC. */
  "inputs.persist": {
    readonly counts: readonly { readonly day: number; readonly userId: number; readonly reports: number }[];
  };
}

export const usageArea = defineArea({
  endpoints: [getUsage],
  commands: defineCommands<UsageCommands>(),
  tables: {
    /** `day`: days since 1970-01-01 UTC. */
    userInputs: defineTable<readonly [day: number, userId: number], UserInputRecord>({
      fields: ["reports"],
    }),
  },
  limits,
});

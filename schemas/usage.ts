/** Usage statistics for administrators (spec 4.7, new_user_input; D32, D259); not part of the public API. */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { UserId } from "./ids.ts";
import { marked, OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  usage_days_kept: 30,
  usage_users_per_answer_max: 1000,
  /** Days of messages in the statistics. */
  statistics_days: 30,
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

const Count = Type.Integer({ minimum: 0 });

/** The organization's own figures (D259): nothing about the process, which other organizations share (S1). */
export const getRealmStatistics = defineEndpoint({
  operationId: "get-realm-statistics",
  method: "GET",
  path: "/realm/statistics",
  authentication: "user",
  effectiveness: "read",
  role: "administrator",
  summary: "Returns figures of the organization: people, activity, messages per day, uploads, queues and deliveries.",
  params: {},
  ok: {
    people: Type.Object({
      owners: Count,
      administrators: Count,
      moderators: Count,
      members: marked(Count, "none"),
      guests: Count,
      bots: Count,
      deactivated: Count,
    }),
    active_people: Type.Object({ day: Count, week: Count, month: Count }),
    channels: Type.Object({ active: Count, archived: Count }),
    messages: Type.Object({
      total: Count,
      days: Type.Array(Type.Object({ date: OtherText, messages: Count })),
    }),
    upload_bytes: Count,
    event_queues: Count,
    connected_queues: Count,
    waiting_deliveries: Type.Object({ emails: Count, webhooks: Count }),
    dead_letters: Count,
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
    readonly counts: readonly { readonly day: number; readonly userId: UserId; readonly reports: number }[];
  };
}

export const usageArea = defineArea({
  endpoints: [getUsage, getRealmStatistics],
  commands: defineCommands<UsageCommands>(),
  tables: {
    /** `day`: days since 1970-01-01 UTC. */
    userInputs: defineTable<readonly [day: number, userId: UserId], UserInputRecord>({
      fields: ["reports"],
    }),
  },
  limits,
});

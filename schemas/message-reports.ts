/** Reporting messages to moderators (public API: report-message). */
import { type Static, Type } from "typebox";
import { defineArea, defineCommands } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

const limits = {
  report_description_code_points_max: 1000,
  /** Excerpt of a reported message in the report to moderators. */
  report_quote_code_points_max: 8000,
} as const;

const ReportReason = Type.Enum(["spam", "harassment", "inappropriate", "norms", "other"], { wire: "text" });
export type ReportType = Static<typeof ReportReason>;

export const reportMessage = defineEndpoint({
  operationId: "report-message",
  method: "POST",
  path: "/messages/{message_id}/report",
  authentication: "user",
  effectiveness: "durable",
  summary: "Reports a message to the organization's moderators in their channel.",
  params: {
    message_id: Id,
    report_type: ReportReason,
    /** Required if the type is `other`. */
    description: Type.Optional(Type.String({ maxLength: limits.report_description_code_points_max })),
  },
  ok: {},
  errors: [],
});

/** Parameters of its commands, by type. */
export interface MessageReportsCommands {
  "message.report": { readonly reportType: ReportType; readonly description: string };
}

export const messageReportsArea = defineArea({
  endpoints: [reportMessage],
  commands: defineCommands<MessageReportsCommands>(),
  limits,
});

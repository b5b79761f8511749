/** Reporting messages to moderators (public API: report-message). */
import { type Static, Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

const ReportReason = Type.Enum(["spam", "harassment", "inappropriate", "norms", "other"], { wire: "text" });
export type ReportType = Static<typeof ReportReason>;

export const reportMessage = defineEndpoint({
  operationId: "report-message",
  method: "POST",
  path: "/messages/{message_id}/report",
  authentication: "user",
  effectiveness: "durable",
  summary: "Tells the organization's moderators of a message, in the channel that is set for it.",
  params: {
    message_id: Id,
    report_type: ReportReason,
    /** Required where the type is `other`. */
    description: Type.Optional(Type.String({ maxLength: limits.report_description_code_points_max })),
  },
  ok: {},
  errors: [],
});

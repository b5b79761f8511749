/** Reporting messages to moderators (public API: report-message). */
import { command } from "../../../actors/protocol/decision.ts";
import { reportMessage } from "../../../schemas/message-reports.ts";
import { bind, requireCaller } from "../calls.ts";

export const messageReportRoutes = [
  bind(reportMessage, (call) => {
    const { message_id: id, report_type: reportType, description = "" } = call.params;
    const report = { reportType, description: description.trim() };
    return call.realm.dispatcher.ask(
      command({ actor: "message", id }, "message.report", report, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

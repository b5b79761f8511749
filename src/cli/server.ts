/** CLI commands about the server as a whole. */
import type { Command as Program } from "commander";
import {
  describeSize,
  listRealmsOperation,
  sendTestMailOperation,
  statusOperation,
} from "../operate/admin/server-operations.ts";
import { addCommand } from "./commands.ts";
import { type OutputOptions, perform } from "./session.ts";

export function addServerCommands(program: Program): void {
  addCommand(program, "status")
    .description("how the server is: whether it runs, since when, and how much space is left")
    .action((options: OutputOptions) =>
      perform(statusOperation, {}, options, (status) => {
        const { server } = status;
        const running =
          server === null
            ? ["the server is stopped"]
            : [
                `the server runs as process ${server.pid} since ${server.startedAt}, at ${server.address}`,
                `${server.sockets} sockets, ${server.queues} event queues; ${describeSize(server.unflushedBytes)} not flushed, ${describeSize(server.checkpointLagBytes)} not in the stores yet`,
              ];
        return {
          lines: [
            ...running,
            `version ${status.program_version}, store version ${status.store_version}`,
            `${status.realms} organizations${server === null ? "" : `, ${status.open_realms} open`}`,
            `${describeSize(status.disk_free_bytes)} of ${describeSize(status.disk_bytes)} are free: changes are ${status.accepts_writes ? "accepted" : "rejected"}`,
          ],
        };
      }),
    );

  addCommand(program, "send-test-mail")
    .description(
      "send an email at once, with SMTP_URL and MAIL_FROM of the server, and say what the mail server answered",
    )
    .argument("<address>")
    .action((to: string, options: OutputOptions) =>
      perform(sendTestMailOperation, { to }, options, ({ taken_by: place }) => ({
        lines: [`the email was accepted: ${place}`],
      })),
    );

  addCommand(program, "list-realms")
    .description("one line for each organization: id, label, state, users, messages, name")
    .action((options: OutputOptions) =>
      perform(listRealmsOperation, {}, options, ({ realms }) => ({
        lines: realms.map(
          ({ id, label, isActive, users, messages, name }) =>
            `${id}  ${label === "" ? "(first)" : label}  ${isActive ? "active" : "deactivated"}  ${users} users  ${messages} messages  ${name}`,
        ),
      })),
    );
}

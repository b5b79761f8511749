/** Emails in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";

function mail(world: World): { readonly actor: "mail"; readonly id: number } {
  return { actor: "mail", id: world.id("mails") };
}

export const mailsCases = defineCases({
  draws: {
    "mail.sent": null,
    "mail.failed": null,
    "mail.due": (world) => command(mail(world), "mail.due", {}, null),
    "mail.abandon": null,
  },
});

/**
 * The user actor: everything that belongs to one user alone, such as API keys, event queues, settings, drafts and read
 * state. There are many commands because a user has many independent collections; they share an order, not states.
 *
 *    active --user.deactivate and others of the realm--> deactivated --user.reactivate, by the realm--> active
 *
 * The realm decides whether the account is active and writes it into the user's row (M7); the state follows the row. A
 * deactivated user's own commands are rejected, and what the server itself continues or expires still runs.
 */

import { refuse } from "../../schemas/errors.ts";
import { type CommandType, forServer, forUser, mayServerCall } from "../protocol/decision.ts";
import { decide, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { userAreas } from "./areas.ts";
import { forgetMissedMessages } from "./missed-messages.ts";
import { refuseStatus } from "./status.ts";

export type UserContext = Record<string, never>;

const on = decide<UserContext>(...userAreas);

/** Users only: what the server continues or expires still runs, for example the expiry of a queue. */
const ofUsers = userAreas.flatMap((decisions) =>
  Object.entries(decisions).flatMap(([type, decision]) => (mayServerCall(decision) ? [] : (type as CommandType))),
);

export const userMachine = setupMachine<UserContext>().createMachine({
  id: "user",
  context: {},
  initial: "active",
  meta: {
    elsewhere: [
      {
        from: "active",
        to: "deactivated",
        commands: ["user.deactivate", "user.deactivate-self", "bot.deactivate"],
        by: "the realm",
      },
      { from: "deactivated", to: "active", commands: ["user.reactivate"], by: "the realm" },
    ],
  },
  states: {
    active: { on },
    deactivated: {
      on: {
        ...on,
        ...reject(refuse.userDeactivated, ofUsers),
        ...decide<UserContext>({
          "status.update": forUser(refuseStatus),
          "missed-messages.due": forServer(forgetMissedMessages),
        }),
      },
    },
  },
  on: rejectUnhandled,
});
